#include "testing.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "act/lend.h"

static pid_t borrower_start(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void borrower_end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* True if this process has real-time priority now; it is put back by plain(). */
static bool realtime(int priority)
{
	const struct sched_param p = {.sched_priority = priority};
	return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &p) == 0;
}

static void plain(void)
{
	const struct sched_param p = {.sched_priority = 0};
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &p), 0);
}

static void who_is_waited_for_gets_the_priority_right_below(void **state)
{
	(void)state;
	pid_t pid = borrower_start();
	struct lent l = {.tid = 0};
	struct sched_param p;
	const struct sched_param none = {.sched_priority = 0};
	assert_int_equal(setpriority(PRIO_PROCESS, (id_t)pid, 5), 0);
	assert_int_equal(sched_setscheduler(pid, SCHED_BATCH, &none), 0);
	if (!realtime(3)) {
		borrower_end(pid);
		skip(); /* it takes CAP_SYS_NICE */
	}
	lend(&l, pid);
	int policy = sched_getscheduler(pid);
	int got = sched_getparam(pid, &p);
	struct lent again = l;
	lend(&again, pid); /* one loan at a time */
	lend_back(&l);
	plain();
	assert_int_equal(policy, SCHED_FIFO | SCHED_RESET_ON_FORK);
	assert_int_equal(got, 0);
	assert_int_equal(p.sched_priority, 2);
	assert_int_equal(again.policy, SCHED_BATCH);
	assert_int_equal(l.tid, 0);
	assert_int_equal(sched_getscheduler(pid), SCHED_BATCH);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), 5);
	borrower_end(pid);
}

static void who_has_real_time_priority_keeps_it(void **state)
{
	(void)state;
	pid_t pid = borrower_start();
	struct lent l = {.tid = 0};
	const struct sched_param own = {.sched_priority = 7};
	struct sched_param p = {.sched_priority = 0};
	if (sched_setscheduler(pid, SCHED_RR, &own) < 0 || !realtime(3)) {
		borrower_end(pid);
		skip(); /* it takes CAP_SYS_NICE */
	}
	lend(&l, pid);
	plain();
	assert_int_equal(l.tid, 0);
	assert_int_equal(sched_getscheduler(pid), SCHED_RR);
	assert_int_equal(sched_getparam(pid, &p), 0);
	assert_int_equal(p.sched_priority, 7);
	borrower_end(pid);
}

static void without_more_than_the_borrower_has_nothing_is_lent(void **state)
{
	(void)state;
	pid_t pid = borrower_start();
	struct lent l = {.tid = 0};
	lend(&l, pid);
	assert_int_equal(l.tid, 0);
	lend(&l, 0);
	assert_int_equal(l.tid, 0);
	assert_int_equal(sched_getscheduler(pid), SCHED_OTHER);
	borrower_end(pid);
	lend(&l, pid);
	assert_int_equal(l.tid, 0);
	lend_back(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_waited_for_gets_the_priority_right_below),
		cmocka_unit_test(who_has_real_time_priority_keeps_it),
		cmocka_unit_test(without_more_than_the_borrower_has_nothing_is_lent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
