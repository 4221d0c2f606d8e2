/* Device files behind descriptors and mappings, and which device is meant. */
#include "testing.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/gpu/gpuheld.h"

static char root[64];

static void names_of_device_files(void **state)
{
	(void)state;
	struct gpuheld h = {.nvidia = 0};
	const char *const none[] = {"/dev/nvidiactl",
				    "/dev/nvidia-uvm",
				    "/dev/nvidia",
				    "/dev/nvidia1x",
				    "/dev/nvidia64",
				    "/dev/nvidia-caps/nvidia-cap1",
				    "/dev/nvidia18446744073709551616",
				    "/dev/dri/renderD127",
				    "/dev/dri/renderD192",
				    "/dev/dri/card",
				    "/dev/dri/by-path/pci-0000:03:00.0-card",
				    "/dev/kfd",
				    "/dev/davinci_manager",
				    "/tmp/dev/nvidia0",
				    "dev/nvidia0",
				    ""};
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_false(gpuheld_add(&h, span_of(none[i])));
	assert_int_equal(gpuheld_count(&h), 0);
	assert_true(gpuheld_add(&h, SPAN("/dev/nvidia0")) && gpuheld_add(&h, SPAN("/dev/nvidia63")));
	assert_true(gpuheld_add(&h, SPAN("/dev/davinci7")) && gpuheld_add(&h, SPAN("/dev/dri/card2")));
	assert_true(gpuheld_add(&h, SPAN("/dev/dri/renderD130")) && gpuheld_add(&h, SPAN("/dev/nvidia0")));
	assert_int_equal(h.nvidia, UINT64_C(1) << 63 | 1);
	assert_int_equal(h.davinci, 1u << 7);
	assert_int_equal(h.card, 1u << 2);
	assert_int_equal(h.render, 1u << 2);
	assert_int_equal(gpuheld_count(&h), 5);
}

static void the_number_is_that_of_the_file_and_not_the_index(void **state)
{
	(void)state;
	struct gpuheld h = {.nvidia = 1u << 3, .davinci = 1u << 4, .render = 1u << 1, .card = 1u << 6};
	struct gpu_sample g = {.vendor = GPU_NVIDIA, .index = 3};
	assert_false(gpuheld_has(&h, &g)); /* its number is not known */
	g.has_number = true;
	assert_false(gpuheld_has(&h, &g));
	g.number = 3;
	assert_true(gpuheld_has(&h, &g));
	g.number = 200;
	assert_false(gpuheld_has(&h, &g));
	assert_true(gpuheld_has(&h, &(struct gpu_sample){.vendor = GPU_HUAWEI, .has_number = true, .number = 4}));
	assert_false(gpuheld_has(&h, &(struct gpu_sample){.vendor = GPU_HUAWEI, .has_number = true, .number = 3}));
	assert_true(gpuheld_has(&h, &(struct gpu_sample){.vendor = GPU_AMD, .has_number = true, .number = 1}));
	assert_true(gpuheld_has(&h, &(struct gpu_sample){.vendor = GPU_INTEL, .index = 6})); /* by its card */
	assert_false(gpuheld_has(&h, &(struct gpu_sample){.vendor = GPU_AMD}));
	assert_false(gpuheld_has(&h, &(struct gpu_sample){.vendor = GPU_OTHER, .has_number = true, .number = 3}));
}

static int entry_remove(const char *path, const struct stat *st, int kind, struct FTW *place)
{
	(void)st;
	(void)kind;
	(void)place;
	return remove(path);
}

static void descriptors_and_mappings_of_a_process(void **state)
{
	(void)state;
	char path[128];
	struct gpuheld h;
	struct world w = {.proc_fd = -1, .recorded = true};
	TEXT_FORMAT(root, "/tmp/vigil-test-gpuheld-%d", getpid());
	TEXT_FORMAT(path, "%s/42/fd", root);
	assert_int_equal(file_mkdirs(path, 0700), 0);
	const char *const links[] = {"/dev/null", "socket:[1]", "/dev/nvidiactl", "/dev/nvidia2", "/dev/nvidia2",
				     "/dev/nvidia3"};
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		TEXT_FORMAT(path, "%s/42/fd/%zu", root, i);
		assert_int_equal(symlink(links[i], path), 0);
	}
	const char *maps = "55d0a0000000-55d0a0001000 r-xp 00000000 08:01 77 /usr/bin/python3\n"
			   "7f0000000000-7f0000001000 rw-s 00000000 00:05 477 /dev/nvidia3\n"
			   "7f0000002000-7f0000003000 rw-s 00000000 00:05 478 /dev/nvidiactl\n";
	TEXT_FORMAT(path, "%s/42/maps", root);
	assert_int_equal(file_replace(path, maps, strlen(maps), 0600), 0);
	w.proc_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(gpuheld_read(&w, 42, &h), 0);
	assert_int_equal(h.nvidia, 1u << 2 | 1u << 3);
	assert_int_equal(gpuheld_count(&h), 2);
	assert_int_equal(gpuheld_mapped(&w, 42, &h), 0);
	assert_int_equal(h.nvidia, 1u << 3);
	assert_int_equal(gpuheld_read(&w, 43, &h), WORLD_GONE);
	assert_int_equal(gpuheld_mapped(&w, 43, &h), WORLD_GONE);
	closep(&w.proc_fd);
	assert_int_equal(nftw(root, entry_remove, 16, FTW_DEPTH | FTW_PHYS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_device_files),
		cmocka_unit_test(the_number_is_that_of_the_file_and_not_the_index),
		cmocka_unit_test(descriptors_and_mappings_of_a_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
