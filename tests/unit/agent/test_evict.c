#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "agent/guard/guardproc.h"
#include "agent/guard/evict.h"
#include "base/clock.h"
#include "world_fixture.h"

/* A guard's hand on real children of this test, under a ledger that the test makes up. */
struct bench {
	struct world w;
	struct guard_shm *shm;
	struct memwatch memwatch;
	struct tasks tasks;
	struct unit_memory *known;
	struct unit_table *units;
	struct reaper reaper;
	struct guard_job job[1];
	struct evict *evict;
	pid_t child[2];
};

enum child_kind { CHILD_ENDS, CHILD_IGNORES_TERM };

static pid_t child_start(enum child_kind kind)
{
	int ready[2];
	char c;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)signal(SIGTERM, kind == CHILD_IGNORES_TERM ? SIG_IGN : SIG_DFL);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* Waits at most 5 s for one change of the child's state. */
static int child_change(pid_t pid, int what)
{
	int status = 0;
	for (int i = 0; i < 5000; i++) {
		if (waitpid(pid, &status, what | WNOHANG) == pid)
			return status;
		struct timespec t = {.tv_nsec = 1000000};
		(void)nanosleep(&t, NULL);
	}
	fail_msg("process %d did not change its state within 5 s", (int)pid);
	return status;
}

static char state_of(const struct bench *b, pid_t pid)
{
	struct proc_stat st;
	return proc_stat_read(&b->w, pid, &st) == 0 ? st.state : '-';
}

static void *zeroed(size_t size)
{
	void *p = calloc(1, size);
	assert_non_null(p);
	return p;
}

static int bench_open(void **state)
{
	struct bench *b = zeroed(sizeof(*b));
	b->w = live_world();
	b->shm = guardproc_shm_new();
	assert_non_null(b->shm);
	b->known = zeroed(sizeof(*b->known));
	b->units = zeroed(sizeof(*b->units));
	b->evict = zeroed(sizeof(*b->evict));
	assert_int_equal(tasks_init(&b->tasks, UNIT_KNOWN_MAX, -1), 0);
	assert_int_equal(reaper_start(&b->reaper), 0);
	assert_int_equal(memwatch_open(&b->memwatch, &b->w, epoll_create1(EPOLL_CLOEXEC)), 0);
	b->memwatch.jobs_of[0] = 1;
	b->memwatch.group_of[0] = -1;
	b->child[0] = child_start(CHILD_ENDS);
	b->child[1] = child_start(CHILD_IGNORES_TERM);
	b->job[0] = (struct guard_job){.id = "test-1", .group = JOBGROUP_NONE, .limit_bytes = CGROUP_NO_LIMIT};
	b->job[0].unit = (struct unit_job){.active = true, .roots = {b->child[0]}, .ranks = {NO_RANK}, .n_roots = 1};
	*b->evict = (struct evict){.w = &b->w,
				   .shm = b->shm,
				   .memwatch = &b->memwatch,
				   .tasks = &b->tasks,
				   .known = b->known,
				   .units = b->units,
				   .reaper = &b->reaper,
				   .kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
				   .jobs = b->job,
				   .n_jobs = 1};
	*state = b;
	return 0;
}

static int bench_close(void **state)
{
	struct bench *b = *state;
	for (size_t i = 0; i < ARRAY_SIZE(b->child); i++) {
		(void)kill(b->child[i], SIGKILL);
		(void)waitpid(b->child[i], NULL, 0);
	}
	tasks_done(&b->tasks);
	closep(&b->memwatch.epoll_fd);
	memwatch_close(&b->memwatch);
	(void)munmap(b->shm, sizeof(*b->shm));
	free(b->known);
	free(b->units);
	free(b->evict);
	/* the reaper's threads go on waiting in it, so it stays */
	return 0;
}

static struct ledger ledger_of(uint64_t used_bytes)
{
	return (struct ledger){
		.mono_ns = clock_mono_ns(),
		.n = 1,
		.level[0] = {.scope = LEDGER_NODE,
			     .total_bytes = 100 * GIB,
			     .used_bytes = used_bytes,
			     .available_bytes = 100 * GIB - used_bytes},
	};
}

/* One look at a machine in this state; returns when the hand wants the next. */
static uint64_t look(struct bench *b, enum guard_state state)
{
	struct ledger l = ledger_of(state >= GUARD_ACT ? 96 * GIB : 50 * GIB);
	struct guard_step step = {.state = state,
				  .threshold_bytes = 95 * GIB,
				  .time_to_limit_ns = UINT64_MAX,
				  .steady_time_ns = NS_PER_MS,
				  .deficit_bytes = state >= GUARD_ACT ? GIB : 0,
				  .next_ns = NS_PER_MS};
	uint64_t next = 0;
	evict_step(b->evict, &l, &step, &next);
	return next;
}

