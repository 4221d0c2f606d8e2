/* What the hang watcher makes of one sample of devices and ports, without any driver. */
#include "testing.h"

#include "agent/hang/hangdevices.h"
#include "base/buf.h"

static struct hangdevices d;
static struct gpu_set set;

static int begin(void **state)
{
	(void)state;
	memset(&set, 0, sizeof(set));
	d = (struct hangdevices){.set = &set};
	return 0;
}

static struct gpu_sample *device(const char *uuid)
{
	struct gpu_sample *g = &set.gpu[set.n];
	g->index = set.n++;
	text_copy(g->uuid, sizeof(g->uuid), uuid);
	return g;
}

static void values_become_means_and_of_clocks_the_lowest(void **state)
{
	(void)state;
	struct liveness_counters seen = {.rank = 0};
	static const struct {
		uint64_t busy, power, clock, reasons, energy;
	} rows[] = {{100, 300000, 1400, 1, 7}, {50, 100000, 900, 4, 5}, {0, 999000, 100, 8, 100}};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct gpu_sample *g = device("x");
		gpu_value_set(g, GPU_BUSY, rows[i].busy);
		gpu_value_set(g, GPU_POWER, rows[i].power);
		gpu_value_set(g, GPU_SM_CLOCK, rows[i].clock);
		gpu_value_set(g, GPU_REASONS, rows[i].reasons);
		gpu_value_set(g, GPU_ENERGY, rows[i].energy);
	}
	hangdevices_fill(&d, (struct gpuclaim){.devices = 3, .by = GPU_BY_DRIVER}, &seen);
	assert_string_equal(seen.gpu_which, "0,1");
	assert_true(seen.gpu[LIVENESS_GPU_BUSY] == 75 && seen.gpu[LIVENESS_GPU_POWER] == 200);
	assert_true(seen.gpu[LIVENESS_GPU_CLOCK] == 900 && seen.gpu[LIVENESS_GPU_REASONS] == 5);
	assert_true(seen.has & 1u << LIVENESS_GPU_ENERGY);
	assert_int_equal(seen.count[LIVENESS_GPU_ENERGY], 12);
	assert_false(seen.gpu_has & 1u << LIVENESS_GPU_CLOCK_MAX);
}

static void a_rank_without_devices_gets_no_values(void **state)
{
	(void)state;
	struct liveness_counters seen = {.rank = 0};
	gpu_value_set(device("x"), GPU_BUSY, 100);
	hangdevices_fill(&d, (struct gpuclaim){.devices = 0}, &seen);
	assert_int_equal(seen.gpu_has, 0);
	assert_int_equal(seen.has, 0);
	assert_string_equal(seen.gpu_which, "");
}

static void a_job_gets_its_devices_with_lost_ones_and_their_findings(void **state)
{
	(void)state;
	static struct gpu_set own;
	device("GPU-a");
	device("GPU-b");
	device("GPU-c")->lost = true;
	device("GPU-d")->lost = true;
	assert_non_null(gpu_finding_add(&set, GPU_FAILED, "call", "GPU-c", "gone"));
	assert_non_null(gpu_finding_add(&set, GPU_FAILED, "call", "GPU-a", "slow"));
	assert_non_null(gpu_finding_add(&set, GPU_FAILED, "init", "", "driver"));
	set.n_events = 2;
	TEXT_COPY(set.event[0].uuid, "GPU-d");
	TEXT_COPY(set.event[1].uuid, "GPU-b");
	hangdevices_of(&d, 1 << 1, 1 << 1 | 1 << 2, false, &own);
	assert_int_equal(own.n, 2);
	assert_string_equal(own.gpu[0].uuid, "GPU-b");
	assert_string_equal(own.gpu[1].uuid, "GPU-c");
	assert_int_equal(own.n_findings, 1);
	assert_string_equal(own.finding[0].text, "gone");
	assert_int_equal(own.n_events, 1);
	assert_string_equal(own.event[0].uuid, "GPU-b");
	hangdevices_of(&d, 1 << 1, 1 << 1 | 1 << 2, true, &own);
	assert_int_equal(own.n_findings, 2);
	assert_string_equal(own.finding[1].text, "driver");
}

static void a_job_without_devices_gets_none(void **state)
{
	(void)state;
	static struct gpu_set own;
	device("GPU-a");
	own.n = 3;
	hangdevices_of(&d, 0, 0, false, &own);
	assert_int_equal(own.n, 0);
	d.set = NULL;
	hangdevices_of(&d, 1, 1, true, &own);
	assert_int_equal(own.n + own.n_findings, 0);
}

static void counters_of_ports_are_added_up_in_words(void **state)
{
	(void)state;
	static struct liveness_sample sample;
	memset(&sample, 0, sizeof(sample));
	d.has_rdma = true;
	d.n_ports = 3;
	for (size_t i = 0; i < 2; i++) {
		d.port[i].has = UINT64_C(1) << IB_XMIT_BYTES | UINT64_C(1) << IB_RECV_BYTES;
		d.port[i].value[IB_XMIT_BYTES] = 400;
		d.port[i].value[IB_RECV_BYTES] = 800;
	}
	d.port[1].has |= UINT64_C(1) << IB_XMIT_WAIT;
	d.port[1].value[IB_XMIT_WAIT] = 9;
	d.port[2].has = UINT64_C(1) << IB_XMIT_BYTES; /* half of a counter says nothing */
	d.port[2].value[IB_XMIT_BYTES] = 4000;
	hangdevices_ports(&d, &sample);
	assert_true(sample.has_rdma && sample.has_rdma_wait);
	assert_int_equal(sample.rdma_words, 600);
	assert_int_equal(sample.rdma_wait, 9);
	memset(&sample, 0, sizeof(sample));
	d.has_rdma = false;
	hangdevices_ports(&d, &sample);
	assert_false(sample.has_rdma);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(values_become_means_and_of_clocks_the_lowest, begin),
		cmocka_unit_test_setup(a_rank_without_devices_gets_no_values, begin),
		cmocka_unit_test_setup(a_job_gets_its_devices_with_lost_ones_and_their_findings, begin),
		cmocka_unit_test_setup(a_job_without_devices_gets_none, begin),
		cmocka_unit_test_setup(counters_of_ports_are_added_up_in_words, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
