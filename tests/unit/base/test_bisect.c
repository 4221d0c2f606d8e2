#include "testing.h"

#include "base/bisect.h"

static void the_first_place_is_found_in_lists_of_every_length(void **state)
{
	(void)state;
	int list[33];
	for (size_t n = 0; n < ARRAY_SIZE(list); n++) {
		for (size_t i = 0; i < n; i++)
			list[i] = 2 * (int)i;
		for (int key = -1; key <= 2 * (int)n; key++) {
			size_t want = 0;
			while (want < n && list[want] < key)
				want++;
			assert_int_equal(bisect(n, i, list[i] < key), want);
		}
	}
}

static void of_equal_ones_the_first_is_found(void **state)
{
	(void)state;
	static const int list[] = {1, 3, 3, 3, 3, 3, 7};
	assert_int_equal(bisect(ARRAY_SIZE(list), i, list[i] < 3), 1);
	assert_int_equal(bisect(ARRAY_SIZE(list), i, list[i] <= 3), 6);
}

static void an_item_is_asked_for_once_and_few_are(void **state)
{
	(void)state;
	size_t asked = 0;
	assert_int_equal(bisect(1000000, i, (asked++, i < 777777)), 777777);
	assert_true(asked <= 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_place_is_found_in_lists_of_every_length),
		cmocka_unit_test(of_equal_ones_the_first_is_found),
		cmocka_unit_test(an_item_is_asked_for_once_and_few_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
