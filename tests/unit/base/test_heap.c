#include "testing.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/heap.h"

#define TABLE (2 * MIB)

/* Number of pages of a block that hold memory. */
static size_t pages_in(const char *block, size_t len)
{
	static unsigned char in[TABLE / 4096 + 2];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
	char *from = (char *)((uintptr_t)block & ~(page - 1));
	size_t pages = (len + (size_t)(block - from) + page - 1) / page;
	assert_true(pages <= ARRAY_SIZE(in));
	assert_int_equal(mincore(from, pages * page, in), 0);
	for (size_t i = 0; i < pages; i++)
		n += in[i] & 1;
	return n;
}

static void a_table_costs_what_is_used_of_it_also_after_one_was_freed(void **state)
{
	(void)state;
	heap_keep_sparse();
	for (int i = 0; i < 4; i++) {
		cleanup(freep) char *table = calloc(1, TABLE);
		assert_non_null(table);
		assert_true(pages_in(table, TABLE) < 8);
		memset(table, 1, TABLE); /* the next one would be made of this if it were kept */
		assert_true(pages_in(table, TABLE) >= 256);
	}
}

static int huge_pages_are_off(void)
{
	return prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
}

/* With them one used page of a table is 2 MiB of memory. */
static void there_are_no_huge_pages(void **state)
{
	(void)state;
	assert_int_equal(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0);
	heap_keep_sparse();
	assert_int_equal(huge_pages_are_off(), 1);
}

static void somebody_elses_program_has_the_huge_pages_that_vigil_was_started_with(void **state)
{
	(void)state;
	heap_keep_sparse();
	heap_huge_pages_undo();
	assert_int_equal(huge_pages_are_off(), 0);
	heap_keep_sparse();
	heap_keep_sparse(); /* the second one is not what it was started with */
	heap_huge_pages_undo();
	assert_int_equal(huge_pages_are_off(), 0);
	heap_huge_pages_redo();
	assert_int_equal(huge_pages_are_off(), 1);
}

#if defined(__SANITIZE_ADDRESS__)
#define HEAP_IS_LIBCS 0 /* the sanitizer's allocator stands where libc's would */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define HEAP_IS_LIBCS 0
#endif
#endif
#ifndef HEAP_IS_LIBCS
#define HEAP_IS_LIBCS 1
#endif

static void what_is_freed_between_blocks_is_given_back(void **state)
{
	enum { BLOCKS = 4000, BYTES = 8000 };
	static char *block[BLOCKS];
	size_t before = 0, after = 0;
	(void)state;
	if (!HEAP_IS_LIBCS) {
		print_message("skipped: a sanitizer brings a heap of its own\n");
		skip();
	}
	heap_keep_sparse();
	for (size_t i = 0; i < BLOCKS; i++) {
		block[i] = malloc(BYTES);
		assert_non_null(block[i]);
		memset(block[i], 1, BYTES);
	}
	char *low = block[0], *high = block[BLOCKS - 1]; /* the last one stays, so that the heap cannot shrink */
	for (size_t i = 0; i + 1 < BLOCKS; i++)
		free(block[i]);
	if (high - low < (ptrdiff_t)BYTES * BLOCKS / 2) {
		free(high);
		skip(); /* another allocator, as that of a sanitizer */
	}
	for (char *at = low; at + MIB < high; at += MIB)
		before += pages_in(at, MIB);
	heap_give_back();
	for (char *at = low; at + MIB < high; at += MIB)
		after += pages_in(at, MIB);
	free(high);
	assert_true(after < before / 4);
}

int main(void)
{
#ifdef M_PERTURB
	(void)mallopt(M_PERTURB, 0); /* with MALLOC_PERTURB_ of meson, calloc writes into all it gives */
#endif
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_are_no_huge_pages),
		cmocka_unit_test(somebody_elses_program_has_the_huge_pages_that_vigil_was_started_with),
		cmocka_unit_test(a_table_costs_what_is_used_of_it_also_after_one_was_freed),
		cmocka_unit_test(what_is_freed_between_blocks_is_given_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
