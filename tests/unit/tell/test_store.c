#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "model/incident/incident.h"
#include "tell/store/store.h"
#include "tell/store/storelast.h"

static char dir[64];
static char note[256];
static struct fault fault;

static int make_dir(void **state)
{
	(void)state;
	TEXT_COPY(dir, "/tmp/vigil-store-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
	(void)state;
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			(void)unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	return rmdir(dir);
}

static struct store *open_ok(enum store_mode mode)
{
	struct store *s = NULL;
	fault.text[0] = '\0';
	int r = store_open(dir, mode, &s, note, &fault);
	if (r != 0)
		print_message("store_open: %d %s\n", r, fault.text);
	assert_int_equal(r, 0);
	return s;
}

static struct job job_of(const char *id, const char *name, int64_t started)
{
	struct job j = {.pid = 4711, .nproc = 2, .state = JOB_RUNNING, .started_unix_ms = started, .uid = UINT32_MAX};
	TEXT_COPY(j.id, id);
	TEXT_COPY(j.name, name);
	TEXT_COPY(j.command, "python3 train.py --lr 0.1");
	return j;
}

static int put_job(struct store *s, const char *id, const char *name, int64_t started)
{
	struct job j = job_of(id, name, started);
	return store_put_job(s, &j);
}

static int put_incident(struct store *s, const char *id, const char *job, uint32_t attempt, int64_t time_unix_ms,
			pid_t victim, const char *json)
{
	const struct store_incident i = {.id = id,
					 .job = job,
					 .kind = "crash",
					 .summary = "s",
					 .json = json,
					 .attempt = attempt,
					 .time_unix_ms = time_unix_ms,
					 .victim_pid = victim};
	return store_put_incident(s, &i);
}

static const char *in_dir(const char *name)
{
	static char path[256];
	TEXT_FORMAT(path, "%s/%s", dir, name);
	return path;
}

static int files_like(const char *prefix)
{
	int n = 0;
	DIR *d = opendir(dir);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
	closedir(d);
	return n;
}

static void a_job_comes_back_as_it_was_put(void **state)
{
	(void)state;
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	assert_string_equal(note, "");
	struct job j = job_of("j1", "digits", 1000), got;
	j.peak_bytes = UINT64_MAX; /* more than the file can hold: capped */
	j.has_exit = true;
	j.exit_status = 137;
	j.supervisor_start_ticks = 99;
	TEXT_COPY(j.cgroup, "user.slice/vigil-j1.scope");
	assert_int_equal(store_put_job(s, &j), 0);
	assert_int_equal(store_find_job(s, "j1", &got), 0);
	assert_string_equal(got.command, j.command);
	assert_string_equal(got.cgroup, j.cgroup);
	assert_int_equal(got.uid, UINT32_MAX);
	assert_true(got.peak_bytes == INT64_MAX);
	assert_true(got.has_exit);
	assert_int_equal(got.exit_status, 137);
	assert_int_equal(got.state, JOB_RUNNING);
	assert_int_equal(got.supervisor_start_ticks, 99);
	j.has_exit = false;
	j.state = JOB_WAITING;
	assert_int_equal(store_put_job(s, &j), 0);
	assert_int_equal(store_find_job(s, "j1", &got), 0);
	assert_false(got.has_exit);
	assert_int_equal(got.state, JOB_WAITING);
}

static int collect_ids(void *ctx, const struct job *j)
{
	struct buf *b = ctx;
	buf_printf(b, "%s ", j->id);
	return 0;
}

static int stop_at_once(void *ctx, const struct job *j)
{
	(void)j;
	++*(int *)ctx;
	return 1;
}

static void jobs_are_found_by_id_by_name_and_as_last(void **state)
{
	(void)state;
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	struct job got;
	assert_int_equal(store_find_job(s, "last", &got), STORE_NONE);
	assert_int_equal(put_job(s, "a", "train", 3000), 0);
	assert_int_equal(put_job(s, "b", "train", 5000), 0);
	assert_int_equal(put_job(s, "c", "eval", 4000), 0);
	assert_int_equal(put_job(s, "a", "train", 3000), 0); /* again: not newer by that */
	assert_int_equal(store_find_job(s, "train", &got), 0);
	assert_string_equal(got.id, "b");
	assert_int_equal(store_find_job(s, "last", &got), 0);
	assert_string_equal(got.id, "b");
	assert_int_equal(store_find_job(s, "a", &got), 0);
	assert_string_equal(got.id, "a");
	assert_int_equal(store_find_job(s, "nobody", &got), STORE_NONE);
	assert_int_equal(put_job(s, "of the year 2100", "clock", 4102444800000), 0);
	assert_int_equal(store_find_job(s, "last", &got), 0);
	assert_string_equal(got.id, "b");
	assert_int_equal(store_find_job(s, "clock", &got), 0);
	assert_int_equal(store_forget_job(s, got.id), 0);
	char text[64];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	assert_int_equal(store_each_job(s, 0, collect_ids, &b), 0);
	assert_string_equal(text, "b c a ");
	buf_reset(&b);
	assert_int_equal(store_each_job(s, 2, collect_ids, &b), 0);
	assert_string_equal(text, "b c ");
	int seen = 0;
	assert_int_equal(store_each_job(s, 0, stop_at_once, &seen), STORE_STOPPED);
	assert_int_equal(seen, 1);
}

static int collect_tally(void *ctx, const char *key, const char *value)
{
	struct buf *b = ctx;
	buf_printf(b, "%s=%s\n", key, value);
	return 0;
}

static void tallies(struct store *s, struct buf *b)
{
	buf_reset(b);
	assert_int_equal(store_each_tally(s, collect_tally, b), 0);
}

static void put_killed(struct store *s, const char *id, const char *json, int64_t time_unix_ms)
{
	const struct store_incident i = {
		.id = id, .job = "a", .kind = "memory_kill", .summary = "", .json = json, .time_unix_ms = time_unix_ms};
	assert_int_equal(store_put_incident(s, &i), 0);
}

static void what_is_counted_survives_its_jobs(void **state)
{
	(void)state;
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	struct job j = {.id = "a", .name = "t\xff", .state = JOB_FAILED, .ended_unix_ms = 9};
	char before[1000], after[1000];
	struct buf b = BUF_ON(before), c = BUF_ON(after);
	assert_int_equal(store_put_job(s, &j), 0);
	put_killed(s, "a.1", "{\"killer\":\"vigil\",\"policy\":{\"name\":\"large\"},\"retry\":{\"next\":\"retry\"},"
		   "\"cause\":{\"id\":\"c\"}}",
		   5);
	put_killed(s, "a.2", "{\"killer\":\"vigil\",\"policy\":{\"name\":\"large\"},\"retry\":{\"next\":\"retry\"},"
		   "\"cause\":{\"id\":\"c\"}}",
		   7);
	put_killed(s, "a.3", "no JSON at all", 8);
	tallies(s, &b);
	assert_string_equal(before,
			    "[\"incident\",\"memory_kill\","
			    "[\"vigil\",\"large\",\"retry\",\"c\"],\"74FF\"]=[2,7,\"a.2\"]\n"
			    "[\"incident\",\"memory_kill\",[null,null,null,null],\"74FF\"]=[1,8,\"a.3\"]\n"
			    "[\"ended\",\"failed\"]=[1,9,\"\"]\n");
	assert_int_equal(store_forget_job(s, "a"), 0);
	assert_int_equal(store_forget_job(s, "a"), 0); /* nothing is counted twice */
	tallies(s, &c);
	assert_string_equal(after,
			    "[\"ended\",\"failed\"]=[1,0,\"\"]\n"
			    "[\"incident\",\"memory_kill\",[\"vigil\",\"large\",\"retry\",\"c\"],\"74FF\"]=[2,0,\"\"]\n"
			    "[\"incident\",\"memory_kill\",[null,null,null,null],\"74FF\"]=[1,0,\"\"]\n");
	assert_int_equal(store_put_job(s, &j), 0); /* another job of the same name */
	put_killed(s, "a.1", "{\"killer\":\"vigil\",\"policy\":{\"name\":\"large\"},\"retry\":{\"next\":\"retry\"},"
		   "\"cause\":{\"id\":\"c\"}}",
		   11);
	tallies(s, &c);
	assert_non_null(strstr(after, "\"74FF\"]=[3,11,\"a.1\"]"));
	assert_int_equal(store_forget_job(s, "a"), 0);
	tallies(s, &c);
	assert_non_null(strstr(after, "[\"vigil\",\"large\",\"retry\",\"c\"],\"74FF\"]=[3,0,\"\"]"));
	assert_non_null(strstr(after, "[\"ended\",\"failed\"]=[2,0,\"\"]"));
}

static int collect_processes(void *ctx, const struct job_process *p)
{
	struct buf *b = ctx;
	buf_printf(b, "%d/%d/%d%s ", (int)p->attempt, (int)p->pid, p->rank, p->has_status ? "!" : "");
	return 0;
}

static void processes_are_told_apart_by_their_start(void **state)
{
	(void)state;
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	struct job_process p = {.job = "a", .pid = 7, .start_ticks = 100, .rank = NO_RANK, .name = "python3"};
	assert_int_equal(store_put_process(s, &p), 0);
	p.has_status = true;
	p.wait_status = 9;
	assert_int_equal(store_put_process(s, &p), 0); /* the same one, now ended */
	p.start_ticks = 200;
	p.has_status = false;
	p.attempt = 1;
	p.rank = 0;
	assert_int_equal(store_put_process(s, &p), 0); /* the pid again, another process */
	char text[128];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	assert_int_equal(store_each_process(s, "a", collect_processes, &b), 0);
	assert_string_equal(text, "0/7/-1! 1/7/0 ");
	struct job got;
	assert_int_equal(store_find_job_of_pid(s, 7, &got), STORE_NONE); /* its job was never put */
	assert_int_equal(put_job(s, "a", "x", 1), 0);
	assert_int_equal(store_find_job_of_pid(s, 7, &got), 0);
	assert_string_equal(got.id, "a");
}

static int collect_events(void *ctx, const struct job_event *e)
{
	struct buf *b = ctx;
	buf_printf(b, "%s:%s ", e->job, e->text);
	return 0;
}

static void events_are_numbered_and_read_on_from_any_number(void **state)
{
	(void)state;
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	struct job_event e = {.time_unix_ms = 5, .job = "a", .kind = "job_start", .text = "1"};
	uint64_t first, second;
	assert_int_equal(store_add_event(s, &e, &first), 0);
	TEXT_COPY(e.text, "2");
	assert_int_equal(store_add_event(s, &e, &second), 0);
	assert_true(second > first);
	TEXT_COPY(e.job, "b");
	assert_int_equal(store_add_event(s, &e, NULL), 0);
	char text[64];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	assert_int_equal(store_each_event(s, NULL, 0, collect_events, &b), 0);
	assert_string_equal(text, "a:1 a:2 b:2 ");
	buf_reset(&b);
	assert_int_equal(store_each_event(s, "a", first, collect_events, &b), 0);
	assert_string_equal(text, "a:2 ");
}

static void the_last_event_is_found_of_all_and_of_one_job(void **state)
{
	(void)state;
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	struct job_event e = {.time_unix_ms = 5, .job = "a", .kind = "suspect"}, last;
	assert_int_equal(store_last_event(s, NULL, &last), STORE_NONE);
	for (int i = 0; i < 40; i++) {
		TEXT_FORMAT(e.text, "%d", i);
		TEXT_COPY(e.job, i < 7 ? "a" : "b");
		assert_int_equal(store_add_event(s, &e, NULL), 0);
		assert_int_equal(store_last_event(s, NULL, &last), 0);
		assert_string_equal(last.text, e.text);
	}
	assert_int_equal(store_last_event(s, "a", &last), 0);
	assert_string_equal(last.text, "6");
	assert_int_equal(store_last_event(s, "none", &last), STORE_NONE);
	assert_int_equal(store_forget_job(s, "b"), 0);
	assert_int_equal(store_last_event(s, NULL, &last), 0);
	assert_string_equal(last.text, "6");
}

static void expect_incident(struct store *s, const char *what, const char *json)
{
	cleanup(freep) char *got = NULL;
	assert_int_equal(store_find_incident(s, what, &got), 0);
	assert_string_equal(got, json);
}

static int ids_join(void *ctx, const char *id, const char *json)
{
	struct buf *ids = ctx;
	(void)json;
	buf_printf(ids, "%s ", id);
	return 0;
}

static void of_kills_for_memory_the_newest_are_read(void **state)
{
	(void)state;
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	char text[512], id[16];
	struct buf ids = BUF_ON(text);
	for (int i = 0; i <= STORE_MEMORY_KILLS; i++) {
		TEXT_FORMAT(id, "k%d", i);
		const struct store_incident kill = {.id = id,
						    .job = "job-1",
						    .kind = i % 2 ? "memory_kill" : "cgroup_oom",
						    .summary = "s",
						    .json = "{}",
						    .time_unix_ms = 10 + i};
		assert_int_equal(store_put_incident(s, &kill), 0);
		TEXT_FORMAT(id, "c%d", i);
		assert_int_equal(put_incident(s, id, "job-1", 0, 10 + i, 50, "{}"), 0);
	}
	assert_int_equal(store_each_memory_kill(s, "job-1", ids_join, &ids), 0);
	assert_memory_equal(text, "k1 k2 k3 ", strlen("k1 k2 k3 "));
}

static void incidents_are_found_by_id_job_name_pid_and_as_last(void **state)
{
	(void)state;
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	char *none = NULL;
	assert_int_equal(store_find_incident(s, "last", &none), STORE_NONE);
	assert_int_equal(put_job(s, "job-1", "train", 1), 0);
	assert_int_equal(put_job(s, "job-2", "train", 2), 0);
	assert_int_equal(put_incident(s, "i1", "job-1", 0, 10, 50, "{1}"), 0);
	assert_int_equal(put_incident(s, "i2", "job-1", 1, 30, 51, "{2}"), 0);
	assert_int_equal(put_incident(s, "i3", "job-2", 0, 20, 50, "{3}"), 0);
	expect_incident(s, "i1", "{1}");
	expect_incident(s, "job-1", "{2}");
	expect_incident(s, "train", "{3}");
	expect_incident(s, "50", "{3}");
	expect_incident(s, "51", "{2}");
	expect_incident(s, "last", "{2}");
	assert_int_equal(put_incident(s, "i2", "job-1", 1, 30, 51, "{2, with timing}"), 0);
	expect_incident(s, "i2", "{2, with timing}");
	uint32_t n;
	assert_int_equal(store_count_incidents(s, "job-1", &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(store_find_incident(s, "99999999999999999999", &none), STORE_NONE);
}

static int collect_notes(void *ctx, const char *key, const char *value)
{
	buf_printf(ctx, "%s=%s ", key, value);
	return 0;
}

static void notes_are_kept_replaced_and_dropped(void **state)
{
	(void)state;
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	char text[64];
	assert_int_equal(store_get_note(s, "a", "k", text, sizeof(text)), STORE_NONE);
	assert_int_equal(store_put_note(s, "a", "k", "1"), 0);
	assert_int_equal(store_put_note(s, "a", "k", "2"), 0);
	assert_int_equal(store_put_note(s, "a", "j", "3"), 0);
	assert_int_equal(store_put_note(s, "b", "k", "4"), 0);
	assert_int_equal(store_get_note(s, "a", "k", text, sizeof(text)), 0);
	assert_string_equal(text, "2");
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	assert_int_equal(store_each_note(s, "a", collect_notes, &b), 0);
	assert_string_equal(text, "j=3 k=2 ");
	assert_int_equal(store_drop_note(s, "a", "k"), 0);
	assert_int_equal(store_get_note(s, "a", "k", text, sizeof(text)), STORE_NONE);
}

static void a_reader_sees_what_a_writer_that_is_still_open_wrote(void **state)
{
	(void)state;
	struct store *none = NULL;
	assert_int_equal(store_open(dir, STORE_READ, &none, note, &fault), STORE_NONE);
	assert_non_null(strstr(fault.text, dir));
	assert_int_equal(store_open("/tmp/vigil-no-such-directory", STORE_READ, &none, note, &fault), STORE_NONE);
	cleanup(store_closep) struct store *w = open_ok(STORE_WRITE);
	cleanup(store_closep) struct store *r = open_ok(STORE_READ);
	struct job got;
	assert_int_equal(put_job(w, "a", "x", 1), 0);
	assert_int_equal(store_find_job(r, "a", &got), 0);
	assert_int_equal(put_job(r, "b", "x", 1), -EROFS);
}

static void two_writers_at_once_lose_nothing(void **state)
{
	(void)state;
	enum { WRITERS = 4, EACH = 100 };
	pid_t pid[WRITERS];
	for (int w = 0; w < WRITERS; w++) {
		pid[w] = fork();
		if (pid[w] != 0)
			continue;
		struct store *s = NULL; /* each creates or opens by itself, at the same time */
		struct job_event e = {.time_unix_ms = w, .job = "a", .kind = "x", .text = "y"};
		int r = store_open(dir, STORE_WRITE, &s, note, &fault);
		for (int i = 0; i < EACH && r == 0; i++)
			r = store_add_event(s, &e, NULL);
		s = r == 0 ? store_close(s) : s;
		_exit(r == 0 ? 0 : 1);
	}
	for (int w = 0; w < WRITERS; w++) {
		int status;
		assert_int_equal(waitpid(pid[w], &status, 0), pid[w]);
		assert_int_equal(status, 0);
	}
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	assert_int_equal(files_like("vigil.db.damaged"), 0);
	char text[EACH * WRITERS * 4 + 8];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	assert_int_equal(store_each_event(s, NULL, 0, collect_events, &b), 0);
	assert_int_equal(b.len, EACH * WRITERS * 4);
}

static void overwrite(const char *name, off_t at, const char *bytes, size_t n)
{
	int fd = open(in_dir(name), O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, n, at), (ssize_t)n);
	close(fd);
}

/* A store with everything in the main file, as after a checkpoint. */
static void fill_and_settle(void)
{
	struct store *s = open_ok(STORE_WRITE);
	for (int i = 0; i < 300; i++) {
		char id[16];
		TEXT_FORMAT(id, "job-%03d", i);
		assert_int_equal(put_job(s, id, "train", i), 0);
	}
	s = store_close(s);
	assert_int_equal(access(in_dir("vigil.db-wal"), F_OK), 0);
	char command[128];
	TEXT_FORMAT(command, "%s/vigil.db", dir);
	pid_t p = fork();
	if (p == 0) {
		execlp("sqlite3", "sqlite3", command, "PRAGMA wal_checkpoint(TRUNCATE)", (char *)NULL);
		_exit(127);
	}
	int status;
	assert_int_equal(waitpid(p, &status, 0), p);
	assert_int_equal(status, 0);
}

static void expect_new_store_that_works(void)
{
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	struct job got;
	assert_non_null(strstr(note, "damaged"));
	assert_true(files_like("vigil.db.damaged-") >= 1);
	assert_int_equal(store_find_job(s, "last", &got), STORE_NONE);
	assert_int_equal(put_job(s, "new", "n", 1), 0);
	assert_int_equal(store_find_job(s, "new", &got), 0);
}

static void garbage_instead_of_a_store_is_moved_aside(void **state)
{
	(void)state;
	overwrite("vigil.db", 0, "this is not a database, and it is long enough to be looked at as one ....", 70);
	struct store *s = NULL;
	assert_int_equal(store_open(dir, STORE_READ, &s, note, &fault), -EBADMSG);
	assert_non_null(strstr(fault.text, "damaged"));
	assert_int_equal(files_like("vigil.db.damaged-"), 0); /* a reader moves nothing */
	expect_new_store_that_works();
}

static void a_store_of_another_program_is_moved_aside(void **state)
{
	(void)state;
	pid_t p = fork();
	if (p == 0) {
		execlp("sqlite3", "sqlite3", in_dir("vigil.db"), "CREATE TABLE job(id)", (char *)NULL);
		_exit(127);
	}
	int status;
	assert_int_equal(waitpid(p, &status, 0), p);
	assert_int_equal(status, 0);
	expect_new_store_that_works();
}

static void a_truncated_store_is_moved_aside(void **state)
{
	(void)state;
	fill_and_settle();
	assert_int_equal(truncate(in_dir("vigil.db"), 4096), 0);
	struct store *s = NULL;
	int r = store_open(dir, STORE_WRITE, &s, note, &fault);
	assert_int_equal(r, 0);
	assert_int_equal(put_job(s, "new", "n", 1), 0);
	struct job got;
	assert_int_equal(store_find_job(s, "new", &got), 0);
	(void)store_take_note(s, note);
	s = store_close(s);
	assert_non_null(strstr(note, "damaged"));
	assert_true(files_like("vigil.db.damaged-") >= 1);
}

static void a_log_without_its_database_is_kept(void **state)
{
	(void)state;
	struct store *s = open_ok(STORE_WRITE);
	assert_int_equal(put_job(s, "a", "x", 1), 0);
	s = store_close(s);
	assert_int_equal(unlink(in_dir("vigil.db")), 0);
	s = open_ok(STORE_WRITE);
	assert_non_null(strstr(note, "kept as"));
	assert_int_equal(put_job(s, "b", "x", 1), 0);
	s = store_close(s);
	assert_true(files_like("vigil.db.damaged-") >= 1);
}

/*
 * Wherever the damage lies: every write works in the end, and either nothing
 * was noticed (the bytes were not of the structure) or the file was kept.
 */
static void damage_at_any_offset_never_stops_a_writer(void **state)
{
	(void)state;
	fill_and_settle();
	struct stat st;
	assert_int_equal(stat(in_dir("vigil.db"), &st), 0);
	cleanup(freep) char *whole = NULL;
	size_t len;
	assert_int_equal(file_slurp(AT_FDCWD, in_dir("vigil.db"), 1 << 24, &whole, &len), 0);
	int repaired = 0, trials = 0;
	for (off_t at = 0; at < st.st_size; at += at < 4096 ? 512 : 4096) {
		(void)make_dir(NULL);
		assert_int_equal(file_replace(in_dir("vigil.db"), whole, len, 0600), 0);
		char noise[256];
		memset(noise, 0xa5, sizeof(noise));
		overwrite("vigil.db", at, noise, sizeof(noise));
		struct store *s = open_ok(STORE_WRITE);
		struct job got;
		bool noticed = note[0] != '\0';
		for (int i = 0; i < 300; i += 7) { /* touch pages all over the file */
			char id[16];
			TEXT_FORMAT(id, "job-%03d", i);
			assert_int_equal(put_job(s, id, "changed", i), 0);
			assert_int_equal(store_find_job(s, id, &got), 0);
		}
		noticed |= store_take_note(s, note);
		s = store_close(s);
		assert_int_equal(files_like("vigil.db.damaged-") > 0, noticed);
		repaired += noticed;
		trials++;
		assert_int_equal(drop_dir(NULL), 0);
	}
	print_message("damage noticed in %d of %d trials\n", repaired, trials);
	assert_true(repaired > trials / 2);
	(void)make_dir(NULL);
}

static void a_reader_that_meets_damage_leaves_a_mark_for_the_next_writer(void **state)
{
	(void)state;
	fill_and_settle();
	struct stat st;
	assert_int_equal(stat(in_dir("vigil.db"), &st), 0);
	char noise[4096];
	memset(noise, 0xa5, sizeof(noise));
	for (off_t at = 2 * 4096; at < st.st_size; at += 4096) /* all but the schema */
		overwrite("vigil.db", at, noise, sizeof(noise));
	struct store *s = open_ok(STORE_READ);
	struct job got;
	assert_int_equal(store_find_job(s, "job-100", &got), -EBADMSG);
	s = store_close(s);
	assert_int_equal(access(in_dir("vigil.db.suspect"), F_OK), 0);
	expect_new_store_that_works();
	assert_int_equal(access(in_dir("vigil.db.suspect"), F_OK), -1);
}

static void a_store_moved_away_under_a_writer_is_started_anew(void **state)
{
	(void)state;
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	assert_int_equal(put_job(s, "a", "x", 1), 0);
	assert_int_equal(rename(in_dir("vigil.db"), "/tmp/vigil-moved-away"), 0);
	(void)unlink("/tmp/vigil-moved-away");
	assert_int_equal(put_job(s, "b", "x", 1), 0);
	cleanup(store_closep) struct store *r = open_ok(STORE_READ);
	struct job got;
	assert_int_equal(store_find_job(r, "b", &got), 0);
}

static void sql(const char *statement)
{
	char path[128];
	TEXT_FORMAT(path, "%s/vigil.db", dir);
	pid_t p = fork();
	if (p == 0) {
		execlp("sqlite3", "sqlite3", path, statement, (char *)NULL);
		_exit(127);
	}
	int status;
	assert_int_equal(waitpid(p, &status, 0), p);
	assert_int_equal(status, 0);
}

static void a_newer_schema_is_left_alone(void **state)
{
	(void)state;
	struct store *s = open_ok(STORE_WRITE);
	s = store_close(s);
	sql("PRAGMA user_version=77");
	assert_int_equal(store_open(dir, STORE_WRITE, &s, note, &fault), -EPROTONOSUPPORT);
	assert_non_null(strstr(fault.text, "newer vigil"));
	assert_int_equal(store_open(dir, STORE_READ, &s, note, &fault), -EPROTONOSUPPORT);
	assert_int_equal(files_like("vigil.db.damaged-"), 0);
}

/* Jobs written by the first vigil there was are read by this one, whichever way it opens the store. */
static void an_older_schema_is_brought_up_to_date(void **state)
{
	(void)state;
	for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++) {
		struct store *s = open_ok(STORE_WRITE);
		assert_int_equal(put_job(s, mode == STORE_READ ? "a" : "b", "x", 1), 0);
		s = store_close(s);
		sql("ALTER TABLE job DROP COLUMN limit_bytes; ALTER TABLE job DROP COLUMN stopped; "
		    "ALTER TABLE process DROP COLUMN ended_for; PRAGMA user_version=1");
		s = open_ok(mode);
		struct job got;
		assert_int_equal(store_find_job(s, mode == STORE_READ ? "a" : "b", &got), 0);
		assert_int_equal(got.limit_bytes, 0);
		assert_false(got.stopped);
		s = store_close(s);
	}
}

static int in_child(int (*fn)(void))
{
	pid_t p = fork();
	if (p == 0)
		_exit(fn());
	int status = -1;
	assert_int_equal(waitpid(p, &status, 0), p);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int write_as_nobody(void)
{
	struct store *s = NULL;
	if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
		return 1;
	int r = store_open(dir, STORE_WRITE, &s, note, &fault);
	return r == -EACCES && strstr(fault.text, dir) && strstr(fault.text, "--state") ? 0 : 2;
}

static void a_directory_that_may_not_be_written_is_named(void **state)
{
	(void)state;
	assert_int_equal(chmod(dir, 0500), 0);
	assert_int_equal(in_child(write_as_nobody), 0);
	struct store *s = NULL;
	assert_int_equal(store_open("/dev/null", STORE_WRITE, &s, note, &fault), -ENOTDIR);
	assert_int_equal(store_open("/tmp/vigil-no-such-directory", STORE_WRITE, &s, note, &fault), -ENOENT);
}

static int write_until_full(void)
{
	struct store *s = NULL;
	struct job_event e = {.job = "a", .kind = "x"};
	struct rlimit small = {.rlim_cur = 256 << 10, .rlim_max = 256 << 10};
	memset(e.text, 'y', sizeof(e.text) - 1);
	(void)signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &small) < 0 || store_open(dir, STORE_WRITE, &s, note, &fault) != 0)
		return 1;
	int r = 0;
	for (int i = 0; i < 20000 && r == 0; i++)
		r = store_add_event(s, &e, NULL);
	if (r != -EFBIG && r != -ENOSPC)
		return fprintf(stderr, "got %d %s\n", r, strerror(-r)), 2;
	s = store_close(s);
	return files_like("vigil.db.damaged-") == 0 ? 0 : 3;
}

