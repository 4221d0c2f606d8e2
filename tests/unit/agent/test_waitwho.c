#include "testing.h"

#include "agent/wait/waitwho.h"

static void of_a_job_with_ranks_one_without_is_a_launcher(void **state)
{
	(void)state;
	const struct role_info ranked = {.rank = 3, .role = ROLE_MAIN}, plain = {.rank = NO_RANK, .role = ROLE_MAIN};
	struct waitgraph_who w = waitwho_of(10, &ranked, true, true);
	assert_int_equal(w.pid, 10);
	assert_int_equal(w.rank, 3);
	assert_true(w.main);
	assert_false(w.launcher);
	w = waitwho_of(10, &plain, true, true);
	assert_false(w.main);
	assert_true(w.launcher);
	w = waitwho_of(10, &plain, true, false);
	assert_true(w.main);
	assert_false(w.launcher);
}

static void a_shell_that_stands_for_its_rank_is_its_main_process(void **state)
{
	(void)state;
	const struct role_info shell = {.rank = 1, .role = ROLE_SHELL};
	assert_true(waitwho_of(10, &shell, true, true).main);
	assert_false(waitwho_of(10, &shell, true, true).launcher);
	assert_string_equal(waitwho_of(10, &shell, true, true).role, "main");
	assert_true(waitwho_of(10, &shell, false, true).launcher);
	assert_int_equal(waitwho_claim(ROLE_SHELL, false), 0);
	assert_true(waitwho_claim(ROLE_MAIN, false) > waitwho_claim(ROLE_SHELL, true));
	assert_true(waitwho_claim(ROLE_SHELL, true) > 0);
	assert_int_equal(waitwho_claim(ROLE_LOADER, true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_job_with_ranks_one_without_is_a_launcher),
		cmocka_unit_test(a_shell_that_stands_for_its_rank_is_its_main_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
