#include "testing.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "act/protect.h"
#include "base/clock.h"

static struct world w;
static pid_t child;

static int start(void **state)
{
	(void)state;
	w = (struct world){
		.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.cgroup_fd = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.sys_fd = -1, .shm_fd = -1, .kmsg_fd = -1, .page_bytes = 4096, .ticks_per_s = 100,
		.mono_ns = clock_mono_ns, .unix_ms = clock_unix_ms,
	};
	child = fork();
	if (child == 0) {
		for (;;)
			pause();
	}
	return child > 0 ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(w.proc_fd);
	close(w.cgroup_fd);
	return 0;
}

static struct protect_target target(bool expendable)
{
	struct proc_stat s;
	assert_int_equal(proc_stat_read(&w, child, &s), 0);
	return (struct protect_target){.id = {.pid = child, .start_ticks = s.start_ticks}, .expendable = expendable};
}

static int adj_now(void)
{
	int v;
	assert_int_equal(proc_oom_score_adj_read(&w, child, &v), 0);
	return v;
}

static void the_outcome_is_what_the_kernel_says_afterwards(void **state)
{
	(void)state;
	struct protect_target t = target(false);
	const struct protect_request want = {.oom_score_adj = -900, .raise_helpers = true};
	struct protect_outcome o;
	int before = adj_now();
	assert_int_equal(protect_apply(&w, &t, 1, NULL, &want, &o), 0);
	assert_int_equal(o.n, 1);
	assert_int_equal(o.row[0].before, before);
	assert_int_equal(o.row[0].after, adj_now());
	if (o.row[0].result == PROTECT_DONE)
		assert_int_equal(adj_now(), -900);
	else
		assert_true(o.row[0].result == PROTECT_REFUSED && o.row[0].error == EACCES && adj_now() == before);
	assert_int_equal(o.n_done + o.n_refused, 1);
	assert_int_equal(protect_restore_adj(&w, t.id, before), 0);
	assert_int_equal(adj_now(), before);
	protect_outcome_done(&o);
}

/* A value that is higher than the floor can be lowered to it by everybody: that much is done at least. */
static void a_raised_process_is_lowered_as_far_as_allowed(void **state)
{
	(void)state;
	struct protect_target t = target(false);
	int before = adj_now();
	assert_int_equal(protect_restore_adj(&w, t.id, 700), 0);
	const struct protect_request want = {.oom_score_adj = -900};
	struct protect_outcome o;
	assert_int_equal(protect_apply(&w, &t, 1, NULL, &want, &o), 0);
	assert_true(o.row[0].result == PROTECT_DONE || o.row[0].result == PROTECT_PARTLY);
	assert_true(adj_now() < 700 && o.row[0].after == adj_now());
	assert_int_equal(protect_restore_adj(&w, t.id, before), 0);
	protect_outcome_done(&o);
}

static void an_expendable_process_is_raised_only_where_lowering_is_refused(void **state)
{
	(void)state;
	struct protect_target t = target(true);
	const struct protect_request want = {.oom_score_adj = -900, .raise_helpers = true};
	struct protect_outcome o;
	int before = adj_now();
	assert_int_equal(protect_apply(&w, &t, 1, NULL, &want, &o), 0);
	assert_true(o.row[0].result == PROTECT_DONE
			    ? adj_now() == -900
			    : o.row[0].result == PROTECT_RAISED && adj_now() == 500 && o.n_raised == 1);
	assert_int_equal(protect_restore_adj(&w, t.id, before), 0);
	assert_int_equal(adj_now(), before);
	protect_outcome_done(&o);
}

static void a_dry_run_writes_nothing(void **state)
{
	(void)state;
	struct protect_target t = target(true);
	const struct protect_request want = {.oom_score_adj = -900, .raise_helpers = true, .dry_run = true};
	struct protect_outcome o;
	int before = adj_now();
	assert_int_equal(protect_apply(&w, &t, 1, NULL, &want, &o), 0);
	assert_int_equal(adj_now(), before);
	protect_outcome_done(&o);
}

