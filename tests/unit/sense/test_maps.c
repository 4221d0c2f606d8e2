#include "testing.h"
#include "world_fixture.h"

#include <sys/mman.h>

#include "sense/proc/maps.h"

static const char listing[] = "555555554000-555555556000 r--p 00000000 fd:01 1234   /usr/bin/my train er\n"
			      "555555556000-555555558000 r-xp 00002000 fd:01 1234   /usr/bin/my train er\n"
			      "nonsense\n"
			      "7ffff7a00000-7ffff7b00000 rw-p 00000000 00:00 0 \n"
			      "7ffff7b00000-7ffff7b01000 r-xs 00001000 103:0a 99    /lib/libold.so (deleted)\n"
			      "7ffff7b01000-7ffff7b02000 r--p 00000000 00:2e 7      /tmp/two\\012lines\n"
			      "7ffff7b02000-7ffff7b03000 r--p 00000000 00:2e 8      /tmp/blank at end \n"
			      "7ffff7b02000-7ffff7b03000 r--p 00000000 00:2e 8      /overlaps/the/one/before\n"
			      "7ffff7b05000-7ffff7b04000 r--p 00000000 00:2e 8      /ends/before/it/starts\n"
			      "7ffff7b06000-7ffff7b07000 r--p 0000000000000000000 00:2e 8 /too/many/digits\n"
			      "7ffff7b06000-7ffff7b07000 r--p 00000000 00:2e x /no/inode\n"
			      "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n"
			      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]";

static void rows_are_read_as_the_kernel_writes_them(void **state)
{
	(void)state;
	struct maps m;
	assert_int_equal(maps_parse(SPAN(listing), &m), 0);
	assert_int_equal(m.n, 8);
	assert_string_equal(m.rows[0].path, "/usr/bin/my train er");
	assert_int_equal(m.rows[0].flags, MAP_READ);
	assert_int_equal(m.rows[1].offset, 0x2000);
	assert_int_equal(m.rows[1].inode, 1234);
	assert_int_equal(m.rows[1].dev, 0xfd << 20 | 1);
	assert_int_equal(m.rows[1].flags, MAP_READ | MAP_EXEC);
	assert_string_equal(m.rows[2].path, "");
	assert_int_equal(m.rows[3].flags, MAP_READ | MAP_EXEC | MAP_IS_SHARED);
	assert_true(m.rows[3].deleted);
	assert_string_equal(m.rows[3].path, "/lib/libold.so");
	assert_int_equal(m.rows[3].dev, 0x103 << 20 | 10);
	assert_string_equal(m.rows[4].path, "/tmp/two\\012lines");
	assert_string_equal(m.rows[5].path, "/tmp/blank at end ");
	assert_string_equal(m.rows[6].path, "[stack]");
	assert_int_equal(m.rows[7].start, UINT64_C(0xffffffffff600000));
	assert_string_equal(m.rows[7].path, "[vsyscall]");
	maps_done(&m);
}

static void an_address_is_found_in_its_row_and_in_no_hole(void **state)
{
	(void)state;
	struct maps m;
	assert_int_equal(maps_parse(SPAN(listing), &m), 0);
	assert_ptr_equal(maps_find(&m, 0x555555554000), &m.rows[0]);
	assert_ptr_equal(maps_find(&m, 0x555555555fff), &m.rows[0]);
	assert_ptr_equal(maps_find(&m, 0x555555556000), &m.rows[1]);
	assert_null(maps_find(&m, 0x555555558000));
	assert_null(maps_find(&m, 0));
	assert_null(maps_find(&m, UINT64_MAX));
	assert_ptr_equal(maps_find(&m, UINT64_C(0xffffffffff600fff)), &m.rows[7]);
	maps_done(&m);
	assert_int_equal(maps_parse((struct span){NULL, 0}, &m), 0);
	assert_int_equal(m.n, 0);
	assert_null(maps_find(&m, 1));
	maps_done(&m);
}

static void our_own_mappings_are_there_and_the_dead_have_none(void **state)
{
	(void)state;
	struct world w = live_world();
	struct maps m;
	void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(maps_read(&w, getpid(), &m), 0);
	const struct map_row *row = maps_find(&m, (uint64_t)(uintptr_t)page);
	assert_non_null(row);
	assert_int_equal(row->flags, MAP_READ | MAP_EXEC);
	row = maps_find(&m, (uint64_t)(uintptr_t)our_own_mappings_are_there_and_the_dead_have_none);
	assert_non_null(row);
	assert_non_null(strstr(row->path, "test_sense_maps"));
	for (size_t i = 1; i < m.n; i++)
		assert_true(m.rows[i].start >= m.rows[i - 1].end);
	maps_done(&m);
	munmap(page, 4096);
	assert_int_equal(maps_read(&w, 999999999, &m), WORLD_GONE);
	fixture_close(&w);
	assert_int_equal(maps_read(&w, getpid(), &m), WORLD_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read_as_the_kernel_writes_them),
		cmocka_unit_test(an_address_is_found_in_its_row_and_in_no_hole),
		cmocka_unit_test(our_own_mappings_are_there_and_the_dead_have_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
