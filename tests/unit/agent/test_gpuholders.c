#include "testing.h"

#include "agent/gpu/gpuholders.h"
#include "made_world.h"

static struct made_world made;
static struct gpuholders holders;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	memset(&holders, 0, sizeof(holders));
	made_process(&made,
		     &(struct made_process){.pid = 50,
					    .ppid = 1,
					    .comm = "python",
					    .environ = "CUDA_VISIBLE_DEVICES=1,0\nCUDA_DEVICE_ORDER=PCI_BUS_ID"});
	made_folder(&made, "proc/50/fd");
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_end(&made);
	return 0;
}

static void open_device(int fd, const char *path)
{
	char at[128];
	TEXT_FORMAT(at, "%s/proc/50/fd/%d", made.dir, fd);
	assert_int_equal(symlink(path, at), 0);
}

static struct gpuclaim_rank read_rank(struct gpuholders *h, struct gpuholder *scratch)
{
	const pid_t pid = 50;
	struct gpuclaim_rank rank = {.n = 0};
	gpuholders_read(h, &made.w, &pid, 1, &rank, scratch);
	return rank;
}

static void nothing_found_is_read_again_after_ten_seconds(void **state)
{
	(void)state;
	assert_int_equal(gpuheld_count(&(struct gpuheld){0}), 0);
	struct gpuclaim_rank rank = read_rank(&holders, NULL);
	assert_int_equal(rank.open.nvidia, 0);
	open_device(3, "/dev/nvidia2");
	made_now_ns += 10 * NS_PER_S - 1;
	rank = read_rank(&holders, NULL);
	assert_int_equal(rank.open.nvidia, 0);
	made_now_ns += 1;
	rank = read_rank(&holders, NULL);
	assert_int_equal(rank.open.nvidia, 1 << 2);
	assert_false(rank.has_visible); /* one device: the environment is not read */
}

static void what_was_found_stays_for_a_minute(void **state)
{
	(void)state;
	open_device(3, "/dev/nvidia0");
	assert_int_equal(read_rank(&holders, NULL).open.nvidia, 1);
	open_device(4, "/dev/nvidia1");
	made_now_ns += 60 * NS_PER_S - 1;
	assert_int_equal(read_rank(&holders, NULL).open.nvidia, 1);
	made_now_ns += 1;
	assert_int_equal(read_rank(&holders, NULL).open.nvidia, 3);
}

static void of_several_devices_the_environment_is_read(void **state)
{
	(void)state;
	open_device(3, "/dev/nvidia0");
	open_device(4, "/dev/nvidia1");
	open_device(5, "/dev/nvidiactl");
	struct gpuclaim_rank rank = read_rank(&holders, NULL);
	assert_int_equal(rank.open.nvidia, 3);
	assert_true(rank.has_visible && rank.by_bus);
	assert_true(span_eq(rank.visible, "1,0"));
}

static void without_a_cache_each_call_reads(void **state)
{
	(void)state;
	static struct gpuholder scratch;
	assert_int_equal(read_rank(NULL, &scratch).open.nvidia, 0);
	open_device(3, "/dev/nvidia4");
	assert_int_equal(read_rank(NULL, &scratch).open.nvidia, 1 << 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_found_is_read_again_after_ten_seconds, begin, end),
		cmocka_unit_test_setup_teardown(what_was_found_stays_for_a_minute, begin, end),
		cmocka_unit_test_setup_teardown(of_several_devices_the_environment_is_read, begin, end),
		cmocka_unit_test_setup_teardown(without_a_cache_each_call_reads, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
