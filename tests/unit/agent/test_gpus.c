/* What is gathered for `vigil gpus`, with a recorded kernel log. */
#include "testing.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "agent/gpu/gpus.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

static struct world world;
static char log_path[64], script_path[64];

static int begin(void **state)
{
	(void)state;
	TEXT_FORMAT(log_path, "/tmp/vigil-test-kmsg-%d", getpid());
	TEXT_FORMAT(script_path, "/tmp/vigil-test-gpus-%d", getpid());
	world = (struct world){.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			       .sys_fd = -1,
			       .cgroup_fd = -1,
			       .shm_fd = -1,
			       .kmsg_fd = -1,
			       .recorded = true,
			       .page_bytes = 4096,
			       .ticks_per_s = 100,
			       .mono_ns = clock_mono_ns,
			       .unix_ms = clock_unix_ms};
	return setenv("FAKE_NVML", script_path, 1) | setenv("VIGIL_NVML_PATH", FAKE_GPU "/fake_nvml.so", 1) |
	       setenv("VIGIL_DCMI_PATH", "/nowhere/libdcmi.so", 1);
}

static int finish(void **state)
{
	(void)state;
	return unlink(log_path) | unlink(script_path);
}

static struct gpuview *gathered(const char *script, const char *log, const struct members_want *members)
{
	struct gpuview *v = calloc(1, sizeof(*v));
	const struct gpus_want want = {.members = members, .subject = "", .call_ns = 10 * NS_PER_S};
	struct fault f = {.text = ""};
	assert_non_null(v);
	assert_int_equal(file_replace(script_path, script, strlen(script), 0600), 0);
	assert_int_equal(file_replace(log_path, log, strlen(log), 0600), 0);
	world.kmsg_fd = open(log_path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(gpus_gather(&world, &want, v, &f), 0);
	closep(&world.kmsg_fd);
	return v;
}

static void xids_of_the_kernel_log_are_incidents(void **state)
{
	(void)state;
	struct gpuview *v =
		gathered("",
			 "6,1,100,-;usb 1-1: new device\n"
			 "3,2,1000000,-;NVRM: Xid (PCI:0000:17:00): 45, pid=7, name=a, Ch 00000010\n"
			 "3,3,2000000,-;NVRM: Xid (PCI:0000:17:00): 79, pid=7, name=a, GPU has fallen off the bus.\n"
			 "14,4,2000001,-;NVRM: Xid (PCI:0000:99:00): 79, forged by a program\n",
			 NULL);
	assert_false(v->kernel_log_denied);
	assert_int_equal(v->n_xids, 2);
	assert_int_equal(v->xid[1].number, 79);
	assert_int_equal(v->xid[1].time_unix_ms - v->xid[0].time_unix_ms, 1000);
	assert_true(v->xid[1].cause && !v->xid[0].cause && v->xid[0].incident == v->xid[1].incident);
	assert_int_equal(v->set.n_drivers, 3);
	free(v);
}

static void a_job_gets_its_devices_and_the_strangers_on_them(void **state)
{
	(void)state;
	char script[512];
	TEXT_FORMAT(script,
		    "device 0 name a\ndevice 1 name b\nprocess 0 compute %d 5\nprocess 1 compute %d 7\nprocess 1 "
		    "compute %d 9\n",
		    getppid(), getpid(), getppid());
	const struct members_want me = {.root = getpid()};
	struct gpuview *v = gathered(script, "", &me);
	assert_int_equal(v->set.n, 1);
	assert_string_equal(v->set.gpu[0].name, "b");
	assert_int_equal(v->set.gpu[0].n_processes, 2);
	assert_int_equal(v->set.gpu[0].process[0].pid, getpid());
	assert_true(v->who[0][0].known && v->who[0][1].known && v->who[0][1].command[0]);
	assert_false(v->not_used);
	free(v);
	v = gathered("device 0 name a\n", "", &me);
	assert_true(v->not_used && v->set.n == 0);
	free(v);
}

static void memory_is_summed_by_process(void **state)
{
	(void)state;
	char script[256];
	struct gpus_memory m;
	struct footprint_row rows[2] = {{.pid = getpid()}, {.pid = getppid()}};
	TEXT_FORMAT(script, "device 0 name a\ndevice 1 name b\nprocess 0 compute %d 5\nprocess 1 compute %d 7\n",
		    getpid(), getpid());
	assert_int_equal(file_replace(script_path, script, strlen(script), 0600), 0);
	gpus_memory_ask(&world, &m);
	gpus_memory_collect(&m, &world, rows, 2);
	assert_true(rows[0].has_gpu && rows[0].gpu_bytes == 12);
	assert_false(rows[1].has_gpu);
}

/* What was gathered already need not be asked again. */
static void memory_of_a_set_is_put_to_its_processes(void **state)
{
	(void)state;
	char script[256];
	struct footprint_row rows[2] = {{.pid = getpid()}, {.pid = getppid()}};
	TEXT_FORMAT(script, "device 0 name a\nprocess 0 compute %d 5\n", getppid());
	struct gpuview *v = gathered(script, "", NULL);
	gpus_memory_put(&v->set, rows, 2);
	assert_false(rows[0].has_gpu);
	assert_true(rows[1].has_gpu && rows[1].gpu_bytes == 5);
	free(v);
}

static void a_card_is_found_whatever_its_number(void **state)
{
	(void)state;
	char path[] = "/tmp/vigil-test-drm-XXXXXX";
	assert_non_null(mkdtemp(path));
	struct world w = {.proc_fd = world.proc_fd, .sys_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	/* the files of NVIDIA's and Huawei's drivers are the machine's own */
	bool others = access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ||
		      access("/proc/driver/nvidia", F_OK) == 0 || access("/dev/davinci_manager", F_OK) == 0;
	assert_int_equal(unsetenv("VIGIL_NVML_PATH") | unsetenv("VIGIL_DCMI_PATH"), 0);
	assert_int_equal(gpus_are_here(&w), others);
	assert_int_equal(mkdirat(w.sys_fd, "class", 0700) | mkdirat(w.sys_fd, "class/drm", 0700), 0);
	assert_int_equal(gpus_are_here(&w), others);
	assert_int_equal(mkdirat(w.sys_fd, "class/drm/card1", 0700), 0);
	assert_true(gpus_are_here(&w));
	const char *const made[] = {"class/drm/card1", "class/drm", "class"};
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		assert_int_equal(unlinkat(w.sys_fd, made[i], AT_REMOVEDIR), 0);
	assert_int_equal(close(w.sys_fd) | rmdir(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xids_of_the_kernel_log_are_incidents),
		cmocka_unit_test(a_job_gets_its_devices_and_the_strangers_on_them),
		cmocka_unit_test(memory_is_summed_by_process),
		cmocka_unit_test(memory_of_a_set_is_put_to_its_processes),
		/* the last, as it takes the drivers out of the environment */
		cmocka_unit_test(a_card_is_found_whatever_its_number),
	};
	return cmocka_run_group_tests(tests, begin, finish);
}
