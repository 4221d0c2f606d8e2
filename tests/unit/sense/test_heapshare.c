#include "testing.h"

#include <string.h>

#include "sense/heap/heapshare.h"

static int parse(const char *text, struct heapshare *ret)
{
	return heapshare_parse(span_of(text), ret);
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	struct heapshare_row rows[] = {{3, 1000, 0}, {8, 4096, 4096}, {9, 1ull << 40, 7}, {UINT32_MAX, 2, 1}};
	const struct heapshare s = {.time_unix_ms = 1795340850700, .row = rows, .n = ARRAY_SIZE(rows)};
	struct heapshare back;
	char *text = NULL;
	size_t len = 0;
	assert_int_equal(heapshare_format(&s, &text, &len), 0);
	assert_int_equal(heapshare_parse((struct span){text, len}, &back), 0);
	assert_true(back.n == 4 && back.time_unix_ms == s.time_unix_ms);
	assert_memory_equal(back.row, rows, sizeof(rows));
	assert_ptr_equal(heapshare_find(&back, 9), &back.row[2]);
	assert_ptr_equal(heapshare_find(&back, UINT32_MAX), &back.row[3]);
	assert_null(heapshare_find(&back, 4));
	free(text);
	heapshare_done(&back);
}

static void what_cannot_be_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",
		"vigil-heap-share 2 5\n1 1 1\n",
		"vigil-heap-share 1 0\n",
		"vigil-heap-share 1 x\n",
		"vigil-heap-share 1 5\n1 1\n",
		"vigil-heap-share 1 5\n1 1 2\n", /* more than there is */
		"vigil-heap-share 1 5\n2 1 1\n1 1 1\n",
		"vigil-heap-share 1 5\n2 1 1\n2 1 1\n",
		"vigil-heap-share 1 5\n4294967296 1 1\n",
		"vigil-heap-share 1 5\n1 9223372036854775807 1\n",
		"vigil-heap-share 1 5\n1 -1 -2\n",
	};
	struct heapshare s;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse(bad[i], &s), -EBADMSG);
	assert_int_equal(parse("vigil-heap-share 1 5\n", &s), 0);
	assert_int_equal(s.n, 0);
	assert_null(heapshare_find(&s, 0));
	heapshare_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_cannot_be_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
