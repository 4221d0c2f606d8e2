#include "testing.h"

#include <signal.h>
#include <sys/wait.h>

#include "agent/made_world.h"
#include "cli/jobs/follow.h"
#include "tell/store/store.h"

static struct made_world made;
static struct follow f;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	f = (struct follow){.inotify_fd = -1, .pid_fd = -1};
	return follow_open(made.dir, &f);
}

static int end(void **state)
{
	(void)state;
	follow_done(&f);
	made_end(&made);
	return 0;
}

static void append(const char *path)
{
	char full[400];
	TEXT_FORMAT(full, "%s/%s", made.dir, path);
	cleanup(closep) int fd = open(full, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
}

static void make(const char *path)
{
	char full[400];
	TEXT_FORMAT(full, "%s/%s", made.dir, path);
	cleanup(closep) int fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
}

static unsigned wait_once(void)
{
	unsigned what = 0;
	assert_int_equal(follow_wait(&f, &what), 0);
	return what;
}

static void a_new_store_is_told_from_a_written_one(void **state)
{
	(void)state;
	make(STORE_FILE);
	assert_int_equal(wait_once(), FOLLOW_STORE | FOLLOW_NEW_STORE);
	append(STORE_FILE);
	assert_int_equal(wait_once(), FOLLOW_STORE);
	make(STORE_FILE "-wal"); /* SQLite's log of what was written last */
	assert_int_equal(wait_once(), FOLLOW_STORE);
}

static void other_files_beside_the_store_do_not_wake(void **state)
{
	(void)state;
	make("notes.txt");
	append("notes.txt");
	make(STORE_FILE "-shm");
	assert_int_equal(wait_once(), FOLLOW_STORE); /* of the last file alone */
}

static void a_store_that_is_moved_into_place_is_new(void **state)
{
	(void)state;
	char from[400], to[400];
	make("other");
	TEXT_FORMAT(from, "%s/other", made.dir);
	TEXT_FORMAT(to, "%s/%s", made.dir, STORE_FILE);
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(wait_once(), FOLLOW_STORE | FOLLOW_NEW_STORE);
}

static void watched_directories_report_files(void **state)
{
	(void)state;
	char dir[400];
	made_folder(&made, "jobs/a");
	TEXT_FORMAT(dir, "%s/jobs/a", made.dir);
	assert_int_equal(follow_folder(&f, dir, NULL), 0);
	make("jobs/a/" STORE_FILE); /* the name of the store counts in the state directory only */
	assert_int_equal(wait_once(), FOLLOW_FILES);
	append("jobs/a/" STORE_FILE);
	make(STORE_FILE);
	assert_int_equal(wait_once(), FOLLOW_FILES | FOLLOW_STORE | FOLLOW_NEW_STORE);
}

static void what_is_no_directory_is_refused(void **state)
{
	(void)state;
	char path[400];
	struct follow other = {.inotify_fd = -1, .pid_fd = -1};
	make("file");
	TEXT_FORMAT(path, "%s/file", made.dir);
	assert_int_equal(follow_folder(&f, path, NULL), -ENOTDIR);
	assert_int_equal(follow_open(path, &other), -ENOTDIR);
	TEXT_FORMAT(path, "%s/absent", made.dir);
	assert_int_equal(follow_folder(&f, path, NULL), -ENOENT);
	assert_int_equal(follow_open(path, &other), -ENOENT);
	assert_int_equal(other.inotify_fd, -1);
}

static void the_end_of_a_process_is_reported_once(void **state)
{
	(void)state;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		for (;;)
			pause();
	}
	follow_process(&f, pid);
	assert_true(f.pid_fd >= 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(wait_once(), FOLLOW_GONE);
	assert_int_equal(f.pid_fd, -1);
	make(STORE_FILE);
	assert_int_equal(wait_once(), FOLLOW_STORE | FOLLOW_NEW_STORE); /* without FOLLOW_GONE */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	follow_process(&f, pid); /* gone: nothing to watch */
	assert_int_equal(f.pid_fd, -1);
}

static void no_process_is_watched_for_pid_0(void **state)
{
	(void)state;
	follow_process(&f, getpid());
	assert_true(f.pid_fd >= 0);
	follow_process(&f, 0);
	assert_int_equal(f.pid_fd, -1);
}

static void a_closed_pipe_behind_stdout_is_noticed(void **state)
{
	(void)state;
	int ends[2], old = dup(STDOUT_FILENO);
	unsigned what = 0;
	assert_true(old >= 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
	close(ends[1]);
	close(ends[0]);
	int r = follow_wait(&f, &what);
	assert_int_equal(dup2(old, STDOUT_FILENO), STDOUT_FILENO);
	close(old);
	assert_int_equal(r, 0);
	assert_int_equal(what, FOLLOW_NO_READER);
}

#define FOLLOW_TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FOLLOW_TEST(a_new_store_is_told_from_a_written_one),
		FOLLOW_TEST(other_files_beside_the_store_do_not_wake),
		FOLLOW_TEST(a_store_that_is_moved_into_place_is_new),
		FOLLOW_TEST(watched_directories_report_files),
		FOLLOW_TEST(what_is_no_directory_is_refused),
		FOLLOW_TEST(the_end_of_a_process_is_reported_once),
		FOLLOW_TEST(no_process_is_watched_for_pid_0),
		FOLLOW_TEST(a_closed_pipe_behind_stdout_is_noticed),
	};
	return cmocka_run_group_tests_name("cli/follow", tests, NULL, NULL);
}
