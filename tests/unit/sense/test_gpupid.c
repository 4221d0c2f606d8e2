/* Process numbers of drivers in and out of containers, and the bounds of a set of samples. */
#include "testing.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/gpu/gpupid.h"

static char root[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int begin(void **state)
{
	(void)state;
	TEXT_COPY(root, "/tmp/vigil-gpupid-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put_link(const char *folder, const char *name, const char *target)
{
	char path[160];
	TEXT_FORMAT(path, "%s/%s", root, folder);
	assert_int_equal(file_mkdirs(path, 0755), 0);
	TEXT_FORMAT(path, "%s/%s/%s", root, folder, name);
	ignore(unlink(path), "made again by each test");
	assert_int_equal(symlink(target, path), 0);
}

/* A process that exists, with one descriptor. */
static void put_process(int pid, const char *device)
{
	char folder[32], path[160];
	TEXT_FORMAT(folder, "%d/fd", pid);
	put_link(folder, "3", device);
	TEXT_FORMAT(path, "%s/%d/stat", root, pid);
	assert_int_equal(file_replace(path, "1", 1, 0644), 0);
}

/* Processes 10, 11 and 12 on nvidia3, of which 12 is not there. */
static bool filled(const char *namespace, bool has_number, struct gpu_set *set)
{
	put_link("self/ns", "pid", namespace);
	cleanup(closep) int proc = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(proc >= 0);
	const struct world w = {.proc_fd = proc};
	struct gpu_sample *g = &set->gpu[set->n++];
	g->vendor = GPU_NVIDIA;
	g->has_number = has_number;
	g->number = 3;
	for (pid_t pid = 10; pid <= 12; pid++)
		assert_non_null(gpu_process_at(g, pid));
	return gpupid_fill(&w, set);
}

#define HOST "pid:[4026531836]"
#define CONTAINER "pid:[4026532999]"

static void on_the_host_every_process_that_exists_is_meant(void **state)
{
	(void)state;
	cleanup(freep) struct gpu_set *set = calloc(1, sizeof(*set));
	put_process(10, "/dev/nvidia3");
	put_process(11, "/dev/null");
	assert_false(filled(HOST, true, set));
	assert_int_equal(set->gpu[0].process[0].pid, 10);
	assert_int_equal(set->gpu[0].process[1].pid, 11);
	assert_int_equal(set->gpu[0].process[2].pid, 0);
}

static void in_a_container_only_a_process_with_the_device_is_meant(void **state)
{
	(void)state;
	cleanup(freep) struct gpu_set *set = calloc(1, sizeof(*set));
	cleanup(freep) struct gpu_set *unknown = calloc(1, sizeof(*unknown));
	put_link("10/fd", "3", "/dev/nvidia3");
	put_link("11/fd", "3", "/dev/nvidia2");
	assert_true(filled(CONTAINER, true, set));
	assert_int_equal(set->gpu[0].process[0].pid, 10);
	assert_int_equal(set->gpu[0].process[1].pid, 0);
	/* without the device's number any accelerator counts */
	assert_true(filled(CONTAINER, false, unknown));
	assert_int_equal(unknown->gpu[0].process[1].pid, 11);
}

static void a_sample_counts_the_processes_that_do_not_fit(void **state)
{
	(void)state;
	cleanup(freep) struct gpu_sample *g = calloc(1, sizeof(*g));
	for (pid_t pid = 1; pid <= GPU_PROCESSES; pid++)
		assert_int_equal(gpu_process_at(g, pid)->driver_pid, pid);
	assert_ptr_equal(gpu_process_at(g, 5), &g->process[4]);
	assert_int_equal(g->n_processes_dropped, 0);
	assert_null(gpu_process_at(g, 1000));
	assert_false(gpu_process_found(g, 1001, GPU_BY_MAPPED));
	assert_int_equal(g->n_processes, GPU_PROCESSES);
	assert_int_equal(g->n_processes_dropped, 2);
}

static void a_value_counts_only_when_it_was_set(void **state)
{
	(void)state;
	cleanup(freep) struct gpu_sample *g = calloc(1, sizeof(*g));
	assert_false(gpu_has(g, GPU_BUSY) || gpu_has(g, GPU_HEALTH));
	gpu_value_set(g, GPU_HEALTH, 0);
	assert_true(gpu_has(g, GPU_HEALTH) && !gpu_has(g, GPU_MIG) && !gpu_has(g, GPU_BUSY));
}

static void a_set_counts_what_does_not_fit(void **state)
{
	(void)state;
	cleanup(freep) struct gpu_set *set = calloc(1, sizeof(*set));
	cleanup(freep) struct gpu_set *more = calloc(1, sizeof(*more));
	for (size_t i = 0; i < GPU_FINDINGS + 2; i++)
		gpu_finding_add(more, GPU_LOST, "call", "uuid", "number %zu", i)->code = (int32_t)i;
	assert_int_equal(more->n_findings, GPU_FINDINGS);
	assert_int_equal(more->n_findings_dropped, 2);
	assert_string_equal(more->finding[GPU_FINDINGS - 1].text, "number 31");
	gpu_finding_add(set, GPU_RESET, "first", "", "%s", "kept");
	set->n = GPU_MAX - 1;
	more->n = 3;
	more->gpu[0].index = 77;
	more->n_dropped = 4;
	gpu_set_join(set, more);
	assert_int_equal(set->n, GPU_MAX);
	assert_int_equal(set->gpu[GPU_MAX - 1].index, 77);
	assert_int_equal(set->n_dropped, 4 + 2);
	assert_int_equal(set->n_findings, GPU_FINDINGS);
	assert_int_equal(set->finding[0].trouble, GPU_RESET);
	assert_string_equal(set->finding[1].text, "number 0");
	assert_int_equal(set->n_findings_dropped, 2 + 1);
}

static void names_of_what_is_not_known(void **state)
{
	(void)state;
	for (int v = 0; v < GPU_VALUES; v++)
		assert_non_null(gpu_value_name((enum gpu_value)v)->name);
	assert_string_equal(gpu_vendor_name((enum gpu_vendor)99), "other");
	assert_string_equal(gpu_trouble_name((enum gpu_trouble)99), "driver_failed");
	assert_string_equal(gpu_recovery_name(1), "gpu_reset");
	assert_string_equal(gpu_recovery_name(UINT64_MAX), "unknown");
	assert_string_equal(gpu_reason_name(GPU_REASON_HW_THERMAL), "hw_thermal");
	assert_null(gpu_reason_name(0));
	assert_null(gpu_reason_name(GPU_REASON_IDLE | GPU_REASON_HW_THERMAL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_the_host_every_process_that_exists_is_meant),
		cmocka_unit_test(in_a_container_only_a_process_with_the_device_is_meant),
		cmocka_unit_test(a_sample_counts_the_processes_that_do_not_fit),
		cmocka_unit_test(a_value_counts_only_when_it_was_set),
		cmocka_unit_test(a_set_counts_what_does_not_fit),
		cmocka_unit_test(names_of_what_is_not_known),
	};
	return cmocka_run_group_tests(tests, begin, finish);
}
