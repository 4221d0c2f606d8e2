#include "agent/scratch_fixture.h"

#include "base/clock.h"
#include "tell/store/rowlog.h"

static struct store *store_at(const char *name, enum store_mode mode)
{
	struct store *s = NULL;
	char note[256];
	struct fault f = {.text = ""};
	if (mode != STORE_READ)
		assert_int_equal(file_mkdirs(scratch_path(name), 0700), 0);
	assert_int_equal(store_open(scratch_path(name), mode, &s, note, &f), 0);
	return s;
}

static struct job a_job(void)
{
	return (struct job){.id = "train-1",
			    .name = "train",
			    .command = "python3 t\303\244\"\n",
			    .uid = 60000,
			    .state = JOB_FAILED,
			    .supervisor_start_ticks = UINT64_MAX / 2,
			    .has_exit = true,
			    .exit_status = 3,
			    .started_unix_ms = 5};
}

static struct job_event an_event(const char *text)
{
	struct job_event e = {.time_unix_ms = 7, .job = "train-1", .kind = "job_end"};
	TEXT_COPY(e.text, text);
	return e;
}

/* The rows of a job as a writer leaves them. */
static int rows_write(char *dst, size_t cap)
{
	const struct job j = a_job();
	const struct job_process p = {.job = "train-1", .pid = 12, .start_ticks = 34, .rank = 2, .name = "python3"};
	const struct job_event e = an_event("exit status 3");
	const struct store_incident i = {.id = "train-1.1",
					 .job = "train-1",
					 .kind = "error_exit",
					 .summary = "s",
					 .json = "{\"a\":\"b\"}",
					 .time_unix_ms = 9,
					 .victim_pid = 12};
	const struct rowlog_row rows[] = {
		{ROWLOG_JOB, &j}, {ROWLOG_PROCESS, &p}, {ROWLOG_EVENT, &e}, {ROWLOG_INCIDENT, &i}};
	cleanup(closep) int fd = open(scratch_path("rows"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	for (size_t k = 0; k < ARRAY_SIZE(rows); k++)
		assert_int_equal(rowlog_write(fd, &rows[k]), 0);
	ssize_t n = pread(fd, dst, cap, 0);
	assert_true(n > 0 && (size_t)n < cap);
	return (int)n;
}

static int count_event(void *ctx, const struct job_event *e)
{
	int *n = ctx;
	assert_string_equal(e->job, "train-1");
	(*n)++;
	return 0;
}

static int see_process(void *ctx, const struct job_process *p)
{
	int *n = ctx;
	assert_int_equal(p->pid, 12);
	assert_int_equal(p->rank, 2);
	assert_false(p->has_status);
	(*n)++;
	return 0;
}

static void everything_is_there(struct store *s)
{
	const struct job want = a_job();
	struct job j;
	cleanup(freep) char *json = NULL;
	int events = 0, processes = 0;
	assert_int_equal(store_find_job(s, "train", &j), 0);
	assert_string_equal(j.command, want.command);
	assert_int_equal(j.uid, want.uid);
	assert_int_equal(j.state, JOB_FAILED);
	assert_true(j.has_exit && j.exit_status == 3);
	assert_true(j.supervisor_start_ticks == want.supervisor_start_ticks);
	assert_int_equal(store_find_incident(s, "train", &json), 0);
	assert_string_equal(json, "{\"a\":\"b\"}");
	assert_int_equal(store_each_event(s, NULL, 0, count_event, &events), 0);
	assert_int_equal(store_each_process(s, "train-1", see_process, &processes), 0);
	assert_int_equal(events, 1);
	assert_int_equal(processes, 1);
}

static void rows_come_back_and_twice_is_once(void **state)
{
	(void)state;
	char text[8192];
	size_t n = 0, len = (size_t)rows_write(text, sizeof(text));
	cleanup(store_closep) struct store *s = store_at("state", STORE_WRITE);
	assert_int_equal(store_begin(s), 0);
	assert_int_equal(rowlog_replay((struct span){text, len}, s, &n), 0);
	assert_int_equal(store_commit(s), 0);
	assert_int_equal(n, 4);
	assert_int_equal(rowlog_replay((struct span){text, len}, s, &n), 0);
	everything_is_there(s);
}

static void a_store_that_reads_shows_what_is_lent_to_it(void **state)
{
	(void)state;
	char text[8192];
	size_t n = 0, len = (size_t)rows_write(text, sizeof(text));
	struct job j = {.id = "own-1", .name = "own", .state = JOB_DONE, .started_unix_ms = 4};
	struct store *w = store_at("state", STORE_WRITE);
	assert_int_equal(store_put_job(w, &j), 0);
	store_close(w);
	cleanup(store_closep) struct store *s = store_at("state", STORE_READ);
	assert_int_equal(store_find_job(s, "train", &j), STORE_NONE);
	assert_int_equal(store_lend_begin(s, "/lent"), 0);
	assert_int_equal(rowlog_replay((struct span){text, len}, s, &n), 0);
	assert_int_equal(store_lend_end(s), 0);
	assert_int_equal(n, 4);
	everything_is_there(s);
	assert_int_equal(store_find_job(s, "last", &j), 0);
	assert_string_equal(j.id, "train-1"); /* it began later */
	assert_int_equal(store_find_job(s, "own", &j), 0);
	assert_int_equal(store_put_job(s, &j), -EROFS);
	cleanup(store_closep) struct store *again = store_at("state", STORE_READ);
	assert_int_equal(store_find_job(again, "train", &j), STORE_NONE);
}

static void without_a_store_of_ones_own_there_is_what_is_lent(void **state)
{
	(void)state;
	char text[8192];
	size_t n = 0, len = (size_t)rows_write(text, sizeof(text));
	cleanup(store_closep) struct store *s = NULL;
	assert_int_equal(store_open_empty(&s), 0);
	assert_int_equal(store_lend_begin(s, "/lent"), 0);
	assert_int_equal(rowlog_replay((struct span){text, len}, s, &n), 0);
	assert_int_equal(store_lend_end(s), 0);
	everything_is_there(s);
}

static void damage_costs_only_the_line(void **state)
{
	(void)state;
	static const char text[] = "{\"row\":\"job\",\"id\":\"a\",\"name\":\"a\",\"uid\":-5,\"state\":\"flying\"}\n"
				   "{\"row\":\"job\",\n\n[]\n\"\"\n{\"row\":\"moon\"}\n"
				   "{\"row\":\"job\",\"id\":\"b\",\"name\":7}\n{\"row\":\"job\",\"id\":\"c\"}";
	struct job j;
	size_t n = 0;
	cleanup(store_closep) struct store *s = store_at("state", STORE_WRITE);
	assert_int_equal(rowlog_replay((struct span){text, sizeof(text) - 1}, s, &n), -EBADMSG);
	assert_int_equal(store_find_job(s, "a", &j), 0);
	assert_int_equal(store_find_job(s, "b", &j), 0);
	assert_int_equal(store_find_job(s, "c", &j), STORE_NONE); /* its line was not finished */
}

static void a_store_in_haste_gives_up_at_once_after_the_first_lock(void **state)
{
	(void)state;
	const struct job j = a_job();
	struct store *first = store_at("state", STORE_WRITE);
	cleanup(store_closep) struct store *hasty = store_at("state", STORE_HASTE);
	assert_int_equal(store_begin(first), 0);
	assert_int_equal(store_put_job(hasty, &j), -EBUSY); /* waits STORE_HASTE_MS */
	assert_int_equal(store_commit(first), 0);
	assert_int_equal(store_put_job(hasty, &j), -EBUSY); /* is not tried */
	store_close(first);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(rows_come_back_and_twice_is_once),
		IN_FOLDER(a_store_that_reads_shows_what_is_lent_to_it),
		IN_FOLDER(without_a_store_of_ones_own_there_is_what_is_lent),
		IN_FOLDER(damage_costs_only_the_line),
		IN_FOLDER(a_store_in_haste_gives_up_at_once_after_the_first_lock),
	};
	return cmocka_run_group_tests_name("tell/rowlog", tests, NULL, NULL);
}
