#include "testing.h"

#include "base/units.h"
#include "model/jobs/bulk.h"

static struct usage_process sized(pid_t pid, uint64_t mib)
{
	return (struct usage_process){.pid = pid, .start_ticks = (uint64_t)pid * 7, .own_bytes = mib * MIB};
}

static void large_processes_are_told_apart_and_small_ones_are_not(void **state)
{
	(void)state;
	struct bulk b = {.n = 0};
	const struct usage_process now[] = {sized(3, 300), sized(5, 15), sized(7, 16), sized(9, 100)};
	bulk_choose(&b, now, ARRAY_SIZE(now));
	assert_int_equal(b.n, 3);
	assert_int_equal(b.of[0].pid, 3);
	assert_int_equal(b.of[1].pid, 7);
	assert_int_equal(b.of[2].pid, 9);
	assert_int_equal(b.of[2].own_bytes, 100 * MIB);
	assert_int_equal(b.of[2].start_ticks, 63);
}

static void of_many_alike_none_is_told_apart_but_the_one_that_grows(void **state)
{
	(void)state;
	struct bulk b = {.n = 0};
	struct usage_process now[64];
	for (int i = 0; i < 64; i++)
		now[i] = sized(i + 1, 100);
	bulk_choose(&b, now, ARRAY_SIZE(now));
	assert_int_equal(b.n, 0);
	now[40].own_bytes = 300 * MIB;
	bulk_choose(&b, now, ARRAY_SIZE(now));
	assert_int_equal(b.n, 1);
	assert_int_equal(b.of[0].pid, 41);
}

static void there_are_at_most_sixteen_the_largest(void **state)
{
	(void)state;
	struct bulk b = {.n = 0};
	struct usage_process now[24];
	for (int i = 0; i < 24; i++)
		now[i] = sized(i + 1, (uint64_t)(1000 + i));
	bulk_choose(&b, now, ARRAY_SIZE(now));
	assert_int_equal(b.n, BULK_MOST);
	for (size_t i = 0; i < b.n; i++)
		assert_int_equal(b.of[i].pid, 9 + i);
}

static void who_is_told_apart_stays_so_beside_others_of_its_size(void **state)
{
	(void)state;
	struct bulk b = {.n = 0};
	struct usage_process now[24];
	for (int i = 0; i < 24; i++)
		now[i] = sized(i + 1, (uint64_t)(1000 + i));
	bulk_choose(&b, now, ARRAY_SIZE(now));
	for (int i = 0; i < 24; i++)
		now[i] = sized(i + 1, (uint64_t)(1030 - i));
	bulk_choose(&b, now, ARRAY_SIZE(now));
	assert_int_equal(b.of[0].pid, 9);
	now[0].own_bytes = 2000 * MIB; /* by far the largest */
	bulk_choose(&b, now, ARRAY_SIZE(now));
	assert_int_equal(b.of[0].pid, 1);
	assert_int_equal(b.n, BULK_MOST);
}

static void another_process_of_the_same_number_is_another(void **state)
{
	(void)state;
	struct bulk b = {.n = 0};
	struct usage_process now[] = {sized(4, 17)};
	bulk_choose(&b, now, 1);
	assert_int_equal(b.n, 1);
	now[0].own_bytes = 13 * MIB;
	bulk_choose(&b, now, 1);
	assert_int_equal(b.n, 1);
	now[0].start_ticks++;
	bulk_choose(&b, now, 1);
	assert_int_equal(b.n, 0);
	bulk_choose(&b, now, 0);
	assert_int_equal(b.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_processes_are_told_apart_and_small_ones_are_not),
		cmocka_unit_test(of_many_alike_none_is_told_apart_but_the_one_that_grows),
		cmocka_unit_test(there_are_at_most_sixteen_the_largest),
		cmocka_unit_test(who_is_told_apart_stays_so_beside_others_of_its_size),
		cmocka_unit_test(another_process_of_the_same_number_is_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
