#include "testing.h"

#include "model/hang/steptrend.h"

#include <math.h>

/* Noise of up to a part of the value, the same at each run. */
static double noisy(double s, double part, size_t i)
{
	return s * (1 + part * sin((double)i * 12.9898 + (double)(i % 7)));
}

static void a_break_is_one_jump(void **state)
{
	(void)state;
	static const size_t after[] = {16, 17, 18, 19, 24, 40, 100};
	for (size_t a = 0; a < ARRAY_SIZE(after); a++)
		for (size_t n = 60; n <= 300; n += 60) {
			double s[300];
			for (size_t i = 0; i < n; i++)
				s[i] = noisy(i + after[a] >= n ? 1.5 : 1, 0.05, i);
			double jump = steptrend_jump(s, n);
			if (after[a] <= n - 8 && (jump < 0.4 || jump > 0.65))
				fail_msg("%zu steps, half as long again for the last %zu: %.2f", n, after[a], jump);
		}
}

static void what_grows_with_each_step_has_small_jumps(void **state)
{
	(void)state;
	double s[300];
	for (size_t i = 0; i < 300; i++)
		s[i] = noisy(0.5 + 0.006 * (double)i, 0.02, i);
	assert_true(steptrend_jump(s, 300) < 0.15);
	for (size_t i = 0; i < 108; i++) /* by the plan, an eighth more every twelve steps */
		s[i] = noisy(0.45 * (1 + 0.125 * (double)(i / 12)), 0.01, i);
	assert_true(steptrend_jump(s, 108) < 0.08);
}

static void long_steps_here_and_there_change_nothing(void **state)
{
	(void)state;
	double s[120];
	for (size_t i = 0; i < 120; i++)
		s[i] = i % 11 == 5 ? 20 : 1;
	assert_float_equal(steptrend_jump(s, 120), 0, 1e-9);
}

static void shorter_few_and_equal_steps_have_none(void **state)
{
	(void)state;
	double s[64];
	for (size_t i = 0; i < 64; i++)
		s[i] = 2 - 0.01 * (double)i;
	assert_float_equal(steptrend_jump(s, 64), 0, 1e-9);
	for (size_t i = 0; i < 64; i++)
		s[i] = (double)i;
	assert_float_equal(steptrend_jump(s, 15), 0, 1e-9);
	assert_float_equal(steptrend_jump(s, 0), 0, 1e-9);
	assert_float_equal(steptrend_jump(s, 16), 8, 1e-9);
}

/* Looks a second apart, each at this many seconds a step. */
static bool lately(double before_s, double now_s, size_t n_now, double pause_s)
{
	static struct liveness_set p;
	p = (struct liveness_set){.n_gaps = 32};
	for (size_t i = 0; i < 32; i++) {
		double step_s = i + n_now >= 32 ? now_s : before_s;
		p.gap_step_s[i] = (float)(i == 28 && pause_s > 0 ? pause_s : step_s);
		p.gap_s[i] = (float)(i == 28 && pause_s > 0 ? pause_s : 1.2);
	}
	double slower = 0;
	if (!steptrend_slower_lately(&p, &slower))
		return false;
	assert_float_equal((float)slower, (float)(now_s / before_s - 1), 1e-4f);
	return true;
}

static void a_pause_is_no_slower_pace(void **state)
{
	(void)state;
	assert_true(lately(0.5, 0.8, 10, 0));
	assert_false(lately(0.5, 0.5, 10, 0));
	assert_false(lately(0.5, 0.5, 10, 8)); /* a checkpoint: the mean step is long, the others are as ever */
	assert_false(lately(0.8, 0.5, 10, 0));
	assert_false(lately(0.5, 0.8, 3, 0));
	assert_true(lately(0.5, 0.8, 20, 0)); /* for a while already */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_break_is_one_jump),
		cmocka_unit_test(what_grows_with_each_step_has_small_jumps),
		cmocka_unit_test(long_steps_here_and_there_change_nothing),
		cmocka_unit_test(shorter_few_and_equal_steps_have_none),
		cmocka_unit_test(a_pause_is_no_slower_pace),
	};
	return cmocka_run_group_tests_name("model/hang/steptrend", tests, NULL, NULL);
}