static void look_until_idle(struct bench *b, enum guard_state state)
{
	for (int i = 0; i < 5000 && b->evict->phase != EVICT_IDLE; i++) {
		(void)look(b, state);
		struct timespec t = {.tv_nsec = 1000000};
		(void)nanosleep(&t, NULL);
	}
	assert_int_equal(b->evict->phase, EVICT_IDLE);
}

static void memory_that_comes_back_by_itself_lets_everybody_go_on(void **state)
{
	struct bench *b = *state;
	(void)look(b, GUARD_ACT);
	assert_true(WIFSTOPPED(child_change(b->child[0], WUNTRACED)));
	(void)look(b, GUARD_OK);
	assert_true(WIFCONTINUED(child_change(b->child[0], WCONTINUED)));
	assert_int_equal(b->evict->phase, EVICT_IDLE);
	assert_int_equal(atomic_load(&b->shm->cases[0].phase), CASE_CANCELLED);
}

static void the_victim_ends_and_nobody_else(void **state)
{
	struct bench *b = *state;
	(void)look(b, GUARD_ACT);
	atomic_store(&b->shm->cases[0].seen, CASE_SEEN_ALL);
	(void)look(b, GUARD_ACT);
	assert_int_equal(WTERMSIG(child_change(b->child[0], 0)), SIGKILL);
	look_until_idle(b, GUARD_OK);
	assert_int_equal(atomic_load(&b->shm->cases[0].phase), CASE_DONE);
	assert_int_equal(state_of(b, b->child[1]), 'S');
	b->child[0] = b->child[1];
}

static void what_survived_sigkill_is_not_chosen_again(void **state)
{
	struct bench *b = *state;
	struct proc_stat st;
	assert_int_equal(proc_stat_read(&b->w, b->child[0], &st), 0);
	b->evict->unkillable[0] = (struct proc_id){b->child[0], st.start_ticks};
	b->evict->n_unkillable = 1;
	uint64_t next = look(b, GUARD_EMERGENCY);
	assert_int_equal(b->evict->phase, EVICT_IDLE);
	assert_int_equal(atomic_load(&b->shm->cases_n), 0);
	assert_true(next >= 50 * NS_PER_MS);
	assert_int_equal(state_of(b, b->child[0]), 'S');
}

static void an_asked_victim_that_ends_is_not_killed(void **state)
{
	struct bench *b = *state;
	b->shm->settings.grace_ns = 2 * NS_PER_S;
	struct ledger l = ledger_of(96 * GIB);
	struct guard_step step = {.state = GUARD_ACT,
				  .threshold_bytes = 95 * GIB,
				  .deficit_bytes = GIB,
				  .time_to_limit_ns = NS_PER_S / 10,
				  .steady_time_ns = 60 * NS_PER_S};
	uint64_t next;
	evict_step(b->evict, &l, &step, &next);
	assert_int_equal(b->evict->phase, EVICT_ASKED);
	assert_int_equal(WTERMSIG(child_change(b->child[0], 0)), SIGTERM);
	look_until_idle(b, GUARD_OK);
	assert_int_equal(atomic_load(&b->shm->cases[0].phase), CASE_DONE);
	b->child[0] = b->child[1];
}

static void an_asked_victim_that_stays_is_killed_after_the_grace(void **state)
{
	struct bench *b = *state;
	struct proc_stat st;
	b->shm->settings.grace_ns = 20 * NS_PER_MS;
	b->job[0].unit.roots[0] = b->child[1];
	assert_int_equal(proc_stat_read(&b->w, b->child[1], &st), 0);
	struct ledger l = ledger_of(96 * GIB);
	struct guard_step step = {.state = GUARD_ACT,
				  .threshold_bytes = 95 * GIB,
				  .deficit_bytes = GIB,
				  .time_to_limit_ns = NS_PER_S / 10,
				  .steady_time_ns = 60 * NS_PER_S};
	uint64_t next, began = clock_mono_ns();
	for (int i = 0; i < 1000 && b->evict->phase != EVICT_KILLING; i++) {
		l.mono_ns = clock_mono_ns();
		evict_step(b->evict, &l, &step, &next);
		struct timespec t = {.tv_nsec = 1000000};
		(void)nanosleep(&t, NULL);
	}
	assert_int_equal(WTERMSIG(child_change(b->child[1], 0)), SIGKILL);
	assert_true(clock_mono_ns() - began >= 20 * NS_PER_MS);
	look_until_idle(b, GUARD_OK);
	b->child[1] = b->child[0];
}

