/* When copies of heap profiles are made while memory is short. */
#include "testing.h"

#include "judge/memory/heapcopy.h"

#define NOW (100 * NS_PER_S)

static void the_first_copy_is_made_at_once(void **state)
{
	(void)state;
	const struct heapcopy never = {.copy_ns = 0};
	assert_int_equal(heapcopy_read_due_ns(&never), 0);
	assert_true(heapcopy_is_due(&never, NOW, 0));
	assert_true(heapcopy_is_due(&never, 1, GIB));
}

static void an_eighth_more_makes_a_copy_due(void **state)
{
	(void)state;
	const struct heapcopy last = {.copy_ns = NOW, .live_bytes = 800 * MIB};
	assert_false(heapcopy_is_due(&last, NOW + NS_PER_S, 800 * MIB));
	assert_false(heapcopy_is_due(&last, NOW + NS_PER_S, 900 * MIB - 9));
	assert_true(heapcopy_is_due(&last, NOW + NS_PER_S, 900 * MIB));
	assert_false(heapcopy_is_due(&last, NOW + NS_PER_S, 0));
}

static void after_ten_seconds_a_copy_is_due_whatever_lives(void **state)
{
	(void)state;
	const struct heapcopy last = {.copy_ns = NOW, .live_bytes = 800 * MIB};
	assert_false(heapcopy_is_due(&last, NOW + 10 * NS_PER_S - 1, 100 * MIB));
	assert_true(heapcopy_is_due(&last, NOW + 10 * NS_PER_S, 100 * MIB));
}

static void huge_amounts_do_not_overflow(void **state)
{
	(void)state;
	const struct heapcopy last = {.copy_ns = NOW, .live_bytes = UINT64_MAX};
	assert_false(heapcopy_is_due(&last, NOW + NS_PER_S, UINT64_MAX));
	const struct heapcopy half = {.copy_ns = NOW, .live_bytes = UINT64_MAX / 2};
	assert_true(heapcopy_is_due(&half, NOW + NS_PER_S, UINT64_MAX));
}

static void reading_takes_at_most_a_twentieth_of_the_time(void **state)
{
	(void)state;
	struct heapcopy last = {.read_ns = NOW, .took_ns = NS_PER_MS};
	assert_int_equal(heapcopy_read_due_ns(&last), NOW + 500 * NS_PER_MS);
	last.took_ns = 25 * NS_PER_MS;
	assert_int_equal(heapcopy_read_due_ns(&last), NOW + 500 * NS_PER_MS);
	last.took_ns = 200 * NS_PER_MS;
	assert_int_equal(heapcopy_read_due_ns(&last), NOW + 4 * NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_copy_is_made_at_once),
		cmocka_unit_test(an_eighth_more_makes_a_copy_due),
		cmocka_unit_test(after_ten_seconds_a_copy_is_due_whatever_lives),
		cmocka_unit_test(huge_amounts_do_not_overflow),
		cmocka_unit_test(reading_takes_at_most_a_twentieth_of_the_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
