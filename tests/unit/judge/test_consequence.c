#include "testing.h"

#include "base/units.h"
#include "judge/death/consequence.h"

static void a_failure_within_a_minute_of_a_kill_is_its_consequence(void **state)
{
	(void)state;
	const uint64_t killed = 5000 * NS_PER_S;
	assert_true(consequence_of_kill(killed, killed));
	assert_true(consequence_of_kill(killed, killed + 59 * NS_PER_S));
	assert_true(consequence_of_kill(killed, killed + 60 * NS_PER_S - 1));
	assert_false(consequence_of_kill(killed, killed + 60 * NS_PER_S));
	assert_false(consequence_of_kill(killed, killed + 3600 * NS_PER_S));
}

static void a_failure_before_the_kill_is_none_of_it(void **state)
{
	(void)state;
	assert_false(consequence_of_kill(1000, 999));
	assert_false(consequence_of_kill(UINT64_MAX, 0));
}

static void only_the_rest_is_left_when_all_ranks_ended_well_before_the_kill(void **state)
{
	(void)state;
	const struct consequence_rank ended[] = {{.ended_unix_ms = 100}, {.ended_unix_ms = 199}};
	assert_true(consequence_only_rest(ended, 2, false, 200));
	assert_false(consequence_only_rest(ended, 2, true, 200));
	/* the second one ended at the very time of the kill: perhaps because of it */
	assert_false(consequence_only_rest(ended, 2, false, 199));
	assert_false(consequence_only_rest(ended, 2, false, 150));
}

static void a_rank_that_runs_is_not_a_rest(void **state)
{
	(void)state;
	const struct consequence_rank one_runs[] = {{.ended_unix_ms = 100}, {.running = true, .ended_unix_ms = 0}};
	assert_false(consequence_only_rest(one_runs, 2, false, 200));
	assert_true(consequence_only_rest(one_runs, 1, false, 200));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_within_a_minute_of_a_kill_is_its_consequence),
		cmocka_unit_test(a_failure_before_the_kill_is_none_of_it),
		cmocka_unit_test(only_the_rest_is_left_when_all_ranks_ended_well_before_the_kill),
		cmocka_unit_test(a_rank_that_runs_is_not_a_rest),
	};
	return cmocka_run_group_tests_name("judge/death/consequence", tests, NULL, NULL);
}
