#include "testing.h"

#include "base/clock.h"
#include "model/hang/cadence.h"

/* n lines, so many seconds apart, from the last one on. */
static void lines(struct cadence *c, size_t n, double gap_s)
{
	uint64_t now_ns = c->last_ns ? c->last_ns : 1000 * NS_PER_S;
	for (size_t i = 0; i < n; i++) {
		now_ns += (uint64_t)(gap_s * 1e9);
		cadence_lines(c, now_ns);
	}
}

static void what_is_regular_is_missed_after_a_while(void **state)
{
	(void)state;
	struct cadence c = {.n_gaps = 0};
	double usual, missed;
	lines(&c, 24, 2);
	assert_false(cadence_known(&c, &usual, &missed)); /* 24 lines are 23 gaps */
	lines(&c, 1, 2);
	assert_true(cadence_known(&c, &usual, &missed));
	assert_true(usual > 1.99 && usual < 2.01 && missed > 59.9 && missed < 60.1);
	assert_false(cadence_is_old(&c));
	lines(&c, 40, 2);
	assert_true(cadence_is_old(&c));
	lines(&c, 60, 20);
	assert_true(cadence_known(&c, &usual, &missed));
	assert_true(usual > 19.9 && missed > 399 && missed < 401);
}

static void a_silence_that_was_before_is_a_habit(void **state)
{
	(void)state;
	struct cadence c = {.n_gaps = 0};
	double usual, missed;
	lines(&c, 40, 1);
	lines(&c, 1, 300);
	lines(&c, 40, 1);
	assert_true(cadence_known(&c, &usual, &missed));
	assert_true(usual < 1.01 && missed > 1199 && missed < 1201);
	lines(&c, 200, 1); /* also long after */
	assert_true(cadence_known(&c, &usual, &missed) && missed > 1199);
}

static void lines_that_come_as_they_like_are_not_missed(void **state)
{
	(void)state;
	struct cadence c = {.n_gaps = 0};
	double usual, missed;
	for (int i = 0; i < 30; i++) {
		lines(&c, 4, 1);
		lines(&c, 1, 30);
	}
	assert_false(cadence_known(&c, &usual, &missed));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_regular_is_missed_after_a_while),
		cmocka_unit_test(a_silence_that_was_before_is_a_habit),
		cmocka_unit_test(lines_that_come_as_they_like_are_not_missed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
