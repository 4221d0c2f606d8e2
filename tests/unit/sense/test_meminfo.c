#include "testing.h"
#include "world_fixture.h"

#include "sense/memory/meminfo.h"

static struct meminfo parsed(const char *text)
{
	struct meminfo m;
	assert_int_equal(meminfo_parse(span_of(text), &m), 0);
	return m;
}

static struct meminfo recorded(const char *world)
{
	struct meminfo m;
	struct world w = fixture_world(world);
	int fd = openat(w.proc_fd, "meminfo", O_RDONLY | O_CLOEXEC);
	assert_int_equal(meminfo_read(fd, &m), 0);
	close(fd);
	fixture_close(&w);
	return m;
}

static bool clamped(const struct meminfo *m, enum meminfo_field f)
{
	return m->clamped >> f & 1;
}

static void every_field_of_a_real_machine_is_found(void **state)
{
	(void)state;
	struct meminfo m = recorded("hybrid-v1");
	assert_int_equal(m.valid, (1U << MEMINFO_MAX) - 1);
	assert_int_equal(m.clamped, 0);
	assert_true(m.bytes[MEMINFO_TOTAL] == 24684096 * KIB);
	assert_true(m.bytes[MEMINFO_AVAILABLE] == 21254004 * KIB);
	assert_true(m.bytes[MEMINFO_ACTIVE_FILE] == 6171172 * KIB);
	assert_true(m.bytes[MEMINFO_INACTIVE_FILE] == 4343168 * KIB);
	assert_true(m.bytes[MEMINFO_WRITEBACK] == 16 * KIB);
	assert_true(m.bytes[MEMINFO_SHMEM] == 408788 * KIB);
	assert_true(m.bytes[MEMINFO_SLAB_RECLAIMABLE] == 157444 * KIB);
}

static void numbers_that_went_below_zero_become_zero_and_are_marked(void **state)
{
	(void)state;
	struct meminfo m = recorded("lxcfs-underflow");
	assert_true(meminfo_has(&m, MEMINFO_SWAP_FREE));
	assert_true(m.bytes[MEMINFO_SWAP_FREE] == 0);
	assert_true(clamped(&m, MEMINFO_SWAP_FREE));
}

static void available_above_total_becomes_the_total(void **state)
{
	(void)state;
	struct meminfo m = recorded("lxcfs-underflow");
	assert_true(m.bytes[MEMINFO_AVAILABLE] == 1048576 * KIB);
	assert_true(clamped(&m, MEMINFO_AVAILABLE));
	assert_false(clamped(&m, MEMINFO_FREE));
}

static void numbers_beyond_64_bits_are_clamped(void **state)
{
	(void)state;
	struct meminfo m = parsed("MemTotal: 1024 kB\nMemFree: 99999999999999999999999 kB\nMemAvailable: 10 kB\n");
	assert_true(m.bytes[MEMINFO_FREE] == MIB);
	assert_true(clamped(&m, MEMINFO_FREE));
	assert_true(m.bytes[MEMINFO_AVAILABLE] == 10 * KIB);
	m = parsed("MemTotal: 18446744073709551615 kB\nMemAvailable: 10 kB\n");
	assert_true(clamped(&m, MEMINFO_TOTAL));
}

static void available_is_estimated_on_old_kernels_and_marked(void **state)
{
	(void)state;
	struct meminfo m = parsed("MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 50 kB\nCached: 450 kB\nShmem: 100 kB\n"
				  "SReclaimable: 40 kB\n");
	assert_true(meminfo_has(&m, MEMINFO_AVAILABLE));
	assert_true(clamped(&m, MEMINFO_AVAILABLE));
	assert_true(m.bytes[MEMINFO_AVAILABLE] == 320 * KIB);
}

static void a_text_without_a_total_is_refused(void **state)
{
	(void)state;
	struct meminfo m = {.valid = 77};
	assert_int_equal(meminfo_parse(SPAN(""), &m), -EBADMSG);
	assert_int_equal(meminfo_parse(SPAN("MemFree: 1 kB\n"), &m), -EBADMSG);
	assert_int_equal(meminfo_parse(SPAN("MemTotal: 0 kB\n"), &m), -EBADMSG);
	assert_int_equal(meminfo_parse(SPAN("MemTotal\n:::\n\n"), &m), -EBADMSG);
	assert_int_equal(meminfo_parse(SPAN("MemTotal: -5 kB\n"), &m), -EBADMSG);
	assert_int_equal(m.valid, 77);
}

static void broken_lines_do_not_hide_the_others(void **state)
{
	(void)state;
	struct meminfo m = parsed("garbage\nMemFree: lots\nSwapFree: 5 kB\nMemTotal: 64 kB\nMemAvailable:32 kB");
	assert_false(meminfo_has(&m, MEMINFO_FREE));
	assert_true(m.bytes[MEMINFO_TOTAL] == 64 * KIB);
	assert_true(m.bytes[MEMINFO_AVAILABLE] == 32 * KIB);
	/* swap that has no total cannot be free */
	assert_true(m.bytes[MEMINFO_SWAP_FREE] == 0);
	assert_true(clamped(&m, MEMINFO_SWAP_FREE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_a_real_machine_is_found),
		cmocka_unit_test(numbers_that_went_below_zero_become_zero_and_are_marked),
		cmocka_unit_test(available_above_total_becomes_the_total),
		cmocka_unit_test(numbers_beyond_64_bits_are_clamped),
		cmocka_unit_test(available_is_estimated_on_old_kernels_and_marked),
		cmocka_unit_test(a_text_without_a_total_is_refused),
		cmocka_unit_test(broken_lines_do_not_hide_the_others),
	};
	return cmocka_run_group_tests_name("sense/memory/meminfo", tests, NULL, NULL);
}
