/*
 * What must be so of any NVIDIA machine: each test runs on a fake library, and
 * on the real one where it has a device. tests/gpu.md lists them.
 */
#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "sense/gpu/gpuprobe.h"

#define SCRIPT                                                                                                         \
	"device 0 name NVIDIA H100 80GB HBM3\ndevice 0 uuid GPU-aaaa\ndevice 0 bus 0x17\ndevice 0 minor 0\n"           \
	"device 0 busy 97 40\ndevice 0 memory_busy 33\ndevice 0 memory_total 85899345920\n"                            \
	"device 0 memory_used 1073741824\ndevice 0 power 150000\ndevice 0 power_limit 700000\n"                        \
	"device 0 energy 1000 2000 3000\ndevice 0 temperature 64\ndevice 0 sm_clock 1500\n"                            \
	"device 0 sm_clock_max 1980\ndevice 0 memory_clock 2619\ndevice 0 memory_clock_max 2619\n"                     \
	"device 1 name NVIDIA H100 80GB HBM3\ndevice 1 uuid GPU-bbbb\ndevice 1 bus 0x3d\ndevice 1 minor 1\n"           \
	"device 1 busy 0\ndevice 1 memory_busy 0\ndevice 1 memory_total 85899345920\ndevice 1 memory_used 0\n"         \
	"process 0 compute 4711 1000 88 12\n"

static struct world world;
static struct gpu_set set, again;
static char script_path[64];
static const struct gpuprobe_limits patient = {20 * NS_PER_S, 40 * NS_PER_S};

static int begin(void **state)
{
	(void)state;
	TEXT_FORMAT(script_path, "/tmp/vigil-test-gpu-any-%d", getpid());
	world = (struct world){.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			       .sys_fd = -1,
			       .cgroup_fd = -1,
			       .shm_fd = -1,
			       .kmsg_fd = -1,
			       .mono_ns = clock_mono_ns,
			       .unix_ms = clock_unix_ms};
	return file_replace(script_path, SCRIPT, strlen(SCRIPT), 0600);
}

static int finish(void **state)
{
	(void)state;
	return unlink(script_path);
}

static int fake(void **state)
{
	(void)state;
	return setenv("FAKE_NVML", script_path, 1) | setenv("VIGIL_NVML_PATH", FAKE_GPU "/fake_nvml.so", 1);
}

static int real(void **state)
{
	(void)state;
	return unsetenv("VIGIL_NVML_PATH");
}

static void sampled(struct gpuprobe *p, struct gpu_set *to)
{
	memset(to, 0, sizeof(*to));
	assert_int_equal(gpuprobe_ask(p), 0);
	gpuprobe_collect(p, to);
}

/* The first sample; the test is skipped where there is no driver or no device. */
static struct gpuprobe started(void)
{
	struct gpuprobe p;
	gpuprobe_init(&p, &gpu_backend_nvml, &world, patient);
	sampled(&p, &set);
	if (set.n == 0) {
		print_message("skipped: no NVIDIA device here: %s\n",
			      set.n_drivers ? set.driver[0].text : "the driver's library gave no answer");
		gpuprobe_stop(&p);
		skip();
	}
	return p;
}

static void most(const struct gpu_sample *g, enum gpu_value v, uint64_t limit)
{
	if (gpu_has(g, v) && g->value[v] > limit)
		fail_msg("%s: %s is %llu", g->uuid, gpu_value_name(v)->name, (unsigned long long)g->value[v]);
}

static void the_driver_is_ready_and_has_a_version(void **state)
{
	(void)state;
	struct gpuprobe p = started();
	assert_int_equal(set.n_drivers, 1);
	assert_int_equal(set.driver[0].state, GPU_DRIVER_READY);
	assert_true(set.driver[0].version[0] >= '0' && set.driver[0].version[0] <= '9');
	assert_int_equal(set.n_findings, 0);
	gpuprobe_stop(&p);
}