static void another_process_with_the_same_number_is_left_alone(void **state)
{
	(void)state;
	struct protect_target t = target(true);
	t.id.start_ticks += 1;
	const struct protect_request want = {.oom_score_adj = -900, .raise_helpers = true};
	struct protect_outcome o;
	int before = adj_now();
	assert_int_equal(protect_apply(&w, &t, 1, NULL, &want, &o), 0);
	assert_int_equal(o.row[0].result, PROTECT_GONE);
	assert_int_equal(protect_restore_adj(&w, t.id, 900), WORLD_GONE);
	assert_int_equal(adj_now(), before);
	protect_outcome_done(&o);
}

struct change {
	char stat[64], adj[64];
	char got[32];
};

static void stat_write(const char *path, int start_ticks)
{
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	(void)fprintf(f, "7 (x) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", start_ticks);
	assert_int_equal(fclose(f), 0);
}

/* The value is a FIFO: who opens it waits for us, and meanwhile the number becomes another process's. */
static void *number_change(void *arg)
{
	struct change *c = arg;
	const struct timespec pause = {.tv_nsec = 100 * (long)NS_PER_MS};
	(void)nanosleep(&pause, NULL);
	stat_write(c->stat, 200);
	const int fd = open(c->adj, O_RDONLY | O_CLOEXEC);
	(void)!read(fd, c->got, sizeof(c->got) - 1);
	close(fd);
	return NULL;
}

static void a_number_that_changes_hands_after_the_look_is_not_written(void **state)
{
	(void)state;
	char dir[] = "/tmp/vigil-protect-XXXXXX", path[64];
	struct change c = {.got = ""};
	pthread_t thread;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/7", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	(void)snprintf(c.stat, sizeof(c.stat), "%s/7/stat", dir);
	(void)snprintf(c.adj, sizeof(c.adj), "%s/7/oom_score_adj", dir);
	stat_write(c.stat, 100);
	assert_int_equal(mkfifo(c.adj, 0600), 0);
	struct world fake = w;
	fake.proc_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(pthread_create(&thread, NULL, number_change, &c), 0);
	const int r = protect_restore_adj(&fake, (struct proc_id){7, 100}, -900);
	pthread_join(thread, NULL);
	assert_string_equal(c.got, "");
	assert_int_equal(r, WORLD_GONE);
	close(fake.proc_fd);
	unlink(c.stat);
	unlink(c.adj);
	rmdir(path);
	rmdir(dir);
}

static void units_are_read_off_group_names(void **state)
{
	(void)state;
	static const struct {
		const char *name, *unit;
		bool user;
	} rows[] = {
		{"/system.slice/train.service", "train.service", false},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice/vte-1.scope", "vte-1.scope", true},
		{"/user.slice/user-1000.slice/user@1000.service", "user@1000.service", false},
		{"/user.slice/user-1000.slice/session-2.scope", "session-2.scope", false},
		{"/system.slice/train.service/job", NULL, false},
		/* groups that a service's own user has made, where the service is delegated to it */
		{"/system.slice/train.service/sshd.service", NULL, false},
		{"/system.slice/train.service/mine.slice/sshd.service", NULL, false},
		{"/user.slice/user-1000.slice/user@1000.service/a.service/b.service", NULL, false},
		{"/../../system.slice/train.service", NULL, false},
		{"/user.slice", NULL, false},
		{"/.service", NULL, false},
		{"/", NULL, false},
		{"", NULL, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char unit[64] = "";
		bool user = false;
		assert_int_equal(protect_unit_of(rows[i].name, unit, sizeof(unit), &user), rows[i].unit != NULL);
		if (rows[i].unit)
			assert_string_equal(unit, rows[i].unit);
		assert_int_equal(user, rows[i].user);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_outcome_is_what_the_kernel_says_afterwards),
		cmocka_unit_test(a_raised_process_is_lowered_as_far_as_allowed),
		cmocka_unit_test(an_expendable_process_is_raised_only_where_lowering_is_refused),
		cmocka_unit_test(a_dry_run_writes_nothing),
		cmocka_unit_test(another_process_with_the_same_number_is_left_alone),
		cmocka_unit_test(a_number_that_changes_hands_after_the_look_is_not_written),
		cmocka_unit_test(units_are_read_off_group_names),
	};
	return cmocka_run_group_tests(tests, start, stop);
}
