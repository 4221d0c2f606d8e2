#include "testing.h"

#include "sense/python/pyexcept.h"

/*
 * def f(a, b): with a: with b: g() -- compiled by 3.11; dis shows: 6 to 10 -> 114 [1], 12 to 40 -> 66 [2], 42 to 64 ->
 * 114 [1], 66 to 72 -> 74 [4], 74 to 78 -> 114 [1], 80 -> 74 [4], 82 to 86 -> 114 [1], 114 to 120 -> 122 [3],
 * 128 -> 122 [3]; the ends included.
 */
static const char two_withs[] = "\x83\x03\x39\x03\x86\x0f\x21\x05\x95\x0c\x39\x03\xa1\x04\x25\x09\xa5\x03\x39\x03"
				"\xa8\x01\x25\x09\xa9\x03\x39\x03\xb9\x04\x3d\x07\xc1\x00\x01\x3d\x07";
static const struct span table = {two_withs, sizeof(two_withs) - 1};

static void expect(uint32_t at, uint32_t target, uint32_t depth)
{
	struct pyexcept e = {};
	assert_true(pyexcept_find(table, at, &e));
	assert_int_equal(e.target, target);
	assert_int_equal(e.depth, depth);
}

static void the_entry_that_covers_an_instruction_is_found(void **state)
{
	(void)state;
	expect(6, 114, 1);
	expect(10, 114, 1);
	expect(12, 66, 2);
	expect(40, 66, 2);
	expect(64, 114, 1);
	expect(66, 74, 4);
	expect(74, 114, 1);
	expect(120, 122, 3);
	expect(128, 122, 3);
	expect(129, 122, 3);
}

static void instructions_outside_of_blocks_have_none(void **state)
{
	(void)state;
	struct pyexcept e;
	const uint32_t outside[] = {0, 4, 88, 112, 122, 126, 130, UINT32_MAX};
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++)
		assert_false(pyexcept_find(table, outside[i], &e));
	assert_false(pyexcept_find((struct span){NULL, 0}, 6, &e));
}

static void a_cut_table_ends_the_search(void **state)
{
	(void)state;
	struct pyexcept e;
	assert_false(pyexcept_find((struct span){two_withs, 3}, 6, &e));
	assert_true(pyexcept_find((struct span){two_withs, 4}, 6, &e));
	assert_false(pyexcept_find((struct span){two_withs, 7}, 12, &e));
	assert_false(pyexcept_find(SPAN("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x01"), 6, &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_entry_that_covers_an_instruction_is_found),
		cmocka_unit_test(instructions_outside_of_blocks_have_none),
		cmocka_unit_test(a_cut_table_ends_the_search),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
