#include "testing.h"

#include <signal.h>
#include <sys/wait.h>

#include "act/hook.h"
#include "base/clock.h"

static struct hook_result result;

static int run(const char *script, const char *input, uint64_t timeout_ms)
{
	const char *argv[] = {"sh", "-c", script, NULL};
	const char *environment[] = {"VIGIL_CHANNEL=ops", NULL};
	struct hook h = {.argv = argv,
			 .environment = environment,
			 .input = input,
			 .input_len = strlen(input),
			 .timeout_ms = timeout_ms};
	return hook_run(&h, &result);
}

static void the_input_arrives_and_what_is_said_comes_back(void **state)
{
	(void)state;
	assert_int_equal(run("read line; echo \"got $line for $VIGIL_CHANNEL\"; exit 3", "hello\n", 5000), 0);
	assert_int_equal(WEXITSTATUS(result.wait_status), 3);
	assert_string_equal(result.said, "got hello for ops");
}

static void the_environment_is_bare(void **state)
{
	(void)state;
	setenv("SECRET_OF_MINE", "x", 1);
	assert_int_equal(run("echo \"<$SECRET_OF_MINE>\"", "", 5000), 0);
	assert_string_equal(result.said, "<>");
}

static void it_is_not_in_the_folder_of_a_job(void **state)
{
	(void)state;
	assert_int_equal(run("pwd", "", 5000), 0);
	assert_string_equal(result.said, "/");
}

static void one_that_does_not_end_is_ended_with_its_children(void **state)
{
	(void)state;
	uint64_t begun = clock_mono_ns();
	assert_int_equal(run("trap '' TERM; sleep 100 & sleep 100", "", 200), 0);
	assert_true(result.timed_out);
	assert_true(WIFSIGNALED(result.wait_status) && WTERMSIG(result.wait_status) == SIGKILL);
	assert_true(clock_mono_ns() - begun < 10 * NS_PER_S);
}

static void one_that_reads_nothing_and_writes_much_is_no_trouble(void **state)
{
	static char input[1 << 20];
	(void)state;
	memset(input, 'x', sizeof(input) - 1);
	assert_int_equal(run("head -c 3000000 /dev/zero | tr '\\0' 'y'; exit 0", input, 20000), 0);
	assert_false(result.timed_out);
	assert_int_equal(result.wait_status, 0);
	assert_int_equal(strlen(result.said), sizeof(result.said) - 1);
}

static void a_program_that_is_not_there_says_so(void **state)
{
	const char *argv[] = {"/nowhere/program", NULL};
	struct hook h = {.argv = argv, .input = "", .timeout_ms = 5000};
	(void)state;
	assert_int_equal(hook_run(&h, &result), 0);
	assert_int_equal(WEXITSTATUS(result.wait_status), 126);
	assert_non_null(strstr(result.said, "/nowhere/program: No such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_input_arrives_and_what_is_said_comes_back),
		cmocka_unit_test(the_environment_is_bare),
		cmocka_unit_test(it_is_not_in_the_folder_of_a_job),
		cmocka_unit_test(one_that_does_not_end_is_ended_with_its_children),
		cmocka_unit_test(one_that_reads_nothing_and_writes_much_is_no_trouble),
		cmocka_unit_test(a_program_that_is_not_there_says_so),
	};
	return cmocka_run_group_tests_name("act/hook", tests, NULL, NULL);
}
