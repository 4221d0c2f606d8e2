#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "act/spawn.h"
#include "act/taskgroup.h"
#include "base/file.h"
#include "world_fixture.h"

static pid_t spawned(const char *program, int group_fd, bool *ret_grouped, int *ret_error)
{
	char name[64];
	pid_t pid = 0;
	(void)snprintf(name, sizeof(name), "%s", program);
	char arg[] = "1000";
	char *const argv[] = {name, arg, NULL}, *const env[] = {NULL};
	struct spawn s = {.argv = argv, .env = env, .in_fd = -1, .out_fd = -1, .err_fd = -1, .group_fd = group_fd};
	(void)sigemptyset(&s.mask);
	*ret_grouped = false;
	*ret_error = spawn_start(&s, &pid, ret_grouped);
	return pid;
}

static void end(pid_t pid)
{
	int status = 0;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void a_group_that_is_none_is_done_without(void **state)
{
	(void)state;
	const int folder = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const int fds[] = {-1, folder, 1000000};
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		bool grouped = true;
		int error = -1;
		pid_t pid = spawned("/bin/sleep", fds[i], &grouped, &error);
		assert_true(error == 0 && pid > 0 && !grouped);
		end(pid);
	}
	close(folder);
}

static void a_program_that_is_not_there_is_told_of(void **state)
{
	(void)state;
	bool grouped;
	int error = 0;
	(void)spawned("/no/such/program", -1, &grouped, &error);
	assert_int_equal(error, ENOENT);
}

static struct taskgroups groups_of(struct world *w)
{
	struct taskgroups g = TASKGROUPS_NONE;
	struct cgroup_place place;
	char path[CGROUP_PATH_MAX], id[40];
	(void)snprintf(id, sizeof(id), "test-%d", (int)getpid());
	if (cgroup_place_read(w, 0, &place) != 0 || taskgroups_path(w, &place, id, path) != 0 ||
	    taskgroups_make(w, path, &g) != 0)
		return (struct taskgroups)TASKGROUPS_NONE;
	return g;
}

static void a_child_is_born_in_its_group_and_ends_with_it(void **state)
{
	(void)state;
	struct world w = live_world();
	struct taskgroups g = groups_of(&w), again = TASKGROUPS_NONE;
	int fd = -1, error = -1, status = 0;
	pid_t pids[4];
	bool grouped = false;
	if (g.fd < 0 || taskgroups_open(&g, 1, &fd) < 0)
		skip(); /* groups cannot be made here */
	pid_t pid = spawned("/bin/sleep", fd, &grouped, &error);
	closep(&fd);
	assert_true(error == 0 && grouped);
	assert_true(taskgroups_used(&g, 1) && taskgroups_pids(&w, &g, 1, pids, 4) == 1 && pids[0] == pid);
	assert_int_equal(taskgroups_reopen(&w, g.path, &again), 0);
	assert_int_equal(taskgroups_freeze(&g, 1, true), 0);
	ignore(taskgroups_kill(&w, &g, 1), "it was done one by one");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	taskgroups_drop(&g, 1);
	assert_int_equal(taskgroups_end(&w, &again, 5000), 0);
	assert_int_equal(taskgroups_reopen(&w, g.path, &again), WORLD_GONE);
	closep(&g.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_that_is_none_is_done_without),
		cmocka_unit_test(a_program_that_is_not_there_is_told_of),
		cmocka_unit_test(a_child_is_born_in_its_group_and_ends_with_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
