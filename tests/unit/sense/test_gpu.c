/* Backends against fake drivers, each through the child that makes the calls. */
#include "testing.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "sense/gpu/drmfd.h"
#include "sense/gpu/gpuprobe.h"
#include "sense/gpu/nvml_abi.h"

static char script_path[64];
static struct world world;
static struct gpu_set set;

static void script(const char *text)
{
	assert_int_equal(file_replace(script_path, text, strlen(text), 0600), 0);
}

static int begin(void **state)
{
	(void)state;
	TEXT_FORMAT(script_path, "/tmp/vigil-test-gpu-%d", getpid());
	world = (struct world){.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			       .sys_fd = -1,
			       .cgroup_fd = -1,
			       .shm_fd = -1,
			       .kmsg_fd = -1,
			       .mono_ns = clock_mono_ns,
			       .unix_ms = clock_unix_ms};
	return setenv("FAKE_NVML", script_path, 1) | setenv("VIGIL_NVML_PATH", FAKE_GPU "/fake_nvml.so", 1);
}

static int finish(void **state)
{
	(void)state;
	return unlink(script_path);
}

/* Enough for a busy machine; a sanitizer's start is slow. */
static const struct gpuprobe_limits patient = {10 * NS_PER_S, 20 * NS_PER_S};

static void sampled(struct gpuprobe *p)
{
	memset(&set, 0, sizeof(set));
	assert_int_equal(gpuprobe_ask(p), 0);
	gpuprobe_collect(p, &set);
}

static struct gpuprobe once(const struct gpuprobe_limits *limits)
{
	struct gpuprobe p;
	gpuprobe_init(&p, &gpu_backend_nvml, &world, *limits);
	sampled(&p);
	return p;
}

#define H100                                                                                                           \
	"device 0 name NVIDIA H100 80GB HBM3\ndevice 0 uuid GPU-aaaa\ndevice 0 bus 0x17\ndevice 0 minor 5\n"           \
	"device 0 busy 97 40\ndevice 0 memory_busy 33\ndevice 0 memory_total 85899345920\n"                            \
	"device 0 memory_used 1073741824\ndevice 0 memory_reserved 536870912\ndevice 0 power 150000\n"                 \
	"device 0 power_limit 700000\ndevice 0 energy 123456789012\ndevice 0 temperature 64\n"                         \
	"device 0 sm_clock 1980\ndevice 0 sm_clock_max 1980\ndevice 0 memory_clock 2619\n"                             \
	"device 0 memory_clock_max 2619\ndevice 0 reasons 0x44\ndevice 0 ecc_corrected 3\n"                            \
	"device 0 ecc_uncorrected 1\ndevice 0 rows_correctable 2\ndevice 0 rows_uncorrectable 1\n"                     \
	"device 0 rows_pending 1\ndevice 0 rows_failed 0\ndevice 0 field230 1\ndevice 0 field138 10\n"                 \
	"device 0 pcie_generation 4\ndevice 0 pcie_generation_max 5\n"

