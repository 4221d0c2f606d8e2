/* The small helpers that every layer uses: growing arrays, hashes, paths, medians, late loading. */
#include "testing.h"

#include <dlfcn.h>
#include <math.h>

#include "base/dynlib.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/stats.h"
#include "base/vec.h"

static void a_vector_keeps_its_items_and_at_least_doubles(void **state)
{
	cleanup(freep) int *items = NULL;
	size_t cap = 0, moves = 0;
	(void)state;
	for (size_t n = 0; n < 10000; n++) {
		const size_t before = cap;
		assert_int_equal(vec_room(&items, &cap, n + 1), 0);
		assert_true(cap > n && (cap == before || cap >= before * 2));
		moves += cap != before;
		items[n] = (int)n;
	}
	assert_true(moves < 12);
	for (int n = 0; n < 10000; n++)
		assert_int_equal(items[n], n);
}

static void a_vector_jumps_to_what_is_needed(void **state)
{
	cleanup(freep) char *items = NULL;
	size_t cap = 0;
	(void)state;
	assert_int_equal(vec_room(&items, &cap, 1000), 0);
	assert_int_equal(cap, 1000);
	assert_int_equal(vec_room(&items, &cap, 1000), 0);
	assert_int_equal(cap, 1000);
}

static void a_vector_that_cannot_grow_stays_as_it_was(void **state)
{
	cleanup(freep) uint64_t *items = NULL;
	size_t cap = 0;
	(void)state;
	assert_int_equal(vec_room(&items, &cap, 1), 0);
	uint64_t *before = items;
	const size_t cap_before = cap;
	items[0] = 7;
	assert_int_equal(vec_room(&items, &cap, SIZE_MAX / 4), -ENOMEM);
	assert_ptr_equal(items, before);
	assert_int_equal(cap, cap_before);
	assert_int_equal(items[0], 7);
}

/* FNV-1a's own test vectors. */
static void bytes_hash_as_the_algorithm_says(void **state)
{
	(void)state;
	assert_true(hash_bytes(HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325));
	assert_true(hash_bytes(HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(hash_bytes(HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
	assert_true(hash_bytes(hash_bytes(HASH_START, "foo", 3), "bar", 3) == UINT64_C(0x85944171f73967e8));
}

static void near_numbers_hash_to_different_slots(void **state)
{
	uint8_t slots[4096] = {0}, mixed[4096] = {0};
	size_t met = 0, met_mixed = 0;
	(void)state;
	for (uint64_t i = 0; i < 4096; i++) {
		const uint64_t addr = UINT64_C(0x7f0000001000) + i * 64;
		met += !slots[hash_slot(addr, 4095)]++;
		met_mixed += !mixed[hash_mix(addr) & 4095]++;
	}
	assert_true(met > 2300 && met_mixed > 2300); /* 2589 of 4096 by chance */
}

static void of_a_long_path_the_end_is_shown(void **state)
{
	(void)state;
	char shown[32];
	path_show("/data/batches", 16, shown, sizeof(shown));
	assert_string_equal(shown, "/data/batches");
	path_show("/home/anna/runs/2026/batches", 12, shown, sizeof(shown));
	assert_string_equal(shown, "…2026/batches");
	path_show("/home/anna/l\xc3\xa4ufe", 4, shown, sizeof(shown)); /* it would begin within a character */
	assert_string_equal(shown, "…ufe");
}

static void a_path_has_a_name_and_can_be_cut(void **state)
{
	char path[] = "/a/b";
	(void)state;
	assert_string_equal(path_name("/usr/bin/python3"), "python3");
	assert_string_equal(path_name("python3"), "python3");
	assert_string_equal(path_name("folder/"), "");
	assert_true(path_cut(path));
	assert_string_equal(path, "/a");
	assert_true(path_cut(path));
	assert_string_equal(path, "");
	assert_false(path_cut(path));
}

static void the_median_is_the_middle(void **state)
{
	double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, one[] = {-2};
	(void)state;
	assert_true(fabs(stats_median(odd, 3) - 5) < 1e-12);
	assert_true(fabs(stats_median(even, 4) - 2.5) < 1e-12);
	assert_true(fabs(stats_median(one, 1) + 2) < 1e-12);
	assert_true(fabs(stats_median(one, 0)) < 1e-12);
}

static void a_library_is_loaded_by_its_first_name_that_is_there(void **state)
{
	double (*cosine)(double) = NULL;
	const char *names[] = {"libvigil-no-such-library.so.9", "libm.so.6"};
	const struct dynlib_symbol symbols[] = {{"cos", &cosine}};
	(void)state;
	void *library = dynlib_load(names, 2, RTLD_NOW | RTLD_LOCAL, symbols, 1);
	assert_non_null(library);
	assert_true(fabs(cosine(0.0) - 1) < 1e-12);
	dlclose(library);
	assert_null(dynlib_load(names, 1, RTLD_NOW, symbols, 1));
}

static void a_library_without_a_symbol_is_none(void **state)
{
	void *slot = NULL;
	const char *names[] = {"libm.so.6"};
	const struct dynlib_symbol symbols[] = {{"vigil_no_such_function", &slot}};
	(void)state;
	assert_null(dynlib_load(names, 1, RTLD_NOW, symbols, 1));
	assert_null(slot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_long_path_the_end_is_shown),
		cmocka_unit_test(a_vector_keeps_its_items_and_at_least_doubles),
		cmocka_unit_test(a_vector_jumps_to_what_is_needed),
		cmocka_unit_test(a_vector_that_cannot_grow_stays_as_it_was),
		cmocka_unit_test(bytes_hash_as_the_algorithm_says),
		cmocka_unit_test(near_numbers_hash_to_different_slots),
		cmocka_unit_test(a_path_has_a_name_and_can_be_cut),
		cmocka_unit_test(the_median_is_the_middle),
		cmocka_unit_test(a_library_is_loaded_by_its_first_name_that_is_there),
		cmocka_unit_test(a_library_without_a_symbol_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
