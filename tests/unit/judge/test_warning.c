#include "testing.h"

#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "judge/memory/warning.h"

static const struct guard_settings usual = {.threshold_ratio = 0.95, .warn_ratio = 0.85};

static struct ledger_level level(uint64_t used_permille)
{
	return (struct ledger_level){.total_bytes = 1000 * MIB, .used_bytes = used_permille * MIB};
}

static bool due(struct warning_state *w, uint64_t used_permille, uint64_t s)
{
	struct ledger_level v = level(used_permille);
	return warning_due(w, &usual, &v, s * NS_PER_S);
}

static void it_is_told_once_and_again_only_after_memory_was_much_lower(void **state)
{
	(void)state;
	struct warning_state w = {.since_ns = 0};
	assert_false(due(&w, 840, 1));
	assert_false(due(&w, 860, 2));
	assert_false(due(&w, 870, 3));
	assert_true(due(&w, 870, 4));
	assert_false(due(&w, 940, 50));
	assert_false(due(&w, 840, 51)); /* just below, and back */
	assert_false(due(&w, 860, 52));
	assert_false(due(&w, 860, 60));
	assert_false(due(&w, 700, 70));
	assert_false(due(&w, 860, 80));
	assert_true(due(&w, 860, 82));
}

static void who_crosses_for_a_moment_is_not_spoken_of(void **state)
{
	(void)state;
	struct warning_state w = {.since_ns = 0};
	assert_false(due(&w, 900, 1));
	assert_false(due(&w, 800, 2));
	assert_false(due(&w, 900, 4));
	assert_true(due(&w, 900, 6));
}

static void it_comes_before_the_guard_acts_whatever_was_asked(void **state)
{
	(void)state;
	struct guard_settings s = {.threshold_ratio = 0.5, .warn_ratio = 0.85};
	assert_in_range(warning_threshold(&s, 1000 * MIB), 449 * MIB, 450 * MIB);
	s.warn_ratio = 0;
	assert_true(warning_threshold(&s, GIB) == UINT64_MAX);
	s = (struct guard_settings){.threshold_ratio = 0, .warn_ratio = 0.85};
	assert_true(warning_threshold(&s, GIB) == UINT64_MAX);
}

static void the_text_says_who_grows_and_when_it_is_full(void **state)
{
	(void)state;
	char text[600];
	struct warning_facts f = {.used_bytes = 870 * MIB,
				  .total_bytes = 1000 * MIB,
				  .available_bytes = 130 * MIB,
				  .threshold_bytes = 950 * MIB,
				  .growth_bytes_per_s = MIB,
				  .growth_over_ms = 120000,
				  .has_grower = true};
	TEXT_COPY(f.level, "control group /a");
	f.grower = (struct incident_grower){.pid = 12, .rank = 1, .grown_bytes = 100 * MIB, .over_ms = 90000};
	TEXT_COPY(f.grower.name, "python3");
	TEXT_COPY(f.grower.role, "worker");
	warning_text(&f, text, sizeof(text));
	assert_non_null(strstr(text, "the guard acts in 1 m 20 s, and it would be full in 2 m 10 s"));
	assert_non_null(strstr(text, "pid 12 (python3, worker) of rank 1, by 100 MiB in 1 m 30 s"));
	f.growth_over_ms = 0;
	f.has_grower = false;
	warning_text(&f, text, sizeof(text));
	assert_non_null(strstr(text, "it does not grow at present"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_told_once_and_again_only_after_memory_was_much_lower),
		cmocka_unit_test(who_crosses_for_a_moment_is_not_spoken_of),
		cmocka_unit_test(it_comes_before_the_guard_acts_whatever_was_asked),
		cmocka_unit_test(the_text_says_who_grows_and_when_it_is_full),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
