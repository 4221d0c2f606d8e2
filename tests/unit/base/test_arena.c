#include "testing.h"

#include "base/arena.h"

static void what_is_allocated_is_zero_aligned_and_stays(void **state)
{
	(void)state;
	cleanup(arena_done) struct arena a = {.max_bytes = 0};
	char *first = arena_text(&a, "first", 5);
	assert_non_null(first);
	for (size_t i = 1; i < 3000; i++) {
		unsigned char *p = arena_alloc(&a, i);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < i; j++)
			assert_int_equal(p[j], 0);
		memset(p, 0xff, i);
	}
	assert_string_equal(first, "first");
	assert_true(a.used_bytes >= 3000 * 2999 / 2);
}

static void growing_copies_what_was_there(void **state)
{
	(void)state;
	cleanup(arena_done) struct arena a = {.max_bytes = 0};
	int *v = arena_grow(&a, NULL, 0, 2, sizeof(*v));
	v[0] = 7, v[1] = 8;
	v = arena_grow(&a, v, 2, 4, sizeof(*v));
	assert_int_equal(v[0], 7);
	assert_int_equal(v[1], 8);
	assert_int_equal(v[3], 0);
	assert_null(arena_grow(&a, v, 4, SIZE_MAX, sizeof(*v)));
}

static void the_bound_is_kept_and_named(void **state)
{
	(void)state;
	cleanup(arena_done) struct arena a = {.max_bytes = 40 * KIB};
	size_t n = 0;
	while (arena_alloc(&a, 1000))
		n++;
	assert_true(n >= 30 && n <= 40);
	assert_true(arena_full(&a));
	assert_null(arena_alloc(&a, 30000));
	arena_done(&a);
	struct arena small = {.max_bytes = 10};
	assert_null(arena_alloc(&small, 11));
	assert_true(arena_full(&small));
	arena_done(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_allocated_is_zero_aligned_and_stays),
		cmocka_unit_test(growing_copies_what_was_there),
		cmocka_unit_test(the_bound_is_kept_and_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
