#include "testing.h"

#include "sense/speed/threadcost.h"
#include "sense/speed/threadstart.h"

#define TOP 0x7f0000010000
#define SELF (TOP - 0x940)

static char top[4096];
static const char text[] = "7f0000000000-7f0000010000 rw-p 00000000 00:00 0\n"
			   "7f0000100000-7f0000101000 r--p 00000000 00:01 5 /x/libgomp.so.1\n"
			   "7f0000101000-7f0000140000 r-xp 00001000 00:01 5 /x/libgomp.so.1\n";

static void put(size_t at, uint64_t word)
{
	memcpy(top + sizeof(top) - 0x940 + at, &word, sizeof(word));
}

static void a_thread_is_the_librarys_that_it_begins_in(void **state)
{
	(void)state;
	cleanup(maps_done) struct maps m;
	struct threadstart t;
	assert_int_equal(maps_parse(SPAN(text), &m), 0);
	memset(top, 0, sizeof(top));
	assert_false(threadstart_find(top, sizeof(top), TOP, &m, &t));
	put(0, SELF);
	put(16, SELF);
	put(0x2d0, 4711);
	put(0x638, 0x7f0000102345);
	put(0x640, 0x7f0000000100); /* its argument */
	assert_true(threadstart_find(top, sizeof(top), TOP, &m, &t));
	assert_int_equal(t.tid, 4711);
	assert_int_equal(t.lib, THREADLIB_GOMP);
	put(0x638, 0x7f0000100010); /* no code */
	assert_true(threadstart_find(top, sizeof(top), TOP, &m, &t));
	assert_int_equal(t.lib, 0);
	put(16, SELF + 8);
	assert_false(threadstart_find(top, sizeof(top), TOP, &m, &t));
	/* bytes that end too early, and none */
	assert_false(threadstart_find(top + sizeof(top) - 64, 64, TOP, &m, &t));
	assert_false(threadstart_find(top, 0, TOP, &m, &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_is_the_librarys_that_it_begins_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
