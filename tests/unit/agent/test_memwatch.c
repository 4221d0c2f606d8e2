#include "testing.h"

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include "agent/guard/memwatch.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "world_fixture.h"

/* Adopted jobs come and go; each has a v2 group of plain files with a limit of its own. */
static struct world w;
static char root[] = "/tmp/vigil-eye-XXXXXX";
static struct guard_job jobs[MEMWATCH_GROUPS + 2];
static struct memwatch memwatch;

static void group_make(const char *name)
{
	static const char *const files[][2] = {{"memory.current", "1000000\n"}, {"memory.max", "2000000\n"}};
	assert_int_equal(mkdirat(w.cgroup_fd, name, 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char path[64];
		TEXT_FORMAT(path, "%s/%s", name, files[i][0]);
		int fd = openat(w.cgroup_fd, path, O_WRONLY | O_CREAT, 0644);
		assert_int_equal(file_write_all(fd, files[i][1], strlen(files[i][1])), 0);
		close(fd);
	}
}

static void group_remove(const char *name)
{
	char path[64];
	TEXT_FORMAT(path, "%s/memory.current", name);
	(void)unlinkat(w.cgroup_fd, path, 0);
	TEXT_FORMAT(path, "%s/memory.max", name);
	(void)unlinkat(w.cgroup_fd, path, 0);
	assert_int_equal(unlinkat(w.cgroup_fd, name, AT_REMOVEDIR), 0);
}

static void job_adopt(size_t j, const char *group)
{
	jobs[j] = (struct guard_job){.group = JOBGROUP_NONE, .limit_bytes = CGROUP_NO_LIMIT, .unit.active = true};
	jobs[j].place.memory_version = CGROUP_V2;
	TEXT_COPY(jobs[j].adopted_cgroup, group);
	memwatch_add_job(&memwatch, &jobs[j], j);
}

static bool sees_group_of(size_t j)
{
	struct ledger l;
	uint32_t covered;
	const struct guard_settings s = {.threshold_ratio = 0.95};
	const uint64_t used[2] = {0};
	assert_int_equal(memwatch_look(&memwatch, jobs, 2, used, &l, &covered, &s), 0);
	for (size_t i = 0; i < l.n; i++)
		if (memwatch.group_of[i] >= 0 && (memwatch.jobs_of[i] >> j & 1) &&
		    strcmp(memwatch.group[memwatch.group_of[i]].g.path, jobs[j].adopted_cgroup) == 0)
			return true;
	return false;
}

static void many_jobs_after_another_are_all_seen(void **state)
{
	(void)state;
	for (int i = 0; i < 3 * MEMWATCH_GROUPS; i++) {
		char name[32];
		TEXT_FORMAT(name, "job%d", i);
		group_make(name);
		job_adopt(0, name);
		assert_true(sees_group_of(0));
		memwatch_drop_job(&memwatch, 0);
		group_remove(name);
	}
}

static void groups_beyond_what_can_be_watched_are_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEMWATCH_GROUPS + 2; i++) {
		char name[32];
		TEXT_FORMAT(name, "many%zu", i);
		group_make(name);
		job_adopt(i, name);
	}
	assert_true(sees_group_of(0));
	assert_true(memwatch.unwatched >= 2);
	for (size_t i = 0; i < MEMWATCH_GROUPS + 2; i++) {
		char name[32];
		TEXT_FORMAT(name, "many%zu", i);
		memwatch_drop_job(&memwatch, i);
		group_remove(name);
	}
	memwatch.unwatched = 0;
}

static void a_job_is_not_taken_for_its_predecessor(void **state)
{
	(void)state;
	group_make("first");
	group_make("second");
	job_adopt(0, "first");
	job_adopt(1, "first");
	memwatch_drop_job(&memwatch, 0);
	job_adopt(0, "second");
	assert_true(sees_group_of(0));
	assert_true(sees_group_of(1));
	for (size_t i = 0; i < memwatch.n_groups; i++)
		if (strcmp(memwatch.group[i].g.path, "first") == 0)
			assert_int_equal(memwatch.group[i].jobs, 2);
	memwatch_drop_job(&memwatch, 0);
	memwatch_drop_job(&memwatch, 1);
	group_remove("first");
	group_remove("second");
}

static int before(void **state)
{
	(void)state;
	w = live_world();
	close(w.cgroup_fd);
	if (!mkdtemp(root))
		return -1;
	w.cgroup_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return memwatch_open(&memwatch, &w, epoll_create1(EPOLL_CLOEXEC));
}

static int after(void **state)
{
	(void)state;
	closep(&memwatch.epoll_fd);
	memwatch_close(&memwatch);
	fixture_close(&w);
	return rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_jobs_after_another_are_all_seen),
		cmocka_unit_test(groups_beyond_what_can_be_watched_are_counted),
		cmocka_unit_test(a_job_is_not_taken_for_its_predecessor),
	};
	return cmocka_run_group_tests_name("agent/guard/memwatch", tests, before, after);
}