/* One look at a filler that would outrun the guard, short of the threshold. */
static uint64_t early_look(struct bench *b)
{
	struct ledger l = ledger_of(94 * GIB);
	struct guard_step step = {.state = GUARD_ACT,
				  .early = true,
				  .threshold_bytes = 95 * GIB,
				  .deficit_bytes = GIB,
				  .time_to_limit_ns = UINT64_MAX,
				  .steady_time_ns = UINT64_MAX,
				  .next_ns = 250 * NS_PER_MS};
	uint64_t next;
	evict_step(b->evict, &l, &step, &next);
	return next;
}

static void liveness_begin(struct bench *b)
{
	assert_int_equal(evict_sweep(b->evict, 64), 0);
	assert_int_equal(early_look(b), 0); /* was that in time? */
	assert_true(WIFSTOPPED(child_change(b->child[0], WUNTRACED)));
}

static void a_pulse_holds_for_one_look_and_opens_no_case(void **state)
{
	struct bench *b = *state;
	liveness_begin(b);
	uint64_t next = early_look(b);
	assert_int_equal(state_of(b, b->child[0]), 'T'); /* it was: he stands still till the next look */
	assert_true(next > 0 && next <= NS_PER_MS);
	(void)look(b, GUARD_WARN);
	assert_true(WIFCONTINUED(child_change(b->child[0], WCONTINUED)));
	assert_int_equal(atomic_load(&b->shm->cases_n), 0);
}

static void a_pulse_that_came_too_late_becomes_a_case(void **state)
{
	struct bench *b = *state;
	liveness_begin(b);
	(void)look(b, GUARD_ACT);
	assert_int_equal(atomic_load(&b->shm->cases_n), 1);
	assert_int_equal(b->evict->phase, EVICT_FROZEN);
	atomic_store(&b->shm->cases[0].seen, CASE_SEEN_ALL);
	(void)look(b, GUARD_ACT);
	assert_int_equal(WTERMSIG(child_change(b->child[0], 0)), SIGKILL);
	look_until_idle(b, GUARD_OK);
	b->child[0] = b->child[1];
}

static bool is_the_jobs(const struct bench *b, pid_t pid)
{
	for (size_t i = 0; i < b->units->n_members; i++)
		if (b->tasks.rows[b->units->member[i].row].pid == pid)
			return true;
	return false;
}

/* What vigil forks for itself is never the job's: not when it was just born, and not later. */
static void ones_own_forks_are_nobodys_victims(void **state)
{
	struct bench *b = *state;
	b->job[0].unit = (struct unit_job){.active = true, .reaper = getpid()};
	b->shm->own.since_ticks = 1; /* under way: of whoever was born to us since then it is not known whose it is */
	assert_int_equal(evict_sweep(b->evict, 64), 0);
	assert_false(is_the_jobs(b, b->child[0]));
	b->shm->own.since_ticks = 0;
	helper_list_use(&b->shm->own);
	pid_t pid = helper_fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	assert_int_equal(evict_sweep(b->evict, 64), 0);
	assert_true(is_the_jobs(b, b->child[0]));
	assert_false(is_the_jobs(b, pid));
	assert_int_equal(b->shm->own.since_ticks, 0);
	(void)kill(pid, SIGKILL);
	(void)child_change(pid, 0);
	helper_reaped(pid);
	assert_int_equal(b->shm->own.pid[0], 0);
	helper_list_use(NULL);
}

