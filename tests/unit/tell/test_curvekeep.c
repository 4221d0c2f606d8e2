#include "testing.h"

#include <math.h>

#include "base/buf.h"
#include "tell/jobs/curvekeep.h"

static void a_value_that_holds_is_not_told_again(void **state)
{
	(void)state;
	cleanup(curvekeep_done) struct curvekeep k = {.n = 0};
	assert_true(curvekeep_changes(&k, 10, "CPU", 0, 0));
	assert_false(curvekeep_changes(&k, 10, "CPU", 0, 0));
	assert_true(curvekeep_changes(&k, 10, "CPU", 1, 0));
	assert_true(curvekeep_changes(&k, 10, "CPU", 1, 0.5));
	assert_false(curvekeep_changes(&k, 10, "CPU", 1, 0.5));
	assert_true(curvekeep_changes(&k, 10, "CPU", 0, 0));
}

static void curves_are_apart_by_lane_and_name_in_any_order(void **state)
{
	(void)state;
	cleanup(curvekeep_done) struct curvekeep k = {.n = 0};
	static const char *const names[] = {"CPU", "memory", "disk"};
	for (int64_t lane = 1; lane <= 20; lane++)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			assert_true(curvekeep_changes(&k, lane, names[i], (double)lane, (double)i));
	for (int64_t lane = 20; lane >= 1; lane--)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			char name[16]; /* another place of the same name */
			TEXT_COPY(name, names[i]);
			assert_false(curvekeep_changes(&k, lane, name, (double)lane, (double)i));
		}
	assert_int_equal(k.n, 60);
}

static void what_is_no_number_is_always_told(void **state)
{
	(void)state;
	cleanup(curvekeep_done) struct curvekeep k = {.n = 0};
	assert_true(curvekeep_changes(&k, 1, "CPU", (double)NAN, 0));
	assert_true(curvekeep_changes(&k, 1, "CPU", (double)NAN, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_that_holds_is_not_told_again),
		cmocka_unit_test(curves_are_apart_by_lane_and_name_in_any_order),
		cmocka_unit_test(what_is_no_number_is_always_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
