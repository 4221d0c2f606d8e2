#include "testing.h"

#include "judge/map/halt.h"

static enum halt_when judged(const char *text, uint64_t failed, uint64_t succeeded, uint64_t total)
{
	struct halt h;
	struct fault f = {.text = ""};
	assert_int_equal(halt_parse(text, &h, &f), 0);
	return halt_judge(&h, failed, succeeded, total);
}

static void a_number_is_reached_by_what_it_counts(void **state)
{
	(void)state;
	assert_int_equal(judged("never", 9, 9, 9), HALT_NEVER);
	assert_int_equal(judged("0", 9, 9, 9), HALT_NEVER);
	assert_int_equal(judged("now,fail=2", 1, 8, 0), HALT_NEVER);
	assert_int_equal(judged("now,fail=2", 2, 0, 0), HALT_NOW);
	assert_int_equal(judged("soon,fail", 1, 0, 0), HALT_SOON);
	assert_int_equal(judged("1", 1, 0, 0), HALT_SOON);
	assert_int_equal(judged("2", 1, 0, 0), HALT_NOW);
	assert_int_equal(judged("soon,success=3", 5, 2, 0), HALT_NEVER);
	assert_int_equal(judged("soon,success=3", 0, 3, 0), HALT_SOON);
	assert_int_equal(judged("now,done=3", 1, 2, 0), HALT_NOW);
}

static void a_share_is_of_all_tasks(void **state)
{
	(void)state;
	assert_int_equal(judged("soon,fail=20%", 1, 8, 10), HALT_NEVER);
	assert_int_equal(judged("soon,fail=20%", 2, 0, 10), HALT_SOON);
	assert_int_equal(judged("now,fail=5%", 1, 0, 10), HALT_NOW);
	assert_int_equal(judged("soon,fail=50%", 4, 0, 10), HALT_NEVER);
	assert_int_equal(judged("soon,fail=50%", 5, 0, 10), HALT_SOON);
	assert_int_equal(judged("soon,fail=20%", 5, 0, 0), HALT_NEVER);
}

static void short_forms_are_known(void **state)
{
	(void)state;
	assert_int_equal(judged("-1", 5, 0, 0), HALT_NEVER);
	assert_int_equal(judged("-1", 5, 1, 0), HALT_SOON);
	assert_int_equal(judged("-2", 5, 1, 0), HALT_NOW);
	assert_int_equal(judged("30%", 2, 0, 10), HALT_NEVER);
	assert_int_equal(judged("30%", 3, 0, 10), HALT_SOON);
}

static void anything_else_is_refused_with_what_was_expected(void **state)
{
	(void)state;
	static const char *const bad[] = {"",
					  "soon",
					  "now,",
					  "soon,fail=",
					  "soon,fail=0",
					  "later,fail=1",
					  "now,fails=1",
					  "now,fail=-1",
					  "now,fail=0%",
					  "now,fail=101%",
					  "3",
					  "-3",
					  "0%",
					  "%",
					  "never,fail=1"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct halt h;
		struct fault f = {.text = ""};
		assert_int_equal(halt_parse(bad[i], &h, &f), -EINVAL);
		assert_non_null(strstr(f.text, "now,fail=1"));
	}
}

static int status_of(const char *text, const struct map_tally *t)
{
	struct halt h;
	struct fault f = {.text = ""};
	assert_int_equal(halt_parse(text, &h, &f), 0);
	return map_exit_status(&h, t, 10);
}

static void the_exit_status_counts_failures(void **state)
{
	(void)state;
	assert_int_equal(status_of("never", &(struct map_tally){.succeeded = 4}), 0);
	assert_int_equal(status_of("never", &(struct map_tally){.failed = 3, .succeeded = 4}), 3);
	assert_int_equal(status_of("never", &(struct map_tally){.failed = 5000}), 101);
	assert_int_equal(status_of("never", &(struct map_tally){.failed = 3, .for_memory = true}), 137);
	assert_int_equal(status_of("never", &(struct map_tally){.failed = 3, .stop_signal = 15}), 143);
}

static void with_halt_the_exit_status_is_of_what_was_waited_for(void **state)
{
	(void)state;
	const struct map_tally one = {.failed = 3, .succeeded = 4, .halted = true, .halt_status = 7};
	assert_int_equal(status_of("now,fail=1", &one), 7);
	assert_int_equal(status_of("now,fail=3", &one), 3);
	assert_int_equal(status_of("soon,fail=20%", &one), 30); /* 3 of all 10 */
	assert_int_equal(status_of("soon,success=4", &one), 0);
	const struct map_tally never = {.failed = 1, .succeeded = 5};
	assert_int_equal(status_of("now,success=30%", &never), 17); /* 1 of 6, rounded up */
	assert_int_equal(status_of("now,fail=2", &never), 1);
	assert_int_equal(status_of("now,fail=2%", &(struct map_tally){.failed = 0}), 0);
	assert_int_equal(status_of("soon,fail=20%", &(struct map_tally){.failed = 3, .for_memory = true}), 137);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_reached_by_what_it_counts),
		cmocka_unit_test(a_share_is_of_all_tasks),
		cmocka_unit_test(short_forms_are_known),
		cmocka_unit_test(anything_else_is_refused_with_what_was_expected),
		cmocka_unit_test(the_exit_status_counts_failures),
		cmocka_unit_test(with_halt_the_exit_status_is_of_what_was_waited_for),
	};
	return cmocka_run_group_tests_name("judge/map/halt", tests, NULL, NULL);
}
