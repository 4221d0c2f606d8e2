#include "testing.h"
#include "world_fixture.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "agent/incident/endwatch.h"
#include "sense/proc/pidfdinfo.h"
#include "sense/proc/proc.h"

struct seen {
	size_t n;
	struct process_end last;
};

static void see(void *ctx, const struct process_end *end)
{
	struct seen *s = ctx;
	s->n++;
	s->last = *end;
}

static pid_t child_that(int status, int *ret_go)
{
	int go[2];
	assert_int_equal(pipe(go), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char c;
		close(go[1]);
		if (read(go[0], &c, 1) < 0)
			_exit(99);
		if (WIFSIGNALED(status))
			(void)kill(getpid(), WTERMSIG(status));
		_exit(WEXITSTATUS(status));
	}
	close(go[0]);
	*ret_go = go[1];
	return pid;
}

static struct process_end about(const struct world *w, pid_t pid)
{
	struct proc_stat st;
	assert_int_equal(proc_stat_read(w, pid, &st), 0);
	struct process_end who = {.pid = pid, .parent = st.ppid, .start_ticks = st.start_ticks, .rank = NO_RANK};
	TEXT_COPY(who.name, st.comm);
	return who;
}

/* Takes what has ended until there is one, 5 s at most. */
static void take_one(struct endwatch *e, struct seen *s)
{
	struct pollfd p = {.fd = endwatch_fd(e), .events = POLLIN};
	for (int i = 0; i < 50 && s->n == 0; i++) {
		(void)poll(&p, 1, 100);
		endwatch_take(e, see, s);
	}
}

static void learn(int status, bool reaped_first)
{
	struct world w = live_world();
	struct endwatch *e = endwatch_new(&w);
	struct seen s = {.n = 0};
	int go, told;
	assert_non_null(e);
	pid_t pid = child_that(status, &go);
	const struct process_end who = about(&w, pid);
	endwatch_know(e, &who);
	endwatch_know(e, &who);
	endwatch_take(e, see, &s);
	assert_int_equal(s.n, 0);
	close(go);
	siginfo_t ended;
	assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	if (reaped_first)
		assert_int_equal(waitpid(pid, &told, 0), pid);
	take_one(e, &s);
	if (!reaped_first)
		assert_int_equal(waitpid(pid, &told, 0), pid);
	if (s.n == 0 && reaped_first) {
		endwatch_free(e);
		skip(); /* before Linux 6.15 */
	}
	assert_int_equal(s.n, 1);
	assert_int_equal(s.last.pid, pid);
	assert_int_equal(s.last.wait_status, status);
	assert_true(s.last.time_unix_ms > 0);
	endwatch_take(e, see, &s);
	assert_int_equal(s.n, 1);
	endwatch_free(e);
	fixture_close(&w);
}

static void a_status_is_told_after_the_parent_has_taken_it(void **state)
{
	(void)state;
	learn(3 << 8, true);
	learn(SIGKILL, true);
	learn(0, true);
}

static void the_status_of_a_zombie_is_told(void **state)
{
	(void)state;
	learn(3 << 8, false);
	learn(SIGTERM, false);
}

static void another_process_of_the_number_is_not_known(void **state)
{
	(void)state;
	struct world w = live_world();
	struct endwatch *e = endwatch_new(&w);
	struct seen s = {.n = 0};
	int go;
	assert_non_null(e);
	pid_t pid = child_that(0, &go);
	struct process_end who = about(&w, pid);
	who.start_ticks++;
	endwatch_know(e, &who);
	close(go);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	endwatch_take(e, see, &s);
	assert_int_equal(s.n, 0);
	endwatch_free(e);
	fixture_close(&w);
}

static void who_lives_has_no_status(void **state)
{
	(void)state;
	int status = 7;
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (fd < 0)
		skip();
	int r = pidfdinfo_exit_read(fd, &status);
	assert_true(r == PIDFDINFO_UNTOLD || r == PIDFDINFO_UNKNOWN);
	assert_int_equal(status, 7);
	close(fd);
	assert_true(pidfdinfo_exit_read(-1, &status) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_status_is_told_after_the_parent_has_taken_it),
		cmocka_unit_test(the_status_of_a_zombie_is_told),
		cmocka_unit_test(another_process_of_the_number_is_not_known),
		cmocka_unit_test(who_lives_has_no_status),
	};
	return cmocka_run_group_tests_name("agent/incident/endwatch", tests, NULL, NULL);
}
