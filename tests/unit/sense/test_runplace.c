#include "world_fixture.h"

#include "sense/speed/runplace.h"

static void libraries_of_messages_are_known_by_their_files(void **state)
{
	(void)state;
	assert_true(runplace_library("libmpi.so.40"));
	assert_true(runplace_library("libmpich.so.12"));
	assert_true(runplace_library("mca_btl_vader.so"));
	assert_true(runplace_library("libucp.so.0"));
	assert_false(runplace_library("libc.so.6"));
	assert_false(runplace_library("libtorch_cpu.so"));
	assert_false(runplace_library(""));
}

static void a_process_without_one_is_not_looked_at(void **state)
{
	(void)state;
	struct world w = live_world();
	struct runplace p;
	assert_int_equal(runplace_open(&w, getpid(), getpid(), &p), WORLD_ABSENT);
	assert_false(runplace_inside(&p));
	runplace_close(&p);
	fixture_close(&w);
}

static void a_process_that_has_ended_is_gone(void **state)
{
	(void)state;
	struct world w = live_world();
	struct runplace p;
	assert_int_equal(runplace_open(&w, 0x7ffffff0, 0x7ffffff0, &p), WORLD_GONE);
	runplace_close(&p);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries_of_messages_are_known_by_their_files),
		cmocka_unit_test(a_process_without_one_is_not_looked_at),
		cmocka_unit_test(a_process_that_has_ended_is_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
