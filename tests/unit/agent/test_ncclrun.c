/* The environment of a job whose NCCL calls are recorded, and where their rings go. */
#include "scratch_fixture.h"

#include "agent/collective/ncclrun.h"

static struct world w;

static int plugin_make(void **state)
{
	if (scratch_make(state))
		return -1;
	w = live_world();
	scratch_put("libvigil-nccl.so", "x", 1, 0755);
	return setenv("VIGIL_DATA_DIR", scratch, 1) || unsetenv("NCCL_PROFILER_PLUGIN");
}

static int plugin_remove(void **state)
{
	fixture_close(&w);
	return unsetenv("VIGIL_DATA_DIR") || unsetenv("NCCL_PROFILER_PLUGIN") || scratch_remove(state);
}

static void the_plugin_is_named_unless_the_user_has_one(void **state)
{
	(void)state;
	struct ncclrun n;
	struct fault f;
	char expected[400];
	assert_int_equal(ncclrun_prepare(&w, &n, &f), 0);
	TEXT_FORMAT(expected, "NCCL_PROFILER_PLUGIN=%s/libvigil-nccl.so", scratch);
	assert_true(n.on && !n.users_own);
	assert_string_equal(n.plugin, expected);
	assert_int_equal(setenv("NCCL_PROFILER_PLUGIN", "/opt/other.so", 1), 0);
	assert_int_equal(ncclrun_prepare(&w, &n, &f), 0);
	assert_true(n.users_own);
	assert_string_equal(n.plugin, "");
	/* ours from an outer vigil is no wish of the user */
	assert_int_equal(setenv("NCCL_PROFILER_PLUGIN", "/elsewhere/libvigil-nccl.so", 1), 0);
	assert_int_equal(ncclrun_prepare(&w, &n, &f), 0);
	assert_false(n.users_own);
	assert_string_equal(n.plugin, expected);
}

static void rings_move_to_the_state_directory_at_the_end(void **state)
{
	(void)state;
	struct ncclrun n = {.on = true};
	char job[80], folder[256], path[PATH_MAX], kept[PATH_MAX];
	TEXT_FORMAT(job, "%s/vigil-unit-%d", scratch, (int)getpid());
	assert_int_equal(ncclrun_attempt(&n, job, 3), 0);
	TEXT_COPY(folder, n.folder);
	TEXT_FORMAT(path, "VIGIL_NCCL_RING=%s/ring.", folder);
	assert_string_equal(n.ring, path);
	ncclrun_kept(job, 3, kept, sizeof(kept));
	assert_string_equal(n.keep, kept);
	TEXT_FORMAT(path, "%s/ring.812", folder);
	assert_int_equal(file_replace(path, "calls", 5, 0600), 0);
	TEXT_FORMAT(path, "%s/other", folder);
	assert_int_equal(file_replace(path, "", 0, 0600), 0);
	ncclrun_keep(&n);
	TEXT_FORMAT(path, "%s/ring.812", kept);
	assert_int_equal(access(path, F_OK), 0);
	TEXT_FORMAT(path, "%s/ring.812", folder);
	assert_int_equal(access(path, F_OK), strcmp(folder, kept) == 0 ? 0 : -1);
	assert_string_equal(n.folder, "");
	assert_string_equal(n.ring, "");
	ncclrun_keep(&n); /* a second time there is nothing to do */
	TEXT_FORMAT(path, "%s/other", folder);
	(void)unlink(path);
	(void)rmdir(folder);
}

static void a_job_without_nccl_leaves_no_folders(void **state)
{
	(void)state;
	struct ncclrun n = {.on = true};
	char job[80], folder[256];
	TEXT_FORMAT(job, "%s/vigil-unit-%d", scratch, (int)getpid());
	assert_int_equal(ncclrun_attempt(&n, job, 0), 0);
	TEXT_COPY(folder, n.folder);
	ncclrun_keep(&n);
	assert_int_equal(access(folder, F_OK), -1);
	assert_int_equal(access(n.keep, F_OK), -1);
}

static void without_a_state_directory_nothing_is_recorded(void **state)
{
	(void)state;
	struct ncclrun n = {.on = true, .ring = "old", .folder = "old"};
	assert_int_equal(ncclrun_attempt(&n, "", 0), -ENOENT);
	assert_string_equal(n.ring, "");
	assert_string_equal(n.folder, "");
	scratch_put("file", "", 0, 0600);
	assert_int_equal(ncclrun_attempt(&n, scratch_path("file"), 0), -ENOTDIR);
	assert_string_equal(n.ring, "");
}

#define WITH_PLUGIN(test) cmocka_unit_test_setup_teardown(test, plugin_make, plugin_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PLUGIN(the_plugin_is_named_unless_the_user_has_one),
		WITH_PLUGIN(rings_move_to_the_state_directory_at_the_end),
		WITH_PLUGIN(a_job_without_nccl_leaves_no_folders),
		WITH_PLUGIN(without_a_state_directory_nothing_is_recorded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
