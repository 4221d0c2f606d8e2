#include "testing.h"

#include "agent/host/world_open.h"
#include "made_world.h"

static void a_recorded_world_has_the_parts_that_are_there(void **state)
{
	(void)state;
	struct made_world made;
	struct world w;
	struct fault f = {.text = ""};
	made_begin(&made);
	made_write(&made, "kmsg", "6,1,2,-;x\n", 10);
	assert_int_equal(world_open(made.dir, &w, &f), 0);
	assert_true(w.recorded);
	assert_string_equal(w.root, made.dir);
	assert_true(w.proc_fd >= 0 && w.cgroup_fd >= 0 && w.kmsg_fd >= 0);
	assert_true(w.sys_fd < 0 && w.shm_fd < 0);
	assert_false(w.kmsg_denied);
	world_close(&w);
	assert_true(w.proc_fd == -1 && w.cgroup_fd == -1 && w.kmsg_fd == -1);
	world_close(&w); /* a second time does nothing */
	made_end(&made);
}

static void without_proc_there_is_no_world(void **state)
{
	(void)state;
	struct world w;
	struct fault f = {.text = ""};
	assert_int_equal(world_open("/nowhere", &w, &f), -ENOENT);
	assert_non_null(strstr(f.text, "cannot open /nowhere/proc"));
}

static void a_path_that_is_too_long_is_refused(void **state)
{
	(void)state;
	struct world w;
	struct fault f = {.text = ""};
	char path[sizeof(w.root) + 1];
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(world_open(path, &w, &f), -ENAMETOOLONG);
}

static void the_live_machine_is_not_recorded(void **state)
{
	(void)state;
	struct world w;
	struct fault f = {.text = ""};
	char path[32];
	assert_int_equal(world_open(NULL, &w, &f), 0);
	assert_false(w.recorded);
	assert_string_equal(w.root, "");
	assert_int_equal(faccessat(w.proc_fd, "self/stat", F_OK, 0), 0);
	assert_true(w.page_bytes >= 4096 && w.ticks_per_s >= 100);
	assert_string_equal(world_fd_path(4242, 1, path), "/proc/4242/fd/1");
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorded_world_has_the_parts_that_are_there),
		cmocka_unit_test(without_proc_there_is_no_world),
		cmocka_unit_test(a_path_that_is_too_long_is_refused),
		cmocka_unit_test(the_live_machine_is_not_recorded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