static void nvml_values_arrive_with_their_units(void **state)
{
	(void)state;
	script(H100 "process 0 compute 4711 1000 88 12\nprocess 0 graphics 4711 900\nprocess 0 mps 4712 unknown\n");
	struct gpuprobe p = once(&patient);
	const struct gpu_sample *g = &set.gpu[0];
	assert_int_equal(set.n, 1);
	assert_int_equal(set.n_findings, 0);
	assert_int_equal(set.driver[0].state, GPU_DRIVER_READY);
	assert_string_equal(set.driver[0].version, "580.00");
	assert_string_equal(g->name, "NVIDIA H100 80GB HBM3");
	assert_string_equal(g->uuid, "GPU-aaaa");
	assert_string_equal(g->pci, "0000:17:00.0");
	assert_true(g->has_number && g->number == 5); /* /dev/nvidia5, though the first that is seen */
	const struct {
		enum gpu_value v;
		uint64_t is;
	} want[] = {{GPU_BUSY, 97},
		    {GPU_MEMORY_BUSY, 33},
		    {GPU_MEMORY_TOTAL, 80 * GIB},
		    {GPU_MEMORY_USED, GIB},
		    {GPU_MEMORY_RESERVED, GIB / 2},
		    {GPU_POWER, 150000},
		    {GPU_POWER_LIMIT, 700000},
		    {GPU_ENERGY, UINT64_C(123456789012)},
		    {GPU_TEMPERATURE, 64},
		    {GPU_SM_CLOCK, 1980},
		    {GPU_MEMORY_CLOCK, 2619},
		    {GPU_REASONS, 0x44},
		    {GPU_ECC_CORRECTED, 3},
		    {GPU_ECC_UNCORRECTED, 1},
		    {GPU_ROWS_CORRECTABLE, 2},
		    {GPU_ROWS_PENDING, 1},
		    {GPU_ROWS_FAILED, 0},
		    {GPU_RECOVERY, 1},
		    {GPU_NVLINK_TX, 10 * KIB},
		    {GPU_PCIE_GENERATION, 4},
		    {GPU_PCIE_GENERATION_MAX, 5}};
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_true(gpu_has(g, want[i].v));
		assert_int_equal(g->value[want[i].v], want[i].is);
	}
	assert_false(gpu_has(g, GPU_PCIE_TX)); /* not in the script: unknown, not zero */
	assert_false(gpu_has(g, GPU_MIG));
	assert_true(g->has_processes);
	assert_int_equal(g->n_processes, 2);
	assert_int_equal(g->process[0].driver_pid, 4711);
	assert_int_equal(g->process[0].memory_bytes, 1000); /* once, though in two lists */
	assert_true(g->process[0].has_sm && g->process[0].sm_percent == 88 && g->process[0].memory_percent == 12);
	assert_int_equal(g->process[1].driver_pid, 4712);
	assert_false(g->process[1].has_memory);
	/* The same child, asked again. */
	pid_t first = p.pid;
	sampled(&p);
	assert_int_equal(p.pid, first);
	assert_int_equal(set.n, 1);
	assert_int_equal(set.n_drivers, 1);
	assert_int_equal(set.gpu[0].value[GPU_BUSY], 40);
	gpuprobe_stop(&p);
}

static void both_sizes_of_process_records_are_understood(void **state)
{
	(void)state;
	for (int n = 1; n <= 5; n++) {
		for (int stride = 24; stride <= 32; stride += 8) {
			char text[1024];
			struct buf b = BUF_ON(text);
			buf_reset(&b);
			buf_printf(&b, "device 0 name x\nset stride %d\n", stride);
			for (int i = 0; i < n; i++)
				buf_printf(&b, "process 0 compute %d %d\n", 100 + i, 1000 * (i + 1));
			script(text);
			struct gpuprobe p = once(&patient);
			assert_int_equal(set.gpu[0].n_processes, n);
			for (int i = 0; i < n; i++) {
				assert_int_equal(set.gpu[0].process[i].driver_pid, 100 + i);
				assert_int_equal(set.gpu[0].process[i].memory_bytes, 1000 * (i + 1));
			}
			gpuprobe_stop(&p);
		}
	}
}

static void a_library_that_clears_the_whole_list_is_judged_by_its_symbols(void **state)
{
	(void)state;
	uint8_t raw[32 * 3] = {0};
	const struct nvml_process_v2 one = {.pid = 7, .used_bytes = 5};
	memcpy(raw, &one, sizeof(one));
	assert_int_equal(nvml_stride(raw, 1, false), 24);
	assert_int_equal(nvml_stride(raw, 1, true), 32);
	memcpy(raw + 32, &one, sizeof(one));
	assert_int_equal(nvml_stride(raw, 2, false), 32); /* at 24 there is no pid */
}

