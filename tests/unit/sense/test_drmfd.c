#include "testing.h"

#include "base/buf.h"
#include "sense/gpu/drmfd.h"

static struct drmfd parsed(const char *text)
{
	struct drmfd d = {.n_engines = 0};
	assert_true(drmfd_parse(span_of(text), &d));
	return d;
}

static void engines_and_memory_of_one_client_are_read(void **state)
{
	(void)state;
	struct drmfd d = parsed("pos:\t0\n"
				"drm-driver:\tamdgpu\n"
				"drm-pdev:\t0000:c3:00.0\n"
				"drm-client-id:\t42\n"
				"drm-engine-gfx:\t1500 ns\n"
				"drm-engine-compute:\t7 ns\n"
				"drm-engine-capacity-compute:\t4\n"
				"drm-memory-vram:\t8 KiB\n"
				"drm-memory-gtt:\t64 KiB\n");
	assert_string_equal(d.driver, "amdgpu");
	assert_string_equal(d.pci, "0000:c3:00.0");
	assert_true(d.has_client);
	assert_int_equal(d.client, 42);
	assert_int_equal(d.n_engines, 2);
	assert_string_equal(d.engine[0].name, "gfx");
	assert_int_equal(d.engine[0].busy_ns, 1500);
	assert_int_equal(d.engine[0].capacity, 1);
	assert_int_equal(d.engine[1].busy_ns, 7);
	assert_int_equal(d.engine[1].capacity, 4);
	assert_true(d.has_memory);
	assert_int_equal(d.memory_bytes, 8192);
}

static void drivers_that_count_cycles_are_read(void **state)
{
	(void)state;
	struct drmfd d = parsed("drm-driver:\txe\n"
				"drm-cycles-rcs:\t28257900\n"
				"drm-total-cycles-rcs:\t7655183225\n");
	assert_int_equal(d.n_engines, 1);
	assert_int_equal(d.engine[0].busy_ns, 0);
	assert_int_equal(d.engine[0].cycles, 28257900);
	assert_true(d.engine[0].total_cycles == UINT64_C(7655183225));
	assert_false(d.has_client);
	assert_false(d.has_memory);
}

static void resident_memory_is_preferred_and_regions_are_added(void **state)
{
	(void)state;
	struct drmfd d = parsed("drm-driver:\txe\n"
				"drm-total-vram0:\t9 MiB\n"
				"drm-resident-vram0:\t2 MiB\n"
				"drm-resident-vram1:\t1 MiB\n"
				"drm-resident-system:\t100 MiB\n");
	assert_int_equal(d.memory_bytes, 3 << 20);
	d = parsed("drm-driver:\ti915\ndrm-total-local0:\t9 MiB\n");
	assert_int_equal(d.memory_bytes, 9 << 20);
}

static void the_keys_of_older_amdgpu_drivers_are_read(void **state)
{
	(void)state;
	struct drmfd d = parsed("pdev:\t0000:03:00.0\nvram mem:\t16 kB\n");
	assert_string_equal(d.driver, "amdgpu");
	assert_string_equal(d.pci, "0000:03:00.0");
	assert_int_equal(d.memory_bytes, 16384);
}

static void other_descriptors_are_no_devices(void **state)
{
	(void)state;
	struct drmfd d;
	assert_false(drmfd_parse(span_of(""), &d));
	assert_false(drmfd_parse(span_of("pos:\t0\nflags:\t02\nmnt_id:\t15\n"), &d));
	assert_false(drmfd_parse(span_of("pdev:\t0000:03:00.0\n"), &d));
}

static void engines_beyond_the_limit_are_counted(void **state)
{
	(void)state;
	char text[1024];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	buf_add(&b, "drm-driver: x\n");
	for (int i = 0; i < DRMFD_ENGINES + 2; i++)
		buf_printf(&b, "drm-engine-e%d: %d ns\n", i, i + 1);
	struct drmfd d = parsed(text);
	assert_int_equal(d.n_engines, DRMFD_ENGINES);
	assert_int_equal(d.n_dropped, 2);
	assert_int_equal(d.engine[DRMFD_ENGINES - 1].busy_ns, DRMFD_ENGINES);
}

static void implausible_numbers_are_skipped(void **state)
{
	(void)state;
	struct drmfd d = parsed("drm-driver: x\n"
				"drm-engine-a: many ns\n"
				"drm-engine-capacity-b: 4000\n"
				"drm-memory-vram: 18446744073709551615 KiB\n");
	assert_int_equal(d.n_engines, 1);
	assert_int_equal(d.engine[0].capacity, 1);
	assert_false(d.has_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_and_memory_of_one_client_are_read),
		cmocka_unit_test(drivers_that_count_cycles_are_read),
		cmocka_unit_test(resident_memory_is_preferred_and_regions_are_added),
		cmocka_unit_test(the_keys_of_older_amdgpu_drivers_are_read),
		cmocka_unit_test(other_descriptors_are_no_devices),
		cmocka_unit_test(engines_beyond_the_limit_are_counted),
		cmocka_unit_test(implausible_numbers_are_skipped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
