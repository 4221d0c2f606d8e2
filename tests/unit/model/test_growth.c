#include "testing.h"

#include "base/units.h"
#include "model/memory/growth.h"

static struct growth g;

static int fresh(void **state)
{
	(void)state;
	g = (struct growth){.n = 0};
	return 0;
}

static void nothing_is_said_of_a_process_seen_once(void **state)
{
	(void)state;
	assert_int_equal(growth_say(&g, NS_PER_S, MIB).over_ns, 0);
	growth_add(&g, NS_PER_S, MIB);
	assert_int_equal(growth_say(&g, NS_PER_S, MIB).over_ns, 0);
}

static void a_slow_leak_of_minutes_has_the_rate_of_the_minutes_also_after_a_burst(void **state)
{
	(void)state;
	uint64_t bytes = 100 * MIB;
	for (uint64_t s = 0; s <= 600; s++, bytes += 800 * KIB)
		growth_add(&g, s * NS_PER_S, bytes);
	/* 5 MiB in the last second */
	struct growth_said said = growth_say(&g, 601 * NS_PER_S, bytes + 5 * MIB);
	assert_in_range(said.over_ns, 290 * NS_PER_S, 370 * NS_PER_S);
	assert_in_range(said.bytes_per_s, 790 * KIB, 830 * KIB);
}

static void who_loads_first_and_then_stands_still_does_not_grow(void **state)
{
	(void)state;
	for (uint64_t s = 0; s <= 90; s++)
		growth_add(&g, s * NS_PER_S, MIN(s, (uint64_t)20) * 100 * MIB);
	assert_int_equal(growth_say(&g, 90 * NS_PER_S, 2000 * MIB).grown_bytes, 0);
}

static void a_burst_after_minutes_of_standing_still_is_timed_from_where_it_began(void **state)
{
	(void)state;
	for (uint64_t s = 0; s <= 240; s++)
		growth_add(&g, s * NS_PER_S, 50 * MIB);
	struct growth_said said = growth_say(&g, 242 * NS_PER_S, 8 * GIB);
	assert_true(said.grown_bytes == (int64_t)(8 * GIB - 50 * MIB));
	assert_in_range(said.over_ns, 1 * NS_PER_S, 33 * NS_PER_S);
}

static void a_young_process_is_judged_by_all_it_did(void **state)
{
	(void)state;
	growth_add(&g, NS_PER_S, 0);
	growth_add(&g, 2 * NS_PER_S, 100 * MIB);
	struct growth_said said = growth_say(&g, 3 * NS_PER_S, 200 * MIB);
	assert_true(said.over_ns == 2 * NS_PER_S);
	assert_int_equal(said.bytes_per_s, 100 * MIB);
}

static void who_shrinks_is_said_to(void **state)
{
	(void)state;
	for (uint64_t s = 0; s <= 20; s++)
		growth_add(&g, s * NS_PER_S, (100 - s) * MIB);
	assert_true(growth_say(&g, 21 * NS_PER_S, 79 * MIB).bytes_per_s < 0);
}

static void growth_that_is_found_later_is_spread_over_its_time(void **state)
{
	(void)state;
	for (uint64_t s = 0; s <= 20; s++)
		growth_add(&g, s * NS_PER_S, 100 * MIB);
	growth_raise(&g, 0, 20 * NS_PER_S, 200 * MIB);
	struct growth_said said = growth_say(&g, 20 * NS_PER_S, 300 * MIB);
	assert_in_range(said.bytes_per_s, 9 * MIB, 11 * MIB);
	growth_raise(&g, 20 * NS_PER_S, 20 * NS_PER_S, MIB); /* no time at all */
}

static void days_and_terabytes_fit(void **state)
{
	(void)state;
	for (uint64_t h = 0; h < 24 * 60; h++)
		growth_add(&g, h * 3600 * NS_PER_S, h * GIB);
	struct growth_said said = growth_say(&g, 24 * 60 * 3600 * NS_PER_S, 24 * 60 * GIB);
	assert_true(said.bytes_per_s > 0);
	growth_add(&g, 50 * 24 * 3600 * NS_PER_S, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_is_said_of_a_process_seen_once, fresh),
		cmocka_unit_test_setup(a_slow_leak_of_minutes_has_the_rate_of_the_minutes_also_after_a_burst, fresh),
		cmocka_unit_test_setup(who_loads_first_and_then_stands_still_does_not_grow, fresh),
		cmocka_unit_test_setup(a_burst_after_minutes_of_standing_still_is_timed_from_where_it_began, fresh),
		cmocka_unit_test_setup(a_young_process_is_judged_by_all_it_did, fresh),
		cmocka_unit_test_setup(who_shrinks_is_said_to, fresh),
		cmocka_unit_test_setup(growth_that_is_found_later_is_spread_over_its_time, fresh),
		cmocka_unit_test_setup(days_and_terabytes_fit, fresh),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
