#include "testing.h"
#include "world_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/guard/jobscan.h"

/* A job of one process that does what it is told, and this test, which is its reaper and its guard. */
struct bench {
	struct world w;
	struct tasks tasks;
	struct unit_memory *known;
	struct unit_table *units;
	struct unit_job job;
	struct jobscan *scan;
	pid_t child;
	int to, from;
};

static void *idle(void *nothing)
{
	(void)pause();
	return nothing;
}

static void answer(int fd, pid_t pid)
{
	if (write(fd, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
}

static pid_t sleeper_fork(void)
{
	pid_t pid = fork();
	if (pid == 0)
		(void)idle(NULL);
	return pid;
}

/* setsid, and a fork whose parent ends at once. */
static void leaver_fork(int answers)
{
	pid_t pid = fork();
	if (pid != 0) {
		(void)waitpid(pid, NULL, 0);
		return;
	}
	(void)setsid();
	const pid_t between = getpid();
	if (fork() == 0) {
		while (getppid() == between)
			(void)sched_yield();
		answer(answers, getpid());
		(void)idle(NULL);
	}
	_exit(0);
}

static _Noreturn void child_main(int words, int answers)
{
	char word;
	pthread_t thread;
	while (read(words, &word, 1) == 1) {
		void *mem = MAP_FAILED;
		if (word == 'f')
			answer(answers, sleeper_fork());
		if (word == 'd')
			leaver_fork(answers);
		if (word == 't')
			answer(answers, pthread_create(&thread, NULL, idle, NULL));
		if (word == 'g')
			mem = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (word == 'g')
			answer(answers, mem == MAP_FAILED ? -1 : 0);
		if (word == 'n')
			for (int i = 0; i < JOBSCAN_NEW + 1; i++)
				(void)sleeper_fork();
		if (word == 'n')
			answer(answers, 0);
		if (word == 'q')
			_exit(0);
	}
	_exit(0);
}

static pid_t tell(struct bench *b, char word)
{
	pid_t pid = -1;
	assert_int_equal(write(b->to, &word, 1), 1);
	assert_int_equal(read(b->from, &pid, sizeof(pid)), sizeof(pid));
	return pid;
}

static void group(struct bench *b)
{
	unit_build(b->known, &b->tasks, &b->job, 1, NULL, b->w.mono_ns(), NULL, NULL, 0, b->units);
}

static void sweep(struct bench *b)
{
	jobscan_before(b->scan, &b->w);
	assert_int_equal(tasks_scan(&b->tasks, &b->w), 0);
	group(b);
	jobscan_begin(b->scan, &b->tasks, b->units, b->w.mono_ns());
	if (!b->scan->is_ready)
		skip(); /* the kernel does not tell the last number */
}

/* False: another sweep is wanted, which on a machine that begins very many processes happens by itself. */
static bool look(struct bench *b)
{
	if (!jobscan_look(b->scan, &b->tasks, &b->w, false))
		return false;
	group(b);
	jobscan_keep(b->scan, &b->tasks, b->units);
	return true;
}

static bool is_member(const struct bench *b, pid_t pid)
{
	for (size_t i = 0; i < b->units->n_members; i++)
		if (b->tasks.rows[b->units->member[i].row].pid == pid)
			return true;
	return false;
}

static uint64_t own(const struct bench *b)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < b->units->n; i++)
		sum += b->units->unit[i].own_bytes;
	return sum;
}

