#include "testing.h"

#include "base/units.h"
#include "judge/memory/guard_plan.h"

static const struct guard_step over = {
	.state = GUARD_ACT, .time_to_limit_ns = NS_PER_S, .steady_time_ns = 20 * NS_PER_S};

static void a_victim_is_asked_first_when_more_than_two_grace_periods_are_left(void **state)
{
	(void)state;
	assert_true(guard_plan_ask_first(5 * NS_PER_S, &over));
	assert_true(guard_plan_ask_first(10 * NS_PER_S - 1, &over));
	assert_false(guard_plan_ask_first(10 * NS_PER_S, &over));
	assert_false(guard_plan_ask_first(60 * NS_PER_S, &over));
}

static void without_a_grace_period_no_victim_is_asked(void **state)
{
	(void)state;
	assert_false(guard_plan_ask_first(0, &over));
}

static void an_emergency_leaves_no_time_to_ask_and_a_level_that_does_not_fill_does(void **state)
{
	(void)state;
	struct guard_step s = over;
	s.state = GUARD_EMERGENCY;
	assert_false(guard_plan_ask_first(NS_PER_S, &s));
	s.state = GUARD_WARN;
	assert_false(guard_plan_ask_first(NS_PER_S, &s));
	s.state = GUARD_ACT;
	s.steady_time_ns = UINT64_MAX;
	assert_true(guard_plan_ask_first(NS_PER_S, &s));
}

/* 1 GiB in all, so many in use. */
static struct ledger_level level(uint64_t used_bytes)
{
	return (struct ledger_level){.total_bytes = GIB, .used_bytes = used_bytes, .available_bytes = GIB - used_bytes};
}

static void the_first_look_stores_what_is_in_use(void **state)
{
	(void)state;
	uint64_t frozen = 0;
	struct ledger_level l = level(1000 * MIB);
	assert_false(guard_plan_still_filling(&l, 960 * MIB, &frozen));
	assert_int_equal(frozen, 1000 * MIB);
	l = level(1001 * MIB);
	assert_false(guard_plan_still_filling(&l, 960 * MIB, &frozen));
	assert_int_equal(frozen, 1000 * MIB);
}

static void growth_beyond_a_sixteenth_of_the_headroom_is_filling(void **state)
{
	(void)state;
	uint64_t frozen = 1000 * MIB;
	struct ledger_level l = level(1004 * MIB); /* the headroom is 64 MiB */
	assert_false(guard_plan_still_filling(&l, 960 * MIB, &frozen));
	l = level(1004 * MIB + 1);
	assert_true(guard_plan_still_filling(&l, 960 * MIB, &frozen));
}

static void noise_is_at_least_one_mebibyte(void **state)
{
	(void)state;
	uint64_t frozen = 1000 * MIB;
	struct ledger_level l = level(1001 * MIB);
	assert_false(guard_plan_still_filling(&l, 1023 * MIB, &frozen));
	l = level(1001 * MIB + 1);
	assert_true(guard_plan_still_filling(&l, 1023 * MIB, &frozen));
	/* a threshold above the total leaves no headroom and no underflow */
	assert_true(guard_plan_still_filling(&l, 2 * GIB, &frozen));
}

static void less_than_two_mebibytes_left_are_an_emergency_of_their_own(void **state)
{
	(void)state;
	uint64_t frozen = 0;
	struct ledger_level l = level(GIB - 2 * MIB);
	assert_false(guard_plan_still_filling(&l, 960 * MIB, &frozen));
	l.available_bytes--;
	assert_true(guard_plan_still_filling(&l, 960 * MIB, &frozen));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_victim_is_asked_first_when_more_than_two_grace_periods_are_left),
		cmocka_unit_test(without_a_grace_period_no_victim_is_asked),
		cmocka_unit_test(an_emergency_leaves_no_time_to_ask_and_a_level_that_does_not_fill_does),
		cmocka_unit_test(the_first_look_stores_what_is_in_use),
		cmocka_unit_test(growth_beyond_a_sixteenth_of_the_headroom_is_filling),
		cmocka_unit_test(noise_is_at_least_one_mebibyte),
		cmocka_unit_test(less_than_two_mebibytes_left_are_an_emergency_of_their_own),
	};
	return cmocka_run_group_tests_name("judge/memory/guard_plan", tests, NULL, NULL);
}
