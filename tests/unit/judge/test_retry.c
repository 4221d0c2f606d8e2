#include "testing.h"

#include "judge/death/retry.h"

static const struct retry_settings three = {.max = 3, .on_memory = true, .backoff_ns = NS_PER_S};

static struct retry_attempt killed(uint64_t lived_s, uint64_t peak, uint64_t line)
{
	return (struct retry_attempt){.kind = INCIDENT_MEMORY_KILL, .lived_ns = lived_s * NS_PER_S, .peak_bytes = peak,
				      .has_last_line = line != 0, .last_line_hash = line};
}

static void a_memory_death_is_retried_with_growing_delays(void **state)
{
	(void)state;
	struct retry_attempt h[] = {killed(10, GIB, 1), killed(50, 2 * GIB, 2), killed(99, 3 * GIB, 3),
				    killed(150, 4 * GIB, 4)};
	struct retry_decision d;
	retry_decide(&three, h, 1, &d);
	assert_int_equal(d.next, RETRY_RETRY);
	assert_true(d.delay_ns == NS_PER_S);
	retry_decide(&three, h, 2, &d);
	assert_true(d.delay_ns == 2 * NS_PER_S);
	retry_decide(&three, h, 3, &d);
	assert_true(d.delay_ns == 4 * NS_PER_S);
	retry_decide(&three, h, 4, &d);
	assert_int_equal(d.next, RETRY_GIVE_UP);
}

static void deaths_for_memory_are_counted_apart(void **state)
{
	(void)state;
	struct retry_attempt crash = {.kind = INCIDENT_CRASH};
	struct retry_attempt h[] = {crash, killed(10, GIB, 1), crash};
	struct retry_settings one = {.max = 1, .on_any = true, .backoff_ns = NS_PER_S};
	struct retry_decision d;
	retry_decide(&one, h, 2, &d);
	assert_int_equal(d.next, RETRY_RETRY);
	assert_true(d.delay_ns == NS_PER_S);
	retry_decide(&one, h, 3, &d);
	assert_int_equal(d.next, RETRY_GIVE_UP);
}

static void the_same_death_twice_is_given_up_with_the_bytes_it_needs(void **state)
{
	(void)state;
	struct retry_attempt h[] = {killed(10, 4 * GIB, 7), killed(11, 4 * GIB + MIB, 7)};
	struct retry_decision d;
	retry_decide(&three, h, 2, &d);
	assert_int_equal(d.next, RETRY_GIVE_UP);
	assert_non_null(strstr(d.reason, "4.00 GiB"));
}

static void progress_or_silence_is_no_reason_to_give_up(void **state)
{
	(void)state;
	struct retry_attempt progress[] = {killed(10, 4 * GIB, 7), killed(11, 4 * GIB, 8)};
	struct retry_attempt silent[] = {killed(10, 4 * GIB, 0), killed(11, 4 * GIB, 0)};
	struct retry_attempt longer[] = {killed(10, 4 * GIB, 7), killed(60, 4 * GIB, 7)};
	struct retry_decision d;
	retry_decide(&three, progress, 2, &d);
	assert_int_equal(d.next, RETRY_RETRY);
	retry_decide(&three, silent, 2, &d);
	assert_int_equal(d.next, RETRY_RETRY);
	retry_decide(&three, longer, 2, &d);
	assert_int_equal(d.next, RETRY_RETRY);
}

static void only_the_named_kinds_are_retried(void **state)
{
	(void)state;
	struct retry_attempt crash = {.kind = INCIDENT_CRASH}, hang = {.kind = INCIDENT_HANG},
			     fine = {.kind = INCIDENT_CLEAN_EXIT}, oom = {.kind = INCIDENT_KERNEL_OOM};
	struct retry_settings any = three, crashes = three;
	struct retry_decision d;
	any.on_any = true;
	crashes.on_crash = true;
	retry_decide(&three, &crash, 1, &d);
	assert_int_equal(d.next, RETRY_NONE);
	retry_decide(&three, &oom, 1, &d);
	assert_int_equal(d.next, RETRY_RETRY);
	retry_decide(&crashes, &crash, 1, &d);
	assert_int_equal(d.next, RETRY_RETRY);
	retry_decide(&crashes, &hang, 1, &d);
	assert_int_equal(d.next, RETRY_NONE);
	retry_decide(&any, &hang, 1, &d);
	assert_int_equal(d.next, RETRY_RETRY);
	retry_decide(&any, &fine, 1, &d);
	assert_int_equal(d.next, RETRY_NONE);
}

static void a_job_that_was_asked_to_end_is_not_started_again(void **state)
{
	(void)state;
	struct retry_attempt a = killed(5, GIB, 1);
	struct retry_decision d;
	a.stopping = true;
	retry_decide(&three, &a, 1, &d);
	assert_int_equal(d.next, RETRY_NONE);
}

static void the_delay_stays_within_a_minute(void **state)
{
	(void)state;
	struct retry_settings many = {.max = 40, .on_memory = true, .backoff_ns = NS_PER_S};
	struct retry_attempt h[30];
	struct retry_decision d;
	for (uint64_t i = 0; i < 30; i++)
		h[i] = killed(i, i * GIB, i + 1);
	retry_decide(&many, h, 30, &d);
	assert_true(d.delay_ns == 60 * NS_PER_S);
	many.backoff_ns = 300 * NS_PER_S;
	retry_decide(&many, h, 2, &d);
	assert_true(d.delay_ns == 300 * NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_memory_death_is_retried_with_growing_delays),
		cmocka_unit_test(deaths_for_memory_are_counted_apart),
		cmocka_unit_test(the_same_death_twice_is_given_up_with_the_bytes_it_needs),
		cmocka_unit_test(progress_or_silence_is_no_reason_to_give_up),
		cmocka_unit_test(only_the_named_kinds_are_retried),
		cmocka_unit_test(a_job_that_was_asked_to_end_is_not_started_again),
		cmocka_unit_test(the_delay_stays_within_a_minute),
	};
	return cmocka_run_group_tests_name("judge/death/retry", tests, NULL, NULL);
}