static void group_write(int dir_fd, const pid_t *pids, size_t n)
{
	int fd = openat(dir_fd, "g/cgroup.procs", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	for (size_t i = 0; i < n; i++)
		assert_true(dprintf(fd, "%d\n", (int)pids[i]) > 0);
	close(fd);
}

/* In an emergency only the job is looked at again, and who has just come to it is seen. */
static void a_job_with_a_group_is_refreshed_alone(void **state)
{
	struct bench *b = *state;
	char dir[] = "/tmp/vigil-hand-XXXXXX";
	pid_t likely[GUARD_LIKELY];
	assert_false(evict_refresh(b->evict, 16)); /* never swept */
	assert_int_equal(evict_sweep(b->evict, 64), 0);
	assert_false(evict_refresh(b->evict, 16)); /* no group */
	assert_non_null(mkdtemp(dir));
	int before = b->w.cgroup_fd;
	b->w.cgroup_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(b->w.cgroup_fd, "g", 0700), 0);
	TEXT_COPY(b->job[0].adopted_cgroup, "g");
	group_write(b->w.cgroup_fd, b->child, 1);
	size_t all = b->tasks.n;
	assert_true(evict_refresh(b->evict, 16));
	assert_true(is_the_jobs(b, b->child[0]));
	assert_false(is_the_jobs(b, b->child[1]));
	group_write(b->w.cgroup_fd, b->child, 2);
	uint64_t swept_ns = b->evict->swept_ns;
	b->evict->groups.of[0].cost_ns = 0; /* on a busy machine a list may be dear */
	assert_true(evict_refresh(b->evict, 16));
	assert_true(is_the_jobs(b, b->child[0]) && is_the_jobs(b, b->child[1]));
	assert_int_equal(b->evict->swept_ns, swept_ns);
	assert_int_equal(b->tasks.n, all);
	evict_likely(b->evict, likely);
	assert_true((likely[0] == b->child[0] && likely[1] == b->child[1]) ||
		    (likely[0] == b->child[1] && likely[1] == b->child[0]));
	assert_int_equal(likely[2], 0);
	b->evict->swept_ns -= 600 * NS_PER_MS;
	assert_false(evict_refresh(b->evict, 16)); /* too old */
	assert_int_equal(unlinkat(b->w.cgroup_fd, "g/cgroup.procs", 0), 0);
	assert_int_equal(unlinkat(b->w.cgroup_fd, "g", AT_REMOVEDIR), 0);
	assert_int_equal(rmdir(dir), 0);
	close(b->w.cgroup_fd);
	b->w.cgroup_fd = before;
}

/*
 * While the supervisor is still looking into somebody, a case waits for its stacks longer than for one that does not
 * answer.
 */
static void a_busy_supervisor_is_waited_for(void **state)
{
	struct bench *b = *state;
	b->shm->freeze = true;
	atomic_store(&b->shm->preloading, 1);
	(void)look(b, GUARD_ACT);
	assert_int_equal(b->evict->phase, EVICT_FROZEN);
	b->evict->now->until_ns = UINT64_MAX; /* this machine may be slow */
	b->evict->deadline_ns = clock_mono_ns() - NS_PER_MS;
	(void)look(b, GUARD_ACT);
	assert_int_equal(b->evict->phase, EVICT_FROZEN);
	atomic_store(&b->shm->preloading, 0);
	(void)look(b, GUARD_ACT);
	assert_int_equal(b->evict->phase, EVICT_KILLING);
	look_until_idle(b, GUARD_OK);
	b->child[0] = b->child[1];
}

static void nor_is_one_that_gets_on_waited_for_longer_than_is_promised(void **state)
{
	struct bench *b = *state;
	b->shm->freeze = true;
	(void)look(b, GUARD_ACT);
	assert_int_equal(b->evict->phase, EVICT_FROZEN);
	const uint64_t until_ns = b->evict->now->until_ns;
	assert_true(until_ns > b->evict->crossing_ns && until_ns <= b->evict->crossing_ns + 16 * NS_PER_MS);
	b->evict->now->until_ns = UINT64_MAX;
	atomic_store(&b->evict->now->seen, CASE_SEEN_BEGUN);
	b->evict->deadline_ns = clock_mono_ns() - NS_PER_MS;
	for (int i = 0; i < 3; i++) {
		(void)atomic_fetch_add(&b->evict->now->progress, 1);
		(void)look(b, GUARD_ACT);
		assert_int_equal(b->evict->phase, EVICT_FROZEN);
	}
	b->evict->now->until_ns = clock_mono_ns() - 1;
	(void)atomic_fetch_add(&b->evict->now->progress, 1);
	(void)look(b, GUARD_ACT);
	assert_int_equal(b->evict->phase, EVICT_KILLING);
	look_until_idle(b, GUARD_OK);
	b->child[0] = b->child[1];
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_that_comes_back_by_itself_lets_everybody_go_on, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(what_survived_sigkill_is_not_chosen_again, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(an_asked_victim_that_ends_is_not_killed, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(an_asked_victim_that_stays_is_killed_after_the_grace, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(a_pulse_holds_for_one_look_and_opens_no_case, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(a_pulse_that_came_too_late_becomes_a_case, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(ones_own_forks_are_nobodys_victims, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(a_job_with_a_group_is_refreshed_alone, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(a_busy_supervisor_is_waited_for, bench_open, bench_close),
		cmocka_unit_test_setup_teardown(nor_is_one_that_gets_on_waited_for_longer_than_is_promised, bench_open,
						bench_close),
		cmocka_unit_test_setup_teardown(the_victim_ends_and_nobody_else, bench_open, bench_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
