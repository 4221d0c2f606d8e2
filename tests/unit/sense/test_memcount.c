#include "world_fixture.h"

#include "fake_perf.h"

static struct memcount m;
static struct memcount_sum sum;

static void controllers_open(const char *fixture)
{
	struct world w = fixture_world(fixture);
	assert_int_equal(memcount_open(&w, &fake_perf_ops, &m), 0);
	fixture_close(&w);
	memcount_begin(&m);
}

static bool nearly(double a, double b)
{
	return a > b * 0.999999 && a < b * 1.000001;
}

static size_t n_opened(uint64_t config)
{
	size_t n = 0;
	for (size_t i = 0; i < fake_perf.n; i++)
		n += fake_perf.one[i].event.config[0] == config;
	return n;
}

/* Two controllers, two packages, reads and writes; the free running counters of the same memory are left alone. */
static void all_controllers_of_all_packages_are_counted_once(void **state)
{
	(void)state;
	controllers_open("imc-resctrl");
	assert_int_equal(m.n, 8);
	assert_int_equal(n_opened(0x0304), 4);
	assert_int_equal(n_opened(0x0c04), 4);
	for (size_t i = 0; i < fake_perf.n; i++)
		assert_true((fake_perf.one[i].type == 13 || fake_perf.one[i].type == 14) &&
			    (fake_perf.one[i].cpu == 0 || fake_perf.one[i].cpu == 4));
	fake_perf_second(1000);
	assert_int_equal(memcount_end(&m, &sum), 0);
	assert_true(nearly(sum.reads, 4 * 64000) && nearly(sum.writes, 4 * 64000));
	assert_int_equal(sum.lost, 0);
	assert_int_equal(sum.n_parts, 2);
	assert_true(nearly(sum.part[0].bytes, 4 * 64000) && sum.part[0].cpu != sum.part[1].cpu);
	memcount_close(&m);
}

static void units_of_amd_are_asked_for_the_commands_that_move_data(void **state)
{
	(void)state;
	controllers_open("amd-umc");
	assert_int_equal(m.n, 4);
	assert_int_equal(n_opened(0x010a), 2);
	assert_int_equal(n_opened(0x020a), 2);
	fake_perf_second(10);
	assert_int_equal(memcount_end(&m, &sum), 0);
	assert_true(nearly(sum.reads, 2 * 640) && nearly(sum.writes, 2 * 640) && sum.n_parts == 1);
	memcount_close(&m);
}

static void what_the_kernel_refuses_is_told_apart(void **state)
{
	(void)state;
	struct world w = fixture_world("imc-resctrl");
	static const struct {
		int error, want;
	} refusals[] = {{EACCES, WORLD_DENIED},	    {EPERM, WORLD_DENIED},	{ENOENT, MEMCOUNT_REFUSED},
			{EINVAL, MEMCOUNT_REFUSED}, {ENODEV, MEMCOUNT_REFUSED}, {EMFILE, MEMCOUNT_REFUSED}};
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		fake_perf.refuses = refusals[i].error;
		assert_int_equal(memcount_open(&w, &fake_perf_ops, &m), refusals[i].want);
		assert_int_equal(m.n, 0);
	}
	fixture_close(&w);
}

static void a_machine_without_controllers_is_absent(void **state)
{
	(void)state;
	struct world w = fixture_world("systemd-v2");
	assert_int_equal(memcount_open(&w, &fake_perf_ops, &m), WORLD_ABSENT);
	fixture_close(&w);
	w.sys_fd = -1;
	assert_int_equal(memcount_open(&w, &fake_perf_ops, &m), WORLD_ABSENT);
}

/* One of two controllers refuses: what the other one counts is told, as too little. */
static void counters_that_are_lost_are_counted(void **state)
{
	(void)state;
	fake_perf.refuses = EINVAL;
	fake_perf.refuses_type = 14;
	controllers_open("imc-resctrl");
	assert_int_equal(m.n, 4);
	fake_perf_second(1000);
	assert_int_equal(memcount_end(&m, &sum), 0);
	assert_int_equal(sum.lost, 4);
	assert_true(nearly(sum.reads + sum.writes, 4 * 64000));
	memcount_close(&m);
}

static void a_processor_that_goes_offline_takes_its_counters_along(void **state)
{
	(void)state;
	controllers_open("imc-resctrl");
	fake_perf_second(1000);
	for (size_t i = 0; i < fake_perf.n; i++)
		if (fake_perf.one[i].cpu == 4)
			fake_perf.one[i].fails = i % 2 ? ENODATA : EIO;
	assert_int_equal(memcount_end(&m, &sum), 0);
	assert_int_equal(sum.lost, 4);
	assert_int_equal(sum.n_parts, 1);
	memcount_close(&m);
}

/* Others use the same units, and the kernel takes turns: on for a quarter of the time. */
static void counters_that_take_turns_are_scaled(void **state)
{
	(void)state;
	controllers_open("imc-resctrl");
	fake_perf_second(1000);
	for (size_t i = 0; i < fake_perf.n; i++)
		fake_perf.one[i].now.running_ns = 250000000;
	assert_int_equal(memcount_end(&m, &sum), 0);
	assert_true(nearly(sum.reads + sum.writes, 4 * 8 * 64000));
	assert_int_equal(sum.lost, 0);
	for (size_t i = 0; i < fake_perf.n; i++)
		fake_perf.one[i].now.running_ns = i == 0 ? 5000000 : 0; /* hardly, and not at all */
	assert_int_equal(memcount_end(&m, &sum), WORLD_ABSENT);
	memcount_close(&m);
}

static void counters_that_stand_still_or_go_back_say_nothing(void **state)
{
	(void)state;
	controllers_open("imc-resctrl");
	assert_int_equal(memcount_end(&m, &sum), WORLD_ABSENT);
	fake_perf_second(0);
	assert_int_equal(memcount_end(&m, &sum), WORLD_ABSENT);
	fake_perf_second(1000);
	memcount_begin(&m);
	fake_perf_second(0);
	for (size_t i = 0; i < fake_perf.n; i++)
		fake_perf.one[i].now.count = 3;
	assert_int_equal(memcount_end(&m, &sum), WORLD_ABSENT);
	memcount_close(&m);
}

static void the_kernel_itself_refuses_what_does_not_exist(void **state)
{
	(void)state;
	const struct pmuevent e = {{0xffff, 0, 0}};
	struct memcount_value v = {.count = 7};
	assert_true(memcount_kernel.open(&e, 0x7fffffff, 0) < 0);
	assert_true(memcount_kernel.read(-1, &v) == -EBADF);
	assert_int_equal(v.count, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_controllers_of_all_packages_are_counted_once, fake_perf_reset),
		cmocka_unit_test_setup(units_of_amd_are_asked_for_the_commands_that_move_data, fake_perf_reset),
		cmocka_unit_test_setup(what_the_kernel_refuses_is_told_apart, fake_perf_reset),
		cmocka_unit_test_setup(a_machine_without_controllers_is_absent, fake_perf_reset),
		cmocka_unit_test_setup(counters_that_are_lost_are_counted, fake_perf_reset),
		cmocka_unit_test_setup(a_processor_that_goes_offline_takes_its_counters_along, fake_perf_reset),
		cmocka_unit_test_setup(counters_that_take_turns_are_scaled, fake_perf_reset),
		cmocka_unit_test_setup(counters_that_stand_still_or_go_back_say_nothing, fake_perf_reset),
		cmocka_unit_test(the_kernel_itself_refuses_what_does_not_exist),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
