/* The names of the files of a heap folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/heap/heapfolder.h"

static void names_tell_who_wrote_them(void **state)
{
	(void)state;
	struct heapfile f;
	assert_int_equal(heapfile_parse(SPAN("812.4711.heap"), &f), 0);
	assert_int_equal(f.pid, 812);
	assert_int_equal(f.start_ticks, 4711);
	assert_int_equal(f.generation, 0);
	assert_false(f.is_off);
	assert_int_equal(heapfile_parse(SPAN("812.4711.3.heap"), &f), 0);
	assert_int_equal(f.generation, 3);
	assert_int_equal(heapfile_parse(SPAN("812.4711.off-3"), &f), 0);
	assert_true(f.is_off);
	static const char *const others[] = {
		"",	      "heap",	 "812.heap", "812.4711.heap.new",  "0.1.heap",	   "a.1.heap", "1.b.heap",
		"1.2.c.heap", "control", "warn",     "99999999999.1.heap", "1.2.3.4.heap", "."};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(heapfile_parse(span_of(others[i]), &f), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_who_wrote_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
