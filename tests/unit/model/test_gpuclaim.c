/* Which devices are a rank's: driver, mapped, open and visible, open. */
#include "testing.h"

#include <stdio.h>

#include "base/buf.h"
#include "model/gpu/gpuclaim.h"

static struct gpu_set set;
static const pid_t pids[] = {100, 101};

/* n equal devices of NVIDIA whose files are numbered from 4 on, as a container may see them. */
static int begin(void **state)
{
	(void)state;
	memset(&set, 0, sizeof(set));
	set.n = 4;
	for (uint32_t i = 0; i < set.n; i++) {
		struct gpu_sample *g = &set.gpu[i];
		*g = (struct gpu_sample){.index = i, .has_number = true, .number = i + 4, .has_processes = true};
		TEXT_COPY(g->name, "NVIDIA H100");
		TEXT_FORMAT(g->uuid, "GPU-%u%u%u%u-0000", i, i, i, i);
	}
	return 0;
}

static struct gpuclaim_rank rank_of(uint64_t open, uint64_t mapped)
{
	return (struct gpuclaim_rank){
		.pids = pids, .n = ARRAY_SIZE(pids), .open = {.nvidia = open << 4}, .mapped = {.nvidia = mapped << 4}};
}

static void on_device(uint32_t i, pid_t pid)
{
	struct gpu_sample *g = &set.gpu[i];
	g->process[g->n_processes++] = (struct gpu_process){.driver_pid = pid ? pid : 9999, .pid = pid};
}

static void claims(struct gpuclaim_rank *r, bool foreign, uint32_t devices, enum gpu_by by)
{
	struct gpuclaim c = gpuclaim_of(&set, gpuclaim_unsettled(&set, foreign), r);
	assert_int_equal(c.devices, devices);
	if (devices)
		assert_int_equal(c.by, by);
}

static void the_drivers_word_settles_it(void **state)
{
	(void)state;
	struct gpuclaim_rank r = rank_of(0xf, 0xf);
	on_device(2, 101);
	claims(&r, false, 1u << 2, GPU_BY_DRIVER);
	claims(&r, true, 1u << 2, GPU_BY_DRIVER);
	/* on the host, who is not in the lists is on no device, whatever it has open */
	struct gpuclaim_rank other = rank_of(0xf, 0xf);
	other.n = 0;
	claims(&other, false, 0, GPU_BY_DRIVER);
	/* in a container, a driver that names processes of ours translates its numbers */
	claims(&other, true, 0, GPU_BY_DRIVER);
}

static void foreign_numbers_leave_it_to_the_device_files(void **state)
{
	(void)state;
	on_device(1, 0); /* somebody of the host, or one of ours by its number there */
	struct gpuclaim_rank one = rank_of(1, 0), all = rank_of(0xf, 0), used = rank_of(0xf, 1u << 3);
	claims(&one, true, 1, GPU_BY_OPEN);
	claims(&all, true, 0xf, GPU_BY_OPEN);
	claims(&used, true, 1u << 3, GPU_BY_MAPPED);
	claims(&one, false, 0, GPU_BY_OPEN);
	/* a driver that keeps no list says nothing on the host either */
	set.gpu[0].has_processes = false;
	claims(&all, false, 1, GPU_BY_OPEN);
	struct gpuclaim_rank none = rank_of(0, 0);
	claims(&none, true, 0, GPU_BY_OPEN);
	/* files of devices that the driver does not tell of */
	struct gpuclaim_rank elsewhere = {.pids = pids, .n = 2, .open = {.nvidia = 0xf}};
	claims(&elsewhere, true, 0, GPU_BY_OPEN);
}

static void of_open_ones_the_visible_are_meant(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t devices;
		enum gpu_by by;
	} rows[] = {
		{"2", 1u << 2, GPU_BY_VISIBLE},
		{" 3 , 1", 1u << 3 | 1u << 1, GPU_BY_VISIBLE},
		{"0,1,2,3", 0xf, GPU_BY_OPEN}, /* says no more than what is open */
		{"GPU-2222", 1u << 2, GPU_BY_VISIBLE},
		{"GPU-1111-0000,0", 1u << 1 | 1, GPU_BY_VISIBLE},
		{"1,-1,2", 1u << 1, GPU_BY_VISIBLE}, /* what follows one that there is not does not count */
		{"", 0, GPU_BY_VISIBLE},
		{"-1", 0, GPU_BY_VISIBLE},
		{"MIG-0001", 0xf, GPU_BY_OPEN},
		{"GPU-", 0, GPU_BY_VISIBLE},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct gpuclaim_rank r = rank_of(0xf, 0);
		r.has_visible = true;
		r.visible = span_of(rows[i].text);
		claims(&r, true, rows[i].devices, rows[i].by);
	}
	/* one that is not open is no reason to take another */
	struct gpuclaim_rank r = rank_of(1, 0);
	r.has_visible = true;
	r.visible = SPAN("3");
	claims(&r, true, 1, GPU_BY_OPEN);
	/* what is mapped is used, whatever the environment said at the start */
	r = rank_of(0xf, 1);
	r.has_visible = true;
	r.visible = SPAN("3");
	claims(&r, true, 1, GPU_BY_MAPPED);
}

static void the_order_of_unlike_devices_is_not_guessed_at(void **state)
{
	(void)state;
	struct gpuclaim_rank r = rank_of(0xf, 0);
	r.has_visible = true;
	r.visible = SPAN("1");
	TEXT_COPY(set.gpu[0].name, "NVIDIA T4");
	claims(&r, true, 0xf, GPU_BY_OPEN);
	r.by_bus = true;
	claims(&r, true, 1u << 1, GPU_BY_VISIBLE);
	r.by_bus = false;
	r.visible = SPAN("GPU-1111");
	claims(&r, true, 1u << 1, GPU_BY_VISIBLE);
}

static void other_vendors(void **state)
{
	(void)state;
	set.n = 3;
	set.gpu[1] = (struct gpu_sample){.vendor = GPU_HUAWEI, .has_number = true, .number = 6, .has_processes = true};
	set.gpu[2] = (struct gpu_sample){
		.vendor = GPU_AMD, .index = 1, .has_number = true, .number = 1, .has_processes = true};
	struct gpuclaim_rank r = {.pids = pids, .n = 2, .open = {.davinci = 1u << 6, .render = 1u << 1}};
	claims(&r, true, 1u << 1 | 1u << 2, GPU_BY_OPEN);
	/* CUDA's variable is nothing to them */
	r.has_visible = true;
	r.visible = SPAN("-1");
	claims(&r, true, 1u << 1 | 1u << 2, GPU_BY_OPEN);
	/* the kernel's files name an AMD process that works; another has the same device only open */
	set.gpu[2].process[0] = (struct gpu_process){.pid = 100, .by = GPU_BY_OPEN};
	set.gpu[2].n_processes = 1;
	struct gpuclaim_rank amd = {.pids = pids, .n = 2};
	claims(&amd, false, 1u << 2, GPU_BY_OPEN);
	set.gpu[2].process[0].by = GPU_BY_DRIVER;
	claims(&amd, false, 1u << 2, GPU_BY_DRIVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_drivers_word_settles_it, begin),
		cmocka_unit_test_setup(foreign_numbers_leave_it_to_the_device_files, begin),
		cmocka_unit_test_setup(of_open_ones_the_visible_are_meant, begin),
		cmocka_unit_test_setup(the_order_of_unlike_devices_is_not_guessed_at, begin),
		cmocka_unit_test_setup(other_vendors, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
