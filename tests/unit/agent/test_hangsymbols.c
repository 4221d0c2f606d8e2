#include "testing.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/hang/hangsymbols.h"
#include "agent/host/world_open.h"

static struct world world;

static int begin(void **state)
{
	struct fault f = {.text = ""};
	(void)state;
	return world_open(NULL, &world, &f);
}

static int end(void **state)
{
	(void)state;
	world_close(&world);
	return 0;
}

/* A child of another user, once it is one. */
static pid_t stranger(void)
{
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
			_exit(1);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	return pid;
}

static void jobs_of_one_user_share_and_those_of_two_do_not(void **state)
{
	struct hangsymbols s = {.n = 0};
	(void)state;
	struct natives *mine = hangsymbols_of(&s, &world, getpid());
	assert_non_null(mine);
	assert_ptr_equal(hangsymbols_of(&s, &world, getpid()), mine);
	if (geteuid() == 0) {
		pid_t other = stranger();
		struct natives *theirs = hangsymbols_of(&s, &world, other);
		assert_int_equal(kill(other, SIGKILL), 0);
		assert_int_equal(waitpid(other, NULL, 0), other);
		assert_non_null(theirs);
		assert_ptr_not_equal(theirs, mine);
	}
	assert_null(hangsymbols_of(&s, &world, 0));
	assert_int_equal(hangsymbols_rest(&s, s.used_ns + 60 * NS_PER_S, false), UINT64_MAX);
}

static void they_are_freed_when_nobody_has_used_them_for_a_while(void **state)
{
	struct hangsymbols s = {.n = 0};
	(void)state;
	assert_int_equal(hangsymbols_rest(&s, 1, false), UINT64_MAX);
	assert_non_null(hangsymbols_of(&s, &world, getpid()));
	uint64_t used = s.used_ns, again = hangsymbols_rest(&s, used + NS_PER_S, false);
	assert_true(again > used + NS_PER_S && again < used + 60 * NS_PER_S);
	assert_int_equal(s.n, 1);
	/* work that goes on keeps them */
	assert_true(hangsymbols_rest(&s, again, true) > again);
	assert_int_equal(s.n, 1);
	assert_int_equal(hangsymbols_rest(&s, again + 60 * NS_PER_S, false), UINT64_MAX);
	assert_int_equal(s.n, 0);
	assert_int_equal(hangsymbols_rest(&s, again + 61 * NS_PER_S, false), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_of_one_user_share_and_those_of_two_do_not),
		cmocka_unit_test(they_are_freed_when_nobody_has_used_them_for_a_while),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