static void each_device_is_another_and_has_a_device_file(void **state)
{
	(void)state;
	struct gpuprobe p = started();
	for (uint32_t i = 0; i < set.n; i++) {
		const struct gpu_sample *g = &set.gpu[i];
		unsigned domain, bus, device;
		assert_int_equal(g->vendor, GPU_NVIDIA);
		assert_true(g->name[0] && g->uuid[0] && g->has_number && !g->lost);
		assert_int_equal(sscanf(g->pci, "%x:%x:%x.0", &domain, &bus, &device), 3);
		for (uint32_t k = 0; k < i; k++) {
			assert_string_not_equal(g->uuid, set.gpu[k].uuid);
			assert_string_not_equal(g->pci, set.gpu[k].pci);
			assert_true(g->index != set.gpu[k].index && g->number != set.gpu[k].number);
		}
	}
	gpuprobe_stop(&p);
}

static void values_are_such_as_there_can_be(void **state)
{
	(void)state;
	struct gpuprobe p = started();
	for (uint32_t i = 0; i < set.n; i++) {
		const struct gpu_sample *g = &set.gpu[i];
		assert_true(gpu_has(g, GPU_MEMORY_TOTAL) && g->value[GPU_MEMORY_TOTAL] > 100 * MIB);
		most(g, GPU_MEMORY_TOTAL, 4096 * GIB);
		most(g, GPU_MEMORY_USED, g->value[GPU_MEMORY_TOTAL]);
		most(g, GPU_BUSY, 100);
		most(g, GPU_MEMORY_BUSY, 100);
		most(g, GPU_POWER, 5000000);
		most(g, GPU_POWER_LIMIT, 5000000);
		most(g, GPU_TEMPERATURE, 130);
		most(g, GPU_SM_CLOCK_MAX, 10000);
		if (gpu_has(g, GPU_SM_CLOCK_MAX))
			most(g, GPU_SM_CLOCK, g->value[GPU_SM_CLOCK_MAX]);
		if (gpu_has(g, GPU_PCIE_WIDTH_MAX))
			most(g, GPU_PCIE_WIDTH, g->value[GPU_PCIE_WIDTH_MAX]);
		for (uint32_t k = 0; k < g->n_processes; k++)
			assert_true(g->process[k].driver_pid > 0 &&
				    (!g->process[k].has_memory ||
				     g->process[k].memory_bytes <= g->value[GPU_MEMORY_TOTAL]));
	}
	gpuprobe_stop(&p);
}

static void a_second_look_is_by_the_same_child_and_counters_go_on(void **state)
{
	(void)state;
	struct gpuprobe p = started();
	pid_t first = p.pid;
	sampled(&p, &again);
	assert_int_equal(p.pid, first);
	assert_int_equal(again.n, set.n);
	assert_int_equal(again.n_drivers, 1);
	for (uint32_t i = 0; i < set.n; i++) {
		assert_string_equal(again.gpu[i].uuid, set.gpu[i].uuid);
		assert_int_equal(again.gpu[i].value[GPU_MEMORY_TOTAL], set.gpu[i].value[GPU_MEMORY_TOTAL]);
		if (gpu_has(&set.gpu[i], GPU_ENERGY))
			assert_true(again.gpu[i].value[GPU_ENERGY] >= set.gpu[i].value[GPU_ENERGY]);
	}
	gpuprobe_stop(&p);
}

static size_t descriptors(void)
{
	size_t n = 0;
	DIR *d = opendir("/proc/self/fd");
	assert_non_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

static void nothing_of_the_driver_is_left_in_us(void **state)
{
	(void)state;
	size_t before = descriptors();
	struct gpuprobe p = started();
	gpuprobe_stop(&p);
	assert_int_equal(descriptors(), before);
	assert_int_equal(p.left, 0); /* the child has ended */
	cleanup(freep) char *maps = NULL;
	size_t len;
	assert_int_equal(file_slurp(world.proc_fd, "self/maps", 16 * MIB, &maps, &len), 0);
	assert_null(strstr(maps, "nvidia-ml"));
	assert_null(strstr(maps, "fake_nvml"));
}

#define ON_BOTH(test)                                                                                                  \
	{#test " (fake)", test, fake, NULL, NULL}, {#test " (real)", test, real, NULL, NULL}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_BOTH(the_driver_is_ready_and_has_a_version),
		ON_BOTH(each_device_is_another_and_has_a_device_file),
		ON_BOTH(values_are_such_as_there_can_be),
		ON_BOTH(a_second_look_is_by_the_same_child_and_counters_go_on),
		ON_BOTH(nothing_of_the_driver_is_left_in_us),
	};
	return cmocka_run_group_tests(tests, begin, finish);
}
