#include "testing.h"

#include "sense/death/streamorder.h"

static const uint64_t step_ns = 50 * NS_PER_MS;

static void what_came_on_stdout_after_a_place_in_stderr_is_known(void **state)
{
	(void)state;
	struct streamorder o = {.n = 0};
	struct streamorder_part part;
	streamorder_out(&o, 10, 1 * step_ns);
	streamorder_err(&o, 100);
	streamorder_err(&o, 20); /* the same place */
	assert_false(streamorder_after(&o, 0, &part));
	streamorder_out(&o, 5, 2 * step_ns);
	streamorder_out(&o, 5, 3 * step_ns);
	assert_false(streamorder_after(&o, 0, &part)); /* nothing more was said on stderr */
	streamorder_err(&o, 7);
	assert_true(streamorder_after(&o, 119, &part));
	assert_int_equal(part.out_from, 10);
	assert_int_equal(part.out_to, 20);
	assert_int_equal(part.bursts, 2);
	assert_false(streamorder_after(&o, 120, &part));
	o.lost = true;
	assert_false(streamorder_after(&o, 0, &part));
}

static void what_came_on_stdout_after_all_of_stderr_is_known(void **state)
{
	(void)state;
	struct streamorder o = {.n = 0};
	struct streamorder_part part;
	assert_false(streamorder_after_last(&o, &part));
	streamorder_out(&o, 10, 1 * step_ns);
	streamorder_err(&o, 100);
	assert_false(streamorder_after_last(&o, &part));
	streamorder_out(&o, 5, 2 * step_ns);
	streamorder_out(&o, 5, 3 * step_ns);
	assert_true(streamorder_after_last(&o, &part));
	assert_int_equal(part.out_from, 10);
	assert_int_equal(part.out_to, 20);
	assert_int_equal(part.bursts, 2);
	o.lost = true;
	assert_false(streamorder_after_last(&o, &part));
}

static void what_is_flushed_at_once_is_one_burst(void **state)
{
	(void)state;
	struct streamorder o = {.n = 0};
	struct streamorder_part part;
	streamorder_err(&o, 100);
	for (unsigned i = 0; i < 5; i++)
		streamorder_out(&o, 8192, step_ns + i * NS_PER_MS);
	streamorder_err(&o, 1);
	assert_true(streamorder_after(&o, 0, &part));
	assert_int_equal(part.bursts, 1);
}

static void of_many_changes_the_latest_are_known(void **state)
{
	(void)state;
	struct streamorder o = {.n = 0};
	struct streamorder_part part;
	for (unsigned i = 0; i < 2 * STREAMORDER_MARKS; i++) {
		streamorder_err(&o, 10);
		streamorder_out(&o, 1, i * step_ns);
	}
	assert_false(streamorder_after(&o, 10 * STREAMORDER_MARKS - 1, &part));
	assert_true(streamorder_after(&o, 10 * STREAMORDER_MARKS, &part));
	assert_int_equal(part.out_from, STREAMORDER_MARKS);
	assert_int_equal(part.out_to, 2 * STREAMORDER_MARKS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_on_stdout_after_a_place_in_stderr_is_known),
		cmocka_unit_test(what_came_on_stdout_after_all_of_stderr_is_known),
		cmocka_unit_test(what_is_flushed_at_once_is_one_burst),
		cmocka_unit_test(of_many_changes_the_latest_are_known),
	};
	return cmocka_run_group_tests_name("sense/death/streamorder", tests, NULL, NULL);
}