/* What driver 580.159.04 writes for one process: 24 bytes, of which it leaves the padding as it was. */
static void the_list_of_a_real_driver_is_read(void **state)
{
	(void)state;
	static const uint8_t seen[24] = {0x62, 0x05, 0, 0, 0xa5, 0xa5, 0xa5, 0xa5, 0, 0, 0x80, 0xa4,
					 0,    0,    0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint8_t raw[32 * 2];
	memset(raw, NVML_POISON, sizeof(raw));
	memcpy(raw, seen, sizeof(seen));
	assert_int_equal(nvml_stride(raw, 1, false), 24);
	assert_int_equal(nvml_stride(raw, 1, true), 24);
	struct nvml_process_v2 one;
	memcpy(&one, raw, sizeof(one));
	assert_int_equal(one.pid, 1378);
	assert_true(one.used_bytes == UINT64_C(2759852032));
}

static void an_old_library_gives_what_it_has(void **state)
{
	(void)state;
	assert_int_equal(setenv("VIGIL_NVML_PATH", FAKE_GPU "/fake_nvml_old.so", 1), 0);
	script(H100 "process 0 compute 31 1000\nprocess 0 compute 32 2000\nprocess 0 graphics 33 1\n");
	struct gpuprobe p = once(&patient);
	assert_int_equal(setenv("VIGIL_NVML_PATH", FAKE_GPU "/fake_nvml.so", 1), 0);
	const struct gpu_sample *g = &set.gpu[0];
	assert_int_equal(set.n, 1);
	assert_int_equal(set.n_findings, 0);
	assert_int_equal(g->value[GPU_MEMORY_USED], GIB + GIB / 2);
	assert_false(gpu_has(g, GPU_MEMORY_RESERVED) || gpu_has(g, GPU_ENERGY) || gpu_has(g, GPU_RECOVERY));
	assert_int_equal(g->value[GPU_REASONS], 0x44);
	assert_int_equal(g->n_processes, 3);
	assert_int_equal(g->process[1].driver_pid, 32);
	assert_int_equal(g->process[1].memory_bytes, 2000);
	gpuprobe_stop(&p);
}

static void a_lost_device_is_a_finding_and_is_left_alone(void **state)
{
	(void)state;
	script(H100 "device 1 name second\ndevice 1 uuid GPU-bbbb\ndevice 1 power 5\ndevice 1 busy 1\ndevice 1 "
		    "memory_busy 1\n"
		    "return nvmlDeviceGetPowerUsage 15 0\n");
	struct gpuprobe p = once(&patient);
	assert_int_equal(set.n, 2);
	assert_int_equal(set.n_findings, 1);
	assert_int_equal(set.finding[0].trouble, GPU_LOST);
	assert_int_equal(set.finding[0].code, 15);
	assert_string_equal(set.finding[0].call, "nvmlDeviceGetPowerUsage");
	assert_string_equal(set.finding[0].uuid, "GPU-aaaa");
	assert_true(set.gpu[0].lost && gpu_has(&set.gpu[0], GPU_BUSY) && !gpu_has(&set.gpu[0], GPU_TEMPERATURE));
	assert_true(!set.gpu[1].lost && gpu_has(&set.gpu[1], GPU_POWER));
	sampled(&p);
	assert_true(set.gpu[0].lost && set.gpu[0].has == 0); /* not a single call was made */
	assert_int_equal(set.n_findings, 0);
	gpuprobe_stop(&p);
}

static void reset_and_mismatch_are_findings(void **state)
{
	(void)state;
	script(H100 "return nvmlDeviceGetUtilizationRates 16\n");
	struct gpuprobe p = once(&patient);
	assert_int_equal(set.finding[0].trouble, GPU_RESET);
	gpuprobe_stop(&p);
	script("return nvmlInit_v2 18\n");
	p = once(&patient);
	assert_int_equal(set.n, 0);
	assert_int_equal(set.n_findings, 1);
	assert_int_equal(set.finding[0].trouble, GPU_MISMATCH);
	assert_int_equal(set.driver[0].state, GPU_DRIVER_FAILED);
	gpuprobe_stop(&p);
	script("return nvmlInit_v2 9\n");
	p = once(&patient);
	assert_int_equal(set.n_findings, 0);
	assert_int_equal(set.driver[0].state, GPU_DRIVER_ABSENT);
	gpuprobe_stop(&p);
}

static void a_call_that_blocks_is_named_and_what_came_before_it_is_kept(void **state)
{
	(void)state;
	script(H100 "delay nvmlDeviceGetTemperature 60000\n");
	uint64_t begun = clock_mono_ns();
	const struct gpuprobe_limits hasty = {NS_PER_S, 10 * NS_PER_S};
	struct gpuprobe p = once(&hasty);
	assert_true(clock_mono_ns() - begun < 9 * NS_PER_S);
	assert_int_equal(set.n_findings, 1);
	assert_int_equal(set.finding[0].trouble, GPU_BLOCKED);
	assert_string_equal(set.finding[0].call, "nvmlDeviceGetTemperature");
	assert_non_null(strstr(set.finding[0].text, "NVML has not answered nvmlDeviceGetTemperature for"));
	assert_int_equal(set.n, 1);
	assert_int_equal(set.gpu[0].value[GPU_POWER], 150000);
	assert_false(gpu_has(&set.gpu[0], GPU_SM_CLOCK));
	/* Not asked again for a while, and without waiting. */
	begun = clock_mono_ns();
	sampled(&p);
	assert_true(clock_mono_ns() - begun < NS_PER_S);
	assert_int_equal(set.n, 0);
	assert_int_equal(p.pid, 0);
	gpuprobe_stop(&p);
}

static void a_library_that_crashes_takes_only_its_child(void **state)
{
	(void)state;
	script(H100 "crash nvmlDeviceGetRemappedRows\n");
	struct gpuprobe p = once(&patient);
	assert_int_equal(set.n_findings, 1);
	assert_int_equal(set.finding[0].trouble, GPU_CRASHED);
	assert_string_equal(set.finding[0].call, "nvmlDeviceGetRemappedRows");
	assert_int_equal(set.gpu[0].value[GPU_TEMPERATURE], 64);
	p.retry_ns = 0;
	script(H100);
	sampled(&p); /* a new child, and all is well */
	assert_int_equal(set.n_findings, 0);
	assert_int_equal(set.n, 1);
	gpuprobe_stop(&p);
	while (waitpid(-1, NULL, 0) >
	       0) /* a busy machine may need a moment for the one that was given up; they all end */
		;
	assert_int_equal(errno, ECHILD);
}

static void an_absent_library_is_told_with_the_name_that_was_tried(void **state)
{
	(void)state;
	assert_int_equal(setenv("VIGIL_NVML_PATH", "/nowhere/libnvidia-ml.so.1", 1), 0);
	struct gpuprobe p = once(&patient);
	assert_int_equal(setenv("VIGIL_NVML_PATH", FAKE_GPU "/fake_nvml.so", 1), 0);
	assert_int_equal(set.n, 0);
	assert_int_equal(set.n_findings, 0);
	assert_int_equal(set.driver[0].state, GPU_DRIVER_ABSENT);
	assert_non_null(strstr(set.driver[0].text, "/nowhere/libnvidia-ml.so.1"));
	gpuprobe_stop(&p);
}

/* Whoever reads our output waits until nobody holds its other end; a child stuck in the kernel would for ever. */
static void the_child_holds_nothing_of_ours(void **state)
{
	(void)state;
	int pair[2];
	char path[64], ours[64] = "", link[64];
	assert_int_equal(pipe(pair), 0);
	TEXT_FORMAT(path, "/proc/self/fd/%d", pair[1]);
	assert_true(readlink(path, ours, sizeof(ours) - 1) > 0);
	script(H100);
	struct gpuprobe p = once(&patient);
	int open_there = 0;
	for (int fd = 0; fd < 64; fd++) {
		TEXT_FORMAT(path, "/proc/%d/fd/%d", p.pid, fd);
		ssize_t n = readlink(path, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = '\0';
		open_there++;
		assert_string_not_equal(link, ours);
		if (fd < 3)
			assert_string_equal(link, "/dev/null");
	}
	assert_true(open_there >= 4 && open_there <= 6); /* null, the socket, /proc, perhaps /sys */
	gpuprobe_stop(&p);
	close(pair[0]);
	close(pair[1]);
}

static void xids_come_once_through_the_event_set(void **state)
{
	(void)state;
	script(H100 "event 0 8 79\nevent 0 4 1\nevent 0 8 154\n");
	struct gpuprobe p = once(&patient);
	assert_int_equal(set.n_events, 2); /* a change of P-state was not asked for */
	assert_int_equal(set.event[0].data, 79);
	assert_string_equal(set.event[0].uuid, "GPU-aaaa");
	assert_int_equal(set.event[1].data, 154);
	sampled(&p);
	assert_int_equal(set.n_events, 0);
	gpuprobe_stop(&p);
}

static int entry_remove(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static void world_remove(const char *path)
{
	assert_int_equal(nftw(path, entry_remove, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void put(const char *path, const char *text)
{
	char full[256], *slash;
	TEXT_FORMAT(full, "%s-world/%s", script_path, path);
	slash = strrchr(full, '/');
	*slash = '\0';
	assert_int_equal(file_mkdirs(full, 0700), 0);
	*slash = '/';
	assert_int_equal(file_replace(full, text, strlen(text), 0600), 0);
}

static void put_device_fd_of(const char *device, const char *pid, const char *fd, const char *fdinfo)
{
	char full[256];
	TEXT_FORMAT(full, "%s/fdinfo/%s", pid, fd);
	char inside[300];
	TEXT_FORMAT(inside, "proc/%s", full);
	put(inside, fdinfo);
	TEXT_FORMAT(full, "%s-world/proc/%s/fd", script_path, pid);
	assert_int_equal(file_mkdirs(full, 0700), 0);
	TEXT_FORMAT(full, "%s-world/proc/%s/fd/%s", script_path, pid, fd);
	assert_int_equal(symlink(device, full), 0);
}

static void put_device_fd(const char *pid, const char *fd, const char *fdinfo)
{
	put_device_fd_of("/dev/dri/renderD128", pid, fd, fdinfo);
}

#define AMD_CARD "sys/class/drm/card1/device/"

static void amd_world(void)
{
	put(AMD_CARD "vendor", "0x1002\n");
	put(AMD_CARD "uevent", "DRIVER=amdgpu\nPCI_ID=1002:74A1\nPCI_SLOT_NAME=0000:03:00.0\n");
	put(AMD_CARD "gpu_busy_percent", "41\n");
	put(AMD_CARD "drm/renderD129/dev", "226:129\n");
	put(AMD_CARD "mem_info_vram_total", "17163091968\n");
	put(AMD_CARD "mem_info_vram_used", "1048576\n");
	put(AMD_CARD "hwmon/hwmon3/power1_average", "97000000\n");
	put(AMD_CARD "hwmon/hwmon3/temp1_input", "51000\n");
	put(AMD_CARD "ras/umc_err_count", "ue: 1\nce: 20\n");
	put("sys/class/drm/card0/device/vendor", "0x1a03\n"); /* a server's display */
	put("sys/class/drm/card2/device/vendor", "0x8086\n");
	put("sys/class/drm/card2/device/uevent", "PCI_SLOT_NAME=0000:00:02.0\n");
	put("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "4242\n");
	put("sys/class/kfd/kfd/topology/nodes/1/properties", "cpu_cores_count 0\nlocation_id 768\ndomain 0\n");
	put("sys/class/kfd/kfd/proc/77/vram_4242", "5000000\n");
	put("sys/class/kfd/kfd/proc/77/vram_9", "1\n");
	/* One client by three descriptors of two processes, and one of another device. */
	const char *same = "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t5\ndrm-memory-vram:\t8 KiB\n"
			   "drm-engine-gfx:\t1000 ns\n";
	put_device_fd("50", "7", same);
	put_device_fd("50", "8", same);
	put_device_fd("51", "7", same);
	put_device_fd("51", "9",
		      "drm-driver:\txe\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t5\n"
		      "drm-cycles-ccs:\t500\ndrm-total-cycles-ccs:\t1000\ndrm-resident-vram0:\t1 MiB\n");
	/* a driver that says nothing of its clients: what is open is known by the name of the file */
	put_device_fd_of("/dev/dri/renderD129", "54", "3", "pos:\t0\nflags:\t0100002\nmnt_id:\t30\n");
	put_device_fd_of("/dev/dri/by-path/x", "55", "3", "pos:\t0\n");
	/* who looks at all devices works with none of them */
	put_device_fd("52", "4",
		      "drm-driver:\txe\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t6\n"
		      "drm-cycles-ccs:\t0\ndrm-total-cycles-ccs:\t1000\ndrm-resident-vram0:\t0\n");
}

static void files_of_the_kernel_tell_of_amd_and_intel(void **state)
{
	(void)state;
	char path[128];
	amd_world();
	struct world w = world;
	w.recorded = true;
	TEXT_FORMAT(path, "%s-world/proc", script_path);
	w.proc_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	TEXT_FORMAT(path, "%s-world/sys", script_path);
	w.sys_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct gpuprobe p;
	gpuprobe_init(&p, &gpu_backend_files, &w, patient);
	sampled(&p);
	gpuprobe_stop(&p);
	const struct gpu_sample *amd = &set.gpu[0], *intel = &set.gpu[1];
	assert_int_equal(set.n, 2);
	assert_int_equal(set.n_findings, 0);
	assert_int_equal(amd->vendor, GPU_AMD);
	assert_int_equal(amd->index, 1);
	assert_string_equal(amd->pci, "0000:03:00.0");
	assert_int_equal(amd->value[GPU_BUSY], 41);
	assert_int_equal(amd->value[GPU_MEMORY_TOTAL], UINT64_C(17163091968));
	assert_int_equal(amd->value[GPU_POWER], 97000);
	assert_int_equal(amd->value[GPU_TEMPERATURE], 51);
	assert_int_equal(amd->value[GPU_ECC_UNCORRECTED], 1);
	assert_int_equal(amd->value[GPU_ECC_CORRECTED], 20);
	assert_false(gpu_has(amd, GPU_MEMORY_BUSY) || gpu_has(amd, GPU_POWER_LIMIT));
	assert_true(amd->has_number && amd->number == 1); /* renderD129 */
	assert_false(intel->has_number);
	assert_int_equal(amd->n_processes, 3); /* of the client one process, that of KFD, and one that has it open */
	uint64_t sum = 0;
	for (uint32_t i = 0; i < 3; i++) {
		sum += amd->process[i].memory_bytes;
		assert_int_equal(amd->process[i].by, amd->process[i].driver_pid == 54 ? GPU_BY_OPEN : GPU_BY_DRIVER);
	}
	assert_int_equal(sum, 8 * KIB + 5000000);
	assert_int_equal(intel->vendor, GPU_INTEL);
	assert_int_equal(intel->n_processes, 2);
	const struct gpu_process *works = &intel->process[intel->process[0].pid == 51 ? 0 : 1];
	const struct gpu_process *looks = &intel->process[intel->process[0].pid == 51 ? 1 : 0];
	assert_true(works->pid == 51 && works->by == GPU_BY_DRIVER);
	assert_int_equal(works->memory_bytes, MIB);
	assert_true(looks->pid == 52 && looks->by == GPU_BY_OPEN);
	assert_true(gpu_has(intel, GPU_BUSY) && intel->value[GPU_BUSY] == 0); /* nothing moved between two looks */
	closep(&w.proc_fd);
	closep(&w.sys_fd);
	TEXT_FORMAT(path, "%s-world", script_path);
	world_remove(path);
}

static void old_and_new_keys_of_fdinfo_are_read(void **state)
{
	(void)state;
	struct drmfd d;
	assert_true(drmfd_parse(SPAN("pdev:\t0000:03:00.0\nvram mem:\t1024 kB\ngfx0:\t12.5%\n"), &d));
	assert_string_equal(d.driver, "amdgpu");
	assert_int_equal(d.memory_bytes, MIB);
	assert_true(
		drmfd_parse(SPAN("drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t7\n"
				 "drm-engine-video:\t90 ns\ndrm-engine-capacity-video:\t2\ndrm-total-local0:\t4 MiB\n"
				 "drm-resident-local0:\t1 MiB\ndrm-resident-system0:\t64 MiB\n"),
			    &d));
	assert_true(d.has_client && d.client == 7);
	assert_int_equal(d.n_engines, 1);
	assert_int_equal(d.engine[0].busy_ns, 90);
	assert_int_equal(d.engine[0].capacity, 2);
	assert_int_equal(d.memory_bytes, MIB);
	assert_false(drmfd_parse(SPAN("pos:\t0\nflags:\t02\neventfd-count: 1\n"), &d));
	assert_false(drmfd_parse(SPAN(""), &d));
}

static uint64_t standing_clock(void)
{
	return 5 * NS_PER_S;
}

static void npus_are_read_by_their_cards_numbers(void **state)
{
	(void)state;
	assert_int_equal(setenv("FAKE_DCMI", script_path, 1) | setenv("VIGIL_DCMI_PATH", FAKE_GPU "/fake_dcmi.so", 1),
			 0);
	script("device 0 name 910B3\ndevice 0 busy 77 5\ndevice 0 memory_busy 20\ndevice 0 memory_total_mib 65536\n"
	       "device 0 memory_used_mib 1024\ndevice 0 power_tenths 2753\ndevice 0 temperature 48\ndevice 0 health 2\n"
	       "device 0 physical 6\ndevice 1 busy 255\nprocess 0 compute 600 12345\nprocess 1 compute 601 9\n");
	struct world still = world;
	still.mono_ns = standing_clock;
	struct gpuprobe p;
	gpuprobe_init(&p, &gpu_backend_dcmi, &still, patient);
	sampled(&p);
	const struct gpu_sample *g = &set.gpu[0];
	assert_int_equal(set.n, 2);
	assert_int_equal(set.n_findings, 0);
	assert_int_equal(g->vendor, GPU_HUAWEI);
	assert_true(g->has_number); /* /dev/davinci6, though logically the first */
	assert_int_equal(g->number, 6);
	assert_false(set.gpu[1].has_number);
	assert_string_equal(g->name, "Ascend 910B3");
	assert_int_equal(g->value[GPU_BUSY], 77);
	assert_int_equal(g->value[GPU_MEMORY_BUSY], 20);
	assert_int_equal(g->value[GPU_MEMORY_TOTAL], 64 * GIB);
	assert_int_equal(g->value[GPU_MEMORY_USED], GIB);
	assert_int_equal(g->value[GPU_POWER], 275300);
	assert_int_equal(g->value[GPU_TEMPERATURE], 48);
	assert_int_equal(g->value[GPU_HEALTH], 2);
	assert_false(gpu_has(g, GPU_SM_CLOCK)); /* no such symbol in this library */
	assert_int_equal(g->n_processes, 1);
	assert_int_equal(g->process[0].driver_pid, 600);
	assert_int_equal(g->process[0].memory_bytes, 12345);
	assert_false(gpu_has(&set.gpu[1], GPU_BUSY)); /* 255 % is nonsense */
	/* Within a second the driver is left alone. */
	sampled(&p);
	assert_int_equal(set.n, 2);
	assert_int_equal(set.gpu[0].value[GPU_BUSY], 77);
	gpuprobe_stop(&p);
	script("return dcmi_init -8001\n");
	gpuprobe_init(&p, &gpu_backend_dcmi, &world, patient);
	sampled(&p);
	assert_int_equal(set.n_findings, 1);
	assert_int_equal(set.finding[0].code, -8001);
	gpuprobe_stop(&p);
	script("device 0 busy 1\ndevice 0 memory_busy 1\ndelay dcmi_get_device_hbm_info 60000\n");
	const struct gpuprobe_limits hasty = {NS_PER_S, 10 * NS_PER_S};
	gpuprobe_init(&p, &gpu_backend_dcmi, &world, hasty);
	sampled(&p);
	assert_int_equal(set.finding[0].trouble, GPU_BLOCKED);
	assert_string_equal(set.finding[0].call, "dcmi_get_device_hbm_info");
	assert_int_equal(set.gpu[0].value[GPU_BUSY], 1);
	gpuprobe_stop(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nvml_values_arrive_with_their_units),
		cmocka_unit_test(both_sizes_of_process_records_are_understood),
		cmocka_unit_test(a_library_that_clears_the_whole_list_is_judged_by_its_symbols),
		cmocka_unit_test(the_list_of_a_real_driver_is_read),
		cmocka_unit_test(an_old_library_gives_what_it_has),
		cmocka_unit_test(a_lost_device_is_a_finding_and_is_left_alone),
		cmocka_unit_test(reset_and_mismatch_are_findings),
		cmocka_unit_test(a_call_that_blocks_is_named_and_what_came_before_it_is_kept),
		cmocka_unit_test(a_library_that_crashes_takes_only_its_child),
		cmocka_unit_test(an_absent_library_is_told_with_the_name_that_was_tried),
		cmocka_unit_test(the_child_holds_nothing_of_ours),
		cmocka_unit_test(xids_come_once_through_the_event_set),
		cmocka_unit_test(files_of_the_kernel_tell_of_amd_and_intel),
		cmocka_unit_test(old_and_new_keys_of_fdinfo_are_read),
		cmocka_unit_test(npus_are_read_by_their_cards_numbers),
	};
	return cmocka_run_group_tests(tests, begin, finish);
}
