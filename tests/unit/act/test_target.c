#include "testing.h"
#include "world_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#include "act/target.h"

static pid_t sleeper(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	return pid;
}

static struct target target_on(const struct world *w, pid_t pid)
{
	struct proc_stat st;
	assert_int_equal(proc_stat_read(w, pid, &st), 0);
	return (struct target){.id = {pid, st.start_ticks}, .pidfd = -1};
}

static int status_of(pid_t pid)
{
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void a_signal_reaches_the_process_that_was_meant(void **state)
{
	(void)state;
	struct world w = live_world();
	for (int hold = 0; hold < 2; hold++) {
		pid_t pid = sleeper();
		struct target t = target_on(&w, pid);
		assert_int_equal(target_open(&w, &t, hold), 0);
		assert_int_equal(t.pidfd >= 0, hold);
		assert_false(target_ended(&w, &t));
		assert_int_equal(target_signal(&w, &t, SIGKILL), 0);
		int status = status_of(pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		assert_true(target_ended(&w, &t));
		target_close(&t);
	}
}

static void a_pid_that_was_given_to_another_process_is_left_alone(void **state)
{
	(void)state;
	struct world w = live_world();
	pid_t pid = sleeper();
	for (int hold = 0; hold < 2; hold++) {
		struct target t = target_on(&w, pid);
		t.id.start_ticks--; /* the one we meant had started earlier */
		assert_int_equal(target_open(&w, &t, hold), WORLD_GONE);
		assert_true(t.gone);
		assert_int_equal(t.pidfd, -1);
	}
	struct target t = target_on(&w, pid);
	t.id.start_ticks--;
	assert_int_equal(target_signal(&w, &t, SIGKILL), WORLD_GONE);
	assert_true(t.gone);
	int status;
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	(void)status_of(pid);
}

static void a_process_that_has_ended_gets_no_signal_while_nobody_has_reaped_it(void **state)
{
	(void)state;
	struct world w = live_world();
	pid_t pid = sleeper();
	struct target t = target_on(&w, pid);
	assert_int_equal(kill(pid, SIGKILL), 0);
	siginfo_t si;
	assert_int_equal(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), 0);
	assert_int_equal(target_signal(&w, &t, SIGTERM), WORLD_GONE);
	(void)status_of(pid);
}

static void one_without_a_descriptor_has_ended_although_its_parent_has_not_reaped_it(void **state)
{
	(void)state;
	struct world w = live_world();
	pid_t pid = sleeper();
	struct target t = target_on(&w, pid);
	assert_int_equal(target_open(&w, &t, false), 0);
	assert_false(target_ended(&w, &t));
	assert_int_equal(kill(pid, SIGKILL), 0);
	siginfo_t si;
	assert_int_equal(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), 0);
	assert_true(target_ended(&w, &t));
	(void)status_of(pid);
	assert_true(target_ended(&w, &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_reaches_the_process_that_was_meant),
		cmocka_unit_test(a_pid_that_was_given_to_another_process_is_left_alone),
		cmocka_unit_test(a_process_that_has_ended_gets_no_signal_while_nobody_has_reaped_it),
		cmocka_unit_test(one_without_a_descriptor_has_ended_although_its_parent_has_not_reaped_it),
	};
	return cmocka_run_group_tests_name("act/target", tests, NULL, NULL);
}