static void a_full_disk_is_an_error_and_not_damage(void **state)
{
	(void)state;
	assert_int_equal(in_child(write_until_full), 0);
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	assert_string_equal(note, "");
	assert_int_equal(put_job(s, "later", "x", 1), 0); /* room again: it goes on */
}

static int open_on_full_disk(void)
{
	struct store *s = NULL;
	struct rlimit none = {0, 0};
	(void)signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &none) < 0)
		return 1;
	int r = store_open(dir, STORE_WRITE, &s, note, &fault);
	return (r == -EFBIG || r == -ENOSPC) && strstr(fault.text, "no room") ? 0 : 2;
}

static void a_disk_that_is_full_at_the_start_is_named(void **state)
{
	(void)state;
	assert_int_equal(in_child(open_on_full_disk), 0);
	cleanup(store_closep) struct store *s = open_ok(STORE_WRITE);
	assert_int_equal(put_job(s, "later", "x", 1), 0);
}

#define STORE_TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_job_comes_back_as_it_was_put),
		STORE_TEST(jobs_are_found_by_id_by_name_and_as_last),
		STORE_TEST(what_is_counted_survives_its_jobs),
		STORE_TEST(processes_are_told_apart_by_their_start),
		STORE_TEST(the_last_event_is_found_of_all_and_of_one_job),
		STORE_TEST(events_are_numbered_and_read_on_from_any_number),
		STORE_TEST(incidents_are_found_by_id_job_name_pid_and_as_last),
		STORE_TEST(of_kills_for_memory_the_newest_are_read),
		STORE_TEST(notes_are_kept_replaced_and_dropped),
		STORE_TEST(a_reader_sees_what_a_writer_that_is_still_open_wrote),
		STORE_TEST(two_writers_at_once_lose_nothing),
		STORE_TEST(garbage_instead_of_a_store_is_moved_aside),
		STORE_TEST(a_store_of_another_program_is_moved_aside),
		STORE_TEST(a_truncated_store_is_moved_aside),
		STORE_TEST(a_log_without_its_database_is_kept),
		STORE_TEST(damage_at_any_offset_never_stops_a_writer),
		STORE_TEST(a_reader_that_meets_damage_leaves_a_mark_for_the_next_writer),
		STORE_TEST(a_store_moved_away_under_a_writer_is_started_anew),
		STORE_TEST(a_newer_schema_is_left_alone),
		STORE_TEST(an_older_schema_is_brought_up_to_date),
		STORE_TEST(a_directory_that_may_not_be_written_is_named),
		STORE_TEST(a_full_disk_is_an_error_and_not_damage),
		STORE_TEST(a_disk_that_is_full_at_the_start_is_named),
	};
	return cmocka_run_group_tests_name("tell/store", tests, NULL, NULL);
}
