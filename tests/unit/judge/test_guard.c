#include "testing.h"

#include "judge/memory/guard.h"

static const struct guard_settings usual = {.threshold_ratio = 0.95, .reaction_ns = 10 * NS_PER_MS,
					     .fastest_bytes_per_s = 10 * GIB};

static void add_level(struct ledger *l, uint64_t total, uint64_t used)
{
	l->level[l->n++] = (struct ledger_level){.total_bytes = total, .used_bytes = used,
						 .available_bytes = total > used ? total - used : 0};
}

static void the_fullest_level_decides(void **state)
{
	(void)state;
	struct guard_history m = {0};
	struct guard_step step;
	struct ledger l = {.mono_ns = NS_PER_S};
	add_level(&l, 100 * GIB, 10 * GIB);
	add_level(&l, 4 * GIB, 39 * GIB / 10);
	add_level(&l, 8 * GIB, 1 * GIB);
	guard_judge(&m, &usual, &l, 0, &step);
	assert_int_equal(step.state, GUARD_ACT);
	assert_int_equal(step.level, 1);
	assert_true(step.deficit_bytes >= 39 * GIB / 10 - (uint64_t)(0.95 * 4 * (double)GIB));
}

static void a_level_without_size_is_passed_over(void **state)
{
	(void)state;
	struct guard_history m = {0};
	struct guard_step step;
	struct ledger l = {.mono_ns = NS_PER_S};
	add_level(&l, 0, 5);
	guard_judge(&m, &usual, &l, 0, &step);
	assert_int_equal(step.state, GUARD_OK);
	l.n = 0;
	guard_judge(&m, &usual, &l, 0, &step);
	assert_int_equal(step.state, GUARD_OK);
	assert_true(step.next_ns > 0);
}

static void use_above_the_total_is_an_emergency_not_an_overflow(void **state)
{
	(void)state;
	struct guard_history m = {0};
	struct guard_step step;
	struct ledger l = {.mono_ns = NS_PER_S};
	add_level(&l, GIB, 3 * GIB);
	guard_judge(&m, &usual, &l, 0, &step);
	assert_int_equal(step.state, GUARD_EMERGENCY);
	assert_true(step.deficit_bytes >= 2 * GIB && step.deficit_bytes < 3 * GIB);
}

static void an_event_lets_the_guard_look_away_longer(void **state)
{
	(void)state;
	struct guard_history a = {0}, b = {0};
	struct guard_step polled, covered;
	struct ledger l = {.mono_ns = NS_PER_S};
	add_level(&l, GIB, 300 * MIB);
	guard_judge(&a, &usual, &l, 0, &polled);
	guard_judge(&b, &usual, &l, 1, &covered);
	assert_true(polled.next_ns < 100 * NS_PER_MS);
	assert_true(covered.next_ns >= NS_PER_S);
}

/* A sawtooth's last point may lie in a trough, where nothing seems to grow. */
static void a_level_that_is_nearly_full_is_looked_at_though_it_tells_by_itself(void **state)
{
	(void)state;
	struct guard_history m = {0};
	struct guard_step step;
	struct ledger l = {.mono_ns = NS_PER_S};
	add_level(&l, 600 * MIB, 530 * MIB);
	guard_judge(&m, &usual, &l, 1, &step);
	assert_int_equal(step.state, GUARD_OK);
	assert_true(step.next_ns <= 250 * NS_PER_MS);
}

/* 40 MiB a second: whenever the guard has looked, it warns at least a second before the threshold. */
static void a_steady_growth_is_warned_of_in_time(void **state)
{
	(void)state;
	for (uint64_t first = 0; first < 2000; first += 50) {
		struct guard_history m = {0};
		struct guard_step step = {.state = GUARD_OK};
		uint64_t at_ns = NS_PER_S + first * NS_PER_MS, begun_ns = NS_PER_S;
		uint64_t used = 0;
		for (int looks = 0; looks < 1000 && step.state == GUARD_OK; looks++) {
			used = (uint64_t)((double)(at_ns - begun_ns) / 1e9 * 40 * (double)MIB);
			struct ledger l = {.mono_ns = at_ns};
			add_level(&l, 400 * MIB, used);
			guard_judge(&m, &usual, &l, 1, &step);
			at_ns += step.next_ns;
		}
		assert_int_equal(step.state, GUARD_WARN);
		assert_true(used + 40 * MIB <= 380 * MIB);
	}
}

static void the_rate_is_the_worst_of_three_windows(void **state)
{
	(void)state;
	struct guard_history m = {0};
	struct guard_step step;
	for (uint64_t i = 0; i <= 30; i++) { /* flat for 3 s, then 1 GiB/s for 0.1 s */
		struct ledger l = {.mono_ns = NS_PER_S + i * 100 * NS_PER_MS};
		add_level(&l, 100 * GIB, 10 * GIB + (i == 30 ? GIB / 10 : 0));
		guard_judge(&m, &usual, &l, 0, &step);
	}
	assert_true(step.rate_bytes_per_s > 9 * GIB / 10 && step.rate_bytes_per_s < 11 * GIB / 10);
}

static void a_clock_that_stands_still_gives_no_rate(void **state)
{
	(void)state;
	struct guard_history m = {0};
	struct guard_step step;
	struct ledger l = {.mono_ns = NS_PER_S};
	add_level(&l, GIB, 100 * MIB);
	guard_judge(&m, &usual, &l, 0, &step);
	l.level[0].used_bytes = 500 * MIB;
	guard_judge(&m, &usual, &l, 0, &step);
	assert_int_equal(step.rate_bytes_per_s, 0);
	assert_int_equal(step.state, GUARD_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fullest_level_decides),
		cmocka_unit_test(a_level_without_size_is_passed_over),
		cmocka_unit_test(use_above_the_total_is_an_emergency_not_an_overflow),
		cmocka_unit_test(an_event_lets_the_guard_look_away_longer),
		cmocka_unit_test(a_level_that_is_nearly_full_is_looked_at_though_it_tells_by_itself),
		cmocka_unit_test(a_steady_growth_is_warned_of_in_time),
		cmocka_unit_test(the_rate_is_the_worst_of_three_windows),
		cmocka_unit_test(a_clock_that_stands_still_gives_no_rate),
	};
	return cmocka_run_group_tests_name("judge/memory/guard", tests, NULL, NULL);
}
