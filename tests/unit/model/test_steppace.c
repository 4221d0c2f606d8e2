/* How fast steps usually go, from looks at how far a job is. */
#include "testing.h"

#include "model/jobs/steppace.h"

#include <math.h>

#define BEGAN INT64_C(1700000000000)

static struct steppace pace;
static int64_t now_ms;
static double step;

static int begin(void **state)
{
	(void)state;
	pace = (struct steppace){.n = 0};
	now_ms = BEGAN;
	step = 0;
	steppace_take(&pace, 1, now_ms, 0);
	return 0;
}

/* A look every second. */
static void runs(unsigned seconds, double per_s)
{
	for (unsigned i = 0; i < seconds; i++) {
		now_ms += 1000;
		step += per_s;
		steppace_take(&pace, 1, now_ms, (uint64_t)step);
	}
}

static void nothing_is_usual_yet_of_a_job_that_has_just_begun(void **state)
{
	(void)state;
	assert_true(steppace_usual(&pace) == 0);
	runs(170, 2);
	assert_true(steppace_usual(&pace) == 0);
	runs(30, 2);
	assert_true(fabs(steppace_usual(&pace) - 2) < 0.05);
}

static void a_job_that_was_fast_at_first_is_not_as_usual(void **state)
{
	(void)state;
	runs(17, 5);
	runs(300, 1.0 / 3);
	assert_true(pace.start_per_s > 4 && fabs(steppace_usual(&pace) - pace.start_per_s) < 0.05);
	runs(1800, 1.0 / 3);
	assert_true(fabs(steppace_usual(&pace) - 1.0 / 3) < 0.05);
}

static void few_steps_are_no_habit(void **state)
{
	(void)state;
	runs(600, 1.0 / 40);
	assert_true(steppace_usual(&pace) == 0);
	runs(600, 1.0 / 40);
	assert_true(fabs(steppace_usual(&pace) - 1.0 / 40) < 0.002);
}

static void the_last_minute_is_not_what_is_usual(void **state)
{
	(void)state;
	runs(300, 2.4);
	runs(60, 0.5);
	assert_true(fabs(steppace_usual(&pace) - 2.4) < 0.05);
}

static void pauses_and_the_first_step_move_it_little(void **state)
{
	(void)state;
	runs(100, 0.01);
	for (int i = 0; i < 20; i++) {
		runs(200, 4);
		runs(30, 0);
	}
	assert_true(fabs(steppace_usual(&pace) - 4) < 0.5);
}

static void a_day_has_room(void **state)
{
	(void)state;
	runs(86400, 3);
	assert_true(pace.n <= STEPPACE_MARKS && pace.n >= STEPPACE_MARKS / 2);
	assert_true(fabs(steppace_usual(&pace) - 3) < 0.05);
}

static void each_epoch_counts_from_nought(void **state)
{
	(void)state;
	for (int epoch = 0; epoch < 10; epoch++) {
		step = 0;
		runs(50, 5);
	}
	assert_true(fabs(steppace_usual(&pace) - 5) < 0.3);
}

static void another_attempt_begins_anew(void **state)
{
	(void)state;
	runs(600, 2);
	assert_true(steppace_usual(&pace) > 0);
	steppace_take(&pace, 2, now_ms + 1000, 10);
	assert_true(steppace_usual(&pace) == 0);
	assert_int_equal(pace.n, 1);
}

static void a_clock_that_was_set_back_is_passed_over(void **state)
{
	(void)state;
	runs(300, 2);
	steppace_take(&pace, 1, BEGAN, 5);
	assert_true(fabs(steppace_usual(&pace) - 2) < 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_is_usual_yet_of_a_job_that_has_just_begun, begin),
		cmocka_unit_test_setup(few_steps_are_no_habit, begin),
cmocka_unit_test_setup(a_job_that_was_fast_at_first_is_not_as_usual, begin),
		cmocka_unit_test_setup(the_last_minute_is_not_what_is_usual, begin),
		cmocka_unit_test_setup(pauses_and_the_first_step_move_it_little, begin),
		cmocka_unit_test_setup(a_day_has_room, begin),
		cmocka_unit_test_setup(each_epoch_counts_from_nought, begin),
		cmocka_unit_test_setup(another_attempt_begins_anew, begin),
		cmocka_unit_test_setup(a_clock_that_was_set_back_is_passed_over, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
