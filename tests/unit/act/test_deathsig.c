#include "testing.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "act/deathsig.h"

/* A child that waits to be ended. */
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

/* A child that holds d until it is killed; ours is closed without a word. */
static pid_t holder(const struct deathsig *d)
{
	pid_t pid = fork();
	if (pid == 0) {
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	close(d->fd[0]);
	close(d->fd[1]);
	return pid;
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static bool ended_within(pid_t pid, int ms)
{
	struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	assert_true(p.fd >= 0);
	int n = poll(&p, 1, ms);
	close(p.fd);
	return n == 1;
}

static void the_last_holders_death_sends_the_signal(void **state)
{
	(void)state;
	struct deathsig d = DEATHSIG_NONE;
	int status = 0;
	pid_t pid = sleeper();
	assert_int_equal(deathsig_open(&d, SIGTERM), 0);
	assert_int_equal(deathsig_set(&d, pid), 0);
	pid_t first = fork();
	if (first == 0) {
		for (;;)
			(void)pause();
	}
	pid_t last = holder(&d);
	end(first);
	assert_false(ended_within(pid, 50));
	end(last);
	assert_true(ended_within(pid, 10000));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void a_stopped_process_is_continued(void **state)
{
	(void)state;
	struct deathsig d = DEATHSIG_NONE;
	siginfo_t si;
	pid_t pid = sleeper();
	assert_int_equal(deathsig_open(&d, SIGCONT), 0);
	assert_int_equal(deathsig_set(&d, pid), 0);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &si, WSTOPPED), 0);
	end(holder(&d));
	(void)alarm(10);
	assert_int_equal(waitid(P_PID, (id_t)pid, &si, WCONTINUED), 0);
	(void)alarm(0);
	assert_int_equal(si.si_code, CLD_CONTINUED);
	end(pid);
}

static void nothing_is_sent_when_it_is_closed_or_for_nobody(void **state)
{
	(void)state;
	struct deathsig d = DEATHSIG_NONE, other = DEATHSIG_NONE;
	pid_t pid = sleeper();
	assert_int_equal(deathsig_open(&d, SIGKILL), 0);
	assert_int_equal(deathsig_set(&d, pid), 0);
	deathsig_close(&d);
	assert_int_equal(d.fd[0], -1);
	assert_int_equal(deathsig_open(&other, SIGKILL), 0);
	assert_int_equal(deathsig_set(&other, pid), 0);
	assert_int_equal(deathsig_set(&other, 0), 0);
	end(holder(&other));
	assert_false(ended_within(pid, 50));
	end(pid);
}

static void a_process_that_is_gone_is_told(void **state)
{
	(void)state;
	struct deathsig d = DEATHSIG_NONE;
	pid_t pid = sleeper();
	end(pid);
	assert_int_equal(deathsig_set(&d, pid), 0); /* there is none */
	assert_int_equal(deathsig_open(&d, SIGTERM), 0);
	assert_int_equal(deathsig_set(&d, pid), -ESRCH);
	deathsig_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_holders_death_sends_the_signal),
		cmocka_unit_test(a_stopped_process_is_continued),
		cmocka_unit_test(nothing_is_sent_when_it_is_closed_or_for_nobody),
		cmocka_unit_test(a_process_that_is_gone_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