static int bench_open(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	int words[2], answers[2];
	assert_non_null(b);
	b->w = live_world();
	b->known = calloc(1, sizeof(*b->known));
	b->units = calloc(1, sizeof(*b->units));
	b->scan = calloc(1, sizeof(*b->scan));
	assert_true(b->known && b->units && b->scan);
	assert_int_equal(tasks_init(&b->tasks, UNIT_KNOWN_MAX, -1), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_true(pipe(words) == 0 && pipe(answers) == 0);
	b->child = fork();
	if (b->child == 0) {
		close(words[1]);
		child_main(words[0], answers[1]);
	}
	close(words[0]);
	close(answers[1]);
	b->to = words[1];
	b->from = answers[0];
	b->job = (struct unit_job){.active = true, .roots = {b->child}, .ranks = {NO_RANK}, .n_roots = 1};
	b->job.reaper = getpid();
	*state = b;
	return 0;
}

static int bench_close(void **state)
{
	struct bench *b = *state;
	close(b->to);
	close(b->from);
	/* Whoever has a lower number than it is read before it: all must be this test's children by then. */
	assert_int_equal(waitpid(b->child, NULL, 0), b->child);
	assert_int_equal(tasks_scan(&b->tasks, &b->w), 0);
	for (int round = 0; round < 2; round++) {
		group(b);
		for (size_t i = 0; i < b->units->n_members; i++)
			(void)kill(b->tasks.rows[b->units->member[i].row].pid, SIGKILL);
	}
	while (waitpid(-1, NULL, 0) > 0)
		continue;
	tasks_done(&b->tasks);
	fixture_close(&b->w);
	free(b->known);
	free(b->units);
	free(b->scan);
	free(b);
	return 0;
}

static void a_child_is_counted_without_a_sweep(void **state)
{
	struct bench *b = *state;
	sweep(b);
	assert_true(is_member(b, b->child));
	pid_t born = tell(b, 'f');
	if (!look(b))
		skip();
	assert_true(is_member(b, born) && is_member(b, b->child));
	(void)kill(born, SIGKILL);
	for (int i = 0; i < 100000 && is_member(b, born); i++) {
		(void)sched_yield();
		if (!look(b))
			skip();
	}
	assert_false(is_member(b, born));
	assert_true(is_member(b, b->child));
}

static void who_leaves_by_a_double_fork_stays_counted(void **state)
{
	struct bench *b = *state;
	sweep(b);
	pid_t left = tell(b, 'd');
	if (!look(b))
		skip();
	assert_true(is_member(b, left));
}

static void who_loses_its_parent_stays_counted(void **state)
{
	struct bench *b = *state;
	pid_t born = tell(b, 'f');
	sweep(b);
	assert_true(is_member(b, born));
	assert_int_equal(write(b->to, "q", 1), 1);
	siginfo_t gone;
	assert_int_equal(waitid(P_PID, (id_t)b->child, &gone, WEXITED | WNOWAIT), 0);
	if (!look(b))
		skip();
	assert_true(is_member(b, born));
	assert_false(is_member(b, b->child));
	assert_int_equal(tasks_find(&b->tasks, born)->ppid, getpid());
}

static void what_it_takes_is_counted(void **state)
{
	struct bench *b = *state;
	sweep(b);
	const uint64_t before = own(b);
	assert_int_equal(tell(b, 'g'), 0);
	if (!look(b))
		skip();
	assert_true(own(b) >= before + 63 * MIB);
}

static void a_thread_is_no_process(void **state)
{
	struct bench *b = *state;
	sweep(b);
	const size_t members = b->units->n_members;
	assert_int_equal(tell(b, 't'), 0);
	if (!look(b))
		skip();
	assert_int_equal(b->units->n_members, members);
	assert_true(b->scan->n_unborn > 0);
}

static void very_many_new_ones_take_a_sweep(void **state)
{
	struct bench *b = *state;
	sweep(b);
	assert_int_equal(tell(b, 'n'), 0);
	assert_false(look(b));
	assert_false(look(b)); /* until there was one */
	sweep(b);
	assert_true(b->units->n_members > JOBSCAN_NEW);
	assert_true(look(b) || !b->scan->is_ready);
}

static void more_members_than_fit_take_sweeps(void **state)
{
	struct bench *b = *state;
	sweep(b);
	b->scan->n = JOBSCAN_MOST; /* as if so many were listed already */
	for (size_t i = 0; i < JOBSCAN_MOST; i++)
		b->scan->pids[i] = b->child;
	jobscan_keep(b->scan, &b->tasks, b->units);
	assert_int_equal(b->scan->n, 1);
	assert_true(b->scan->is_ready);
	b->units->n_dropped = 1;
	jobscan_keep(b->scan, &b->tasks, b->units);
	assert_false(b->scan->is_ready);
	assert_false(look(b));
}

#define WITH_JOB(test) cmocka_unit_test_setup_teardown(test, bench_open, bench_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_JOB(a_child_is_counted_without_a_sweep),
		WITH_JOB(who_leaves_by_a_double_fork_stays_counted),
		WITH_JOB(who_loses_its_parent_stays_counted),
		WITH_JOB(what_it_takes_is_counted),
		WITH_JOB(a_thread_is_no_process),
		WITH_JOB(very_many_new_ones_take_a_sweep),
		WITH_JOB(more_members_than_fit_take_sweeps),
	};
	return cmocka_run_group_tests_name("agent/guard/jobscan", tests, NULL, NULL);
}
