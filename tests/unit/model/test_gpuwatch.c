#include "testing.h"

#include <stdio.h>

#include "base/buf.h"
#include "model/gpu/gpuwatch.h"

#define AT(seconds) ((1000 + (uint64_t)(seconds)) * NS_PER_S)

static struct gpuwatch watch;
static struct gpu_set set;
static char lines[2048];

static int fresh(void **state)
{
	(void)state;
	memset(&watch, 0, sizeof(watch));
	memset(&set, 0, sizeof(set));
	set.n = 1;
	set.gpu[0].index = 3;
	TEXT_COPY(set.gpu[0].uuid, "GPU-aa");
	TEXT_COPY(set.gpu[0].pci, "0000:17:00.0");
	return 0;
}

static void line_keep(void *data, const char *line)
{
	(void)data;
	size_t len = strlen(lines);
	snprintf(lines + len, sizeof(lines) - len, "%s\n", line);
}

static const char *lines_at(uint64_t now_ns)
{
	lines[0] = '\0';
	gpuwatch_lines(&watch, now_ns, line_keep, NULL);
	return lines;
}

static void feed(uint64_t busy, uint64_t clock_mhz, uint64_t reasons, uint64_t now_ns)
{
	struct gpu_sample *g = &set.gpu[0];
	gpu_value_set(g, GPU_BUSY, busy);
	gpu_value_set(g, GPU_SM_CLOCK, clock_mhz);
	gpu_value_set(g, GPU_REASONS, reasons);
	gpuwatch_feed(&watch, &set, now_ns);
}

static void a_busy_gpu_at_a_low_clock_is_reported_with_its_duration(void **state)
{
	(void)state;
	feed(GPUWATCH_BUSY_PERCENT, GPUWATCH_LOW_MHZ - 1, 0, AT(0));
	feed(100, 300, 0, AT(30));
	feed(100, 300, 0, AT(50));
	assert_string_equal(lines_at(AT(50)), "sm_clock_low_s{gpu3} 50\n");
}

static void an_idle_gpu_and_one_at_the_limit_are_not_reported(void **state)
{
	(void)state;
	feed(GPUWATCH_BUSY_PERCENT - 1, 200, 0, AT(0));
	assert_string_equal(lines_at(AT(0)), "");
	feed(100, GPUWATCH_LOW_MHZ, 0, AT(1));
	assert_string_equal(lines_at(AT(1)), "");
	set.gpu[0].has = 0;
	gpuwatch_feed(&watch, &set, AT(2));
	assert_string_equal(lines_at(AT(2)), "");
}

static void a_gap_of_more_than_a_minute_restarts_the_duration(void **state)
{
	(void)state;
	feed(100, 300, 0, AT(0));
	feed(100, 300, 0, AT(60));
	assert_string_equal(lines_at(AT(60)), "sm_clock_low_s{gpu3} 60\n");
	feed(100, 300, 0, AT(121));
	assert_string_equal(lines_at(AT(121)), "sm_clock_low_s{gpu3} 0\n");
}

static void reasons_gather_while_a_gpu_is_held_back(void **state)
{
	(void)state;
	feed(100, 1200, GPU_REASON_HW_THERMAL, AT(0));
	feed(100, 1200, GPU_REASON_POWER_BRAKE | GPU_REASON_IDLE, AT(40));
	assert_string_equal(lines_at(AT(40)), "gpu_held_back_s{gpu3} 40 hw_thermal,power_brake\n");
	feed(100, 1200, GPU_REASON_IDLE, AT(41));
	assert_string_equal(lines_at(AT(41)), "");
	feed(100, 1200, GPU_REASON_SW_THERMAL, AT(42));
	assert_string_equal(lines_at(AT(42)), "gpu_held_back_s{gpu3} 0 sw_thermal\n");
}

static void a_trouble_lasts_until_it_was_not_seen_for_a_while(void **state)
{
	(void)state;
	gpu_finding_add(&set, GPU_LOST, "nvmlDeviceGetPowerUsage", "GPU-aa", "lost");
	gpu_finding_add(&set, GPU_BLOCKED, "nvmlInit", "", "blocked");
	gpuwatch_feed(&watch, &set, AT(0));
	gpuwatch_feed(&watch, &set, AT(90));
	assert_string_equal(lines_at(AT(100)), "gpu_lost_s{gpu3} 100\ngpu_driver_blocked_s{nvmlInit} 100\n");
	assert_string_equal(lines_at(AT(90) + GPUWATCH_TROUBLE_NS + 1), "");
	gpuwatch_feed(&watch, &set, AT(90) + GPUWATCH_TROUBLE_NS + 1);
	assert_int_equal(watch.n_troubles, 2);
	assert_string_equal(lines_at(AT(90) + GPUWATCH_TROUBLE_NS + 1),
			    "gpu_lost_s{gpu3} 0\ngpu_driver_blocked_s{nvmlInit} 0\n");
}

static void troubles_without_a_name_and_too_many_are_not_reported(void **state)
{
	(void)state;
	gpu_finding_add(&set, GPU_MISMATCH, "nvmlInit", "", "versions");
	gpuwatch_feed(&watch, &set, AT(0));
	assert_string_equal(lines_at(AT(0)), "");
	for (int i = 0; i < GPUWATCH_TROUBLES + 4; i++) {
		char call[32];
		snprintf(call, sizeof(call), "call%d", i);
		set.n_findings = 0;
		gpu_finding_add(&set, GPU_BLOCKED, call, "", "blocked");
		gpuwatch_feed(&watch, &set, AT(1));
	}
	assert_int_equal(watch.n_troubles, GPUWATCH_TROUBLES);
}

static void an_xid_has_the_form_of_the_kernel_log(void **state)
{
	(void)state;
	set.n_events = 3;
	set.event[0] = (struct gpu_event){.type = 8, .data = 79, .uuid = "GPU-aa"};
	set.event[1] = (struct gpu_event){.type = 8, .data = 13, .uuid = "GPU-unknown"};
	set.event[2] = (struct gpu_event){.type = 1, .data = 48, .uuid = "GPU-aa"};
	gpuwatch_feed(&watch, &set, AT(0));
	lines[0] = '\0';
	gpuwatch_kernel_lines(&watch, line_keep, NULL);
	assert_string_equal(lines, "NVRM: Xid (PCI:0000:17:00): 79, told by NVML\n");
	for (int i = 0; i < GPUWATCH_XIDS + 5; i++)
		gpuwatch_feed(&watch, &set, AT(1));
	assert_int_equal(watch.n_xids, GPUWATCH_XIDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_busy_gpu_at_a_low_clock_is_reported_with_its_duration, fresh),
		cmocka_unit_test_setup(an_idle_gpu_and_one_at_the_limit_are_not_reported, fresh),
		cmocka_unit_test_setup(a_gap_of_more_than_a_minute_restarts_the_duration, fresh),
		cmocka_unit_test_setup(reasons_gather_while_a_gpu_is_held_back, fresh),
		cmocka_unit_test_setup(a_trouble_lasts_until_it_was_not_seen_for_a_while, fresh),
		cmocka_unit_test_setup(troubles_without_a_name_and_too_many_are_not_reported, fresh),
		cmocka_unit_test_setup(an_xid_has_the_form_of_the_kernel_log, fresh),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
