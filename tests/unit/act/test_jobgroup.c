#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "act/jobgroup.h"
#include "base/buf.h"
#include "base/file.h"
#include "world_fixture.h"

/* A v2 tree of plain files: what is written stays there to be looked at. */
struct tree {
	char dir[64];
	struct world w;
	struct cgroup_place place;
};

static void file_make(struct tree *t, const char *path, const char *text)
{
	char dir[256];
	TEXT_FORMAT(dir, "%s/%s", t->dir, path);
	*strrchr(dir, '/') = '\0';
	assert_int_equal(file_mkdirs(dir, 0755), 0);
	int fd = openat(t->w.cgroup_fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static int tree_open(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));
	assert_non_null(t);
	TEXT_COPY(t->dir, "/tmp/vigil-jobgroup-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	t->w = live_world();
	close(t->w.cgroup_fd);
	t->w.cgroup_fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	t->place = (struct cgroup_place){
		.memory_version = CGROUP_V2, .memory = "app.slice/me.scope", .name = "/app.slice/me.scope"};
	file_make(t, "app.slice/me.scope/memory.max", "max\n");
	file_make(t, "app.slice/me.scope/cpu.max", "max 100000\n");
	/* the kernel would make this file with the folder */
	file_make(t, "app.slice/vigil-j1/memory.high", "max\n");
	*state = t;
	return 0;
}

static int tree_close(void **state)
{
	struct tree *t = *state;
	static const char *const files[] = {"app.slice/me.scope/memory.max", "app.slice/me.scope/cpu.max",
					    "app.slice/vigil-j1/memory.high"};
	static const char *const dirs[] = {"app.slice/me.scope", "app.slice/vigil-j1", "app.slice"};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		(void)unlinkat(t->w.cgroup_fd, files[i], 0);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		(void)unlinkat(t->w.cgroup_fd, dirs[i], AT_REMOVEDIR);
	(void)rmdir(t->dir);
	fixture_close(&t->w);
	free(t);
	return 0;
}

static void a_group_beside_ours_has_its_own_name(void **state)
{
	struct tree *t = *state;
	struct jobgroup g;
	char why[160];
	assert_int_equal(jobgroup_make(&t->w, &t->place, "j1", &g, why), 0);
	assert_string_equal(g.memory, "app.slice/vigil-j1");
	assert_string_equal(g.name, "/app.slice/vigil-j1");
	jobgroup_close(&g);
}

static void a_job_never_leaves_the_limits_it_was_started_under(void **state)
{
	struct tree *t = *state;
	static const char *const limits[][2] = {{"memory.max", "1073741824\n"}, {"cpu.max", "50000 100000\n"}};
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct jobgroup g;
		char why[160], path[128];
		TEXT_FORMAT(path, "app.slice/me.scope/%s", limits[i][0]);
		file_make(t, path, limits[i][1]);
		assert_int_equal(jobgroup_make(&t->w, &t->place, "j1", &g, why), WORLD_ABSENT);
		file_make(t, path, "max\n");
	}
}

/* A bag of tasks that ran in the job and was killed has left groups without processes. */
static void groups_that_are_left_below_go_with_it(void **state)
{
	struct tree *t = *state;
	struct jobgroup g = JOBGROUP_NONE;
	char dir[256];
	TEXT_FORMAT(dir, "%s/app.slice/vigil-j2/vigil-map/1/below", t->dir);
	assert_int_equal(file_mkdirs(dir, 0755), 0);
	g.version = CGROUP_V2;
	TEXT_COPY(g.memory, "app.slice/vigil-j2");
	assert_int_equal(jobgroup_remove(&t->w, &g), 0);
	assert_int_equal(faccessat(t->w.cgroup_fd, "app.slice/vigil-j2", F_OK, 0), -1);
	g.version = CGROUP_V2;
	file_make(t, "app.slice/vigil-j2/used/cgroup.procs", "1\n"); /* stands for a process */
	assert_true(jobgroup_remove(&t->w, &g) < 0);
	assert_int_equal(unlinkat(t->w.cgroup_fd, "app.slice/vigil-j2/used/cgroup.procs", 0), 0);
	assert_int_equal(jobgroup_remove(&t->w, &g), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(groups_that_are_left_below_go_with_it, tree_open, tree_close),
		cmocka_unit_test_setup_teardown(a_group_beside_ours_has_its_own_name, tree_open, tree_close),
		cmocka_unit_test_setup_teardown(a_job_never_leaves_the_limits_it_was_started_under, tree_open,
						tree_close),
	};
	return cmocka_run_group_tests_name("act/jobgroup", tests, NULL, NULL);
}
