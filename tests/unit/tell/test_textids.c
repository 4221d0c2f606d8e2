#include "testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "tell/text/textids.h"

static void texts_are_numbered_in_the_order_of_their_coming(void **state)
{
	(void)state;
	cleanup(textids_freep) struct textids *t = textids_new();
	static const char a[] = "a", b[] = "b", nothing[] = "";
	uint32_t id = 99;
	bool is_new = true;
	size_t n;
	assert_non_null(t);
	assert_int_equal(textids_of(t, nothing, &id, &is_new), 0);
	assert_int_equal(id, 0);
	assert_false(is_new);
	assert_int_equal(textids_of(t, a, &id, &is_new), 0);
	assert_int_equal(id, 1);
	assert_true(is_new);
	assert_int_equal(textids_of(t, b, &id, &is_new), 0);
	assert_int_equal(id, 2);
	assert_int_equal(textids_of(t, a, &id, &is_new), 0);
	assert_int_equal(id, 1);
	assert_false(is_new);
	const char *const *all = textids_all(t, &n);
	assert_int_equal(n, 3);
	assert_string_equal(all[0], "");
	assert_ptr_equal(all[1], a);
	assert_ptr_equal(all[2], b);
}

static void thousands_of_texts_keep_their_numbers(void **state)
{
	(void)state;
	enum { N = 5000 };
	cleanup(textids_freep) struct textids *t = textids_new();
	static char texts[N][8];
	uint32_t id;
	bool is_new;
	size_t n;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < N; i++) {
			snprintf(texts[i], sizeof(texts[i]), "t%u", i);
			assert_int_equal(textids_of(t, texts[i], &id, &is_new), 0);
			assert_int_equal(id, i + 1);
			assert_int_equal(is_new, round == 0);
		}
	const char *const *all = textids_all(t, &n);
	assert_int_equal(n, N + 1);
	for (uint32_t i = 0; i < N; i++)
		assert_ptr_equal(all[i + 1], texts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_numbered_in_the_order_of_their_coming),
		cmocka_unit_test(thousands_of_texts_keep_their_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
