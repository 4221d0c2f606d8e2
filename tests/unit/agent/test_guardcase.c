/* What is written into a case of what was measured before. */
#include "testing.h"

#include <stdlib.h>

#include "agent/guard/guardcase.h"

#define T0 INT64_C(1800000000000)

static struct guard_shm *shm; /* large */

static void sampled(int64_t at_ms, uint64_t mib)
{
	uint32_t n = atomic_load(&shm->history_n);
	shm->history[n % GUARD_HISTORY] = (struct guard_sample){
		.time_unix_ms = T0 + at_ms, .level[0] = {.used_bytes = mib * MIB, .total_bytes = 500 * MIB}};
	atomic_store(&shm->history_n, n + 1);
}

/* An attempt fills 320 MiB in 8 s, nothing runs for 8 s; the next one loads 200 MiB, and then fills 10 MiB a second. */
static void two_attempts(void)
{
	for (int64_t s = 0; s <= 8; s++)
		sampled(s * 1000, (uint64_t)s * 40);
	for (int64_t s = 9; s <= 16; s++)
		sampled(s * 1000, 0);
	for (int64_t s = 1; s <= 8; s++)
		sampled(16000 + s * 1000, 190 + (uint64_t)s * 10);
}

static int begin(void **state)
{
	(void)state;
	shm = calloc(1, sizeof(*shm));
	return shm ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	free(shm);
	return 0;
}

static void growth_is_that_of_the_attempt_that_runs(void **state)
{
	(void)state;
	two_attempts();
	atomic_store(&shm->growth_since_unix_ms, T0 + 16000);
	struct growth_said said = guardcase_growth(shm, 500 * MIB, 275 * MIB, T0 + 24500);
	assert_in_range(said.bytes_per_s, 9 * MIB, 11 * MIB);
	assert_in_range(said.over_ns, 2 * NS_PER_S, 8500 * NS_PER_MS);
}

static void what_the_guard_has_freed_is_no_part_of_it(void **state)
{
	(void)state;
	for (int64_t s = 0; s <= 4; s++)
		sampled(s * 1000, (uint64_t)s * 110);
	for (int64_t s = 0; s <= 3; s++)
		sampled(4500 + s * 1000, 200 + (uint64_t)s * 60); /* the largest rank was ended */
	atomic_store(&shm->growth_since_unix_ms, T0 + 4400);
	struct growth_said said = guardcase_growth(shm, 500 * MIB, 440 * MIB, T0 + 8500);
	assert_in_range(said.bytes_per_s, 59 * MIB, 61 * MIB);
}

static void without_either_it_is_all_that_is_known(void **state)
{
	(void)state;
	for (int64_t s = 0; s <= 8; s++)
		sampled(s * 1000, (uint64_t)s * 50);
	assert_in_range(guardcase_growth(shm, 500 * MIB, 450 * MIB, T0 + 9000).bytes_per_s, 49 * MIB, 51 * MIB);
	assert_int_equal(guardcase_growth(shm, 400 * MIB, 450 * MIB, T0 + 9000).over_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(growth_is_that_of_the_attempt_that_runs, begin, end),
		cmocka_unit_test_setup_teardown(what_the_guard_has_freed_is_no_part_of_it, begin, end),
		cmocka_unit_test_setup_teardown(without_either_it_is_all_that_is_known, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
