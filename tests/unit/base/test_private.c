#include "agent/scratch_fixture.h"

#include <sys/wait.h>

#include "base/private.h"

#define OWNER 60718
#define STRANGER 60719

static mode_t mode_of(const char *name)
{
	struct stat st;
	assert_int_equal(lstat(scratch_path(name), &st), 0);
	return st.st_mode & 0777;
}

static mode_t taken(void)
{
	return geteuid() == 0 ? 0007 : 0077;
}

static void a_new_state_folder_is_closed_to_others(void **state)
{
	(void)state;
	assert_int_equal(private_state(scratch_path("new/state")), 0);
	assert_int_equal(mode_of("new/state"), geteuid() == 0 ? 0751 : 0700);
	assert_int_equal(private_state(scratch_path("new/state")), 0);
	assert_int_equal(mode_of("new/state"), geteuid() == 0 ? 0751 : 0700);
}

static void what_an_older_vigil_left_open_is_closed(void **state)
{
	(void)state;
	assert_int_equal(mkdir(scratch_path("state"), 0755), 0);
	assert_int_equal(mkdir(scratch_path("state/jobs"), 0755), 0);
	(void)scratch_put("state/vigil.db", "x", 1, 0644);
	(void)scratch_put("state/vigil.db-wal", "x", 1, 0644);
	assert_int_equal(private_state(scratch_path("state")), 0);
	assert_int_equal(mode_of("state/vigil.db") & taken(), 0);
	assert_int_equal(mode_of("state/vigil.db-wal") & taken(), 0);
	assert_int_equal(mode_of("state/jobs") & taken(), 0);
	assert_int_equal(mode_of("state") & taken() & ~0001U, 0);
}

static void a_folder_with_other_things_in_it_stays_as_it_is(void **state)
{
	(void)state;
	assert_int_equal(mkdir(scratch_path("state"), 0755), 0);
	(void)scratch_put("state/thesis.txt", "x", 1, 0644);
	(void)scratch_put("state/vigil.db", "x", 1, 0644);
	assert_int_equal(private_state(scratch_path("state")), 0);
	assert_int_equal(mode_of("state"), 0755);
	assert_int_equal(mode_of("state/thesis.txt"), 0644);
	assert_int_equal(mode_of("state/vigil.db") & taken(), 0);
}

static void links_are_not_followed(void **state)
{
	(void)state;
	assert_int_equal(mkdir(scratch_path("state"), 0755), 0);
	(void)scratch_put("victim", "x", 1, 0644);
	assert_int_equal(symlink("../victim", scratch_path("state/vigil.db")), 0);
	assert_int_equal(private_state(scratch_path("state")), 0);
	assert_int_equal(mode_of("victim"), 0644);
}

static void the_umask_is_ours_until_somebody_elses_program_starts(void **state)
{
	(void)state;
	mode_t before = umask(0002);
	private_umask();
	assert_int_equal(umask(0), geteuid() == 0 ? 0027 : 0077);
	private_umask_undo();
	assert_int_equal(umask(before), 0002);
}

/* The exit status of a child that runs as this user: the number of bytes read, 100 + errno where it may not. */
static int read_as(uid_t uid, const char *path, int access)
{
	pid_t child = fork();
	if (child == 0) {
		char text[16];
		if (setgid(uid) < 0 || setuid(uid) < 0)
			_exit(99);
		int fd = open(path, access | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : access == O_RDONLY ? read(fd, text, sizeof(text)) : 0;
		_exit(n < 0 ? 100 + errno : (int)n);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	return WEXITSTATUS(status);
}

static void a_user_reads_what_is_made_in_the_users_folder_and_changes_nothing(void **state)
{
	(void)state;
	char folder[256], path[300];
	if (geteuid() != 0) {
		skip(); /* making a folder for somebody else takes root */
	}
	assert_int_equal(chmod(scratch, 0755), 0);
	assert_int_equal(private_state(scratch_path("state")), 0);
	int r = private_user_folder(scratch_path("state"), OWNER, folder, sizeof(folder));
	if (r == -EOPNOTSUPP)
		skip(); /* this file system has no access lists */
	assert_int_equal(r, 0);
	TEXT_FORMAT(path, "%s/jobs", folder);
	assert_int_equal(private_mkdirs(path), 0);
	TEXT_FORMAT(path, "%s/jobs/report", folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, private_file());
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "secret", 6), 6);
	close(fd);
	assert_int_equal(read_as(OWNER, path, O_RDONLY), 6);
	assert_int_equal(read_as(OWNER, path, O_WRONLY), 100 + EACCES);
	assert_int_equal(read_as(STRANGER, path, O_RDONLY), 100 + EACCES);
	TEXT_FORMAT(path, "%s/jobs/planted", folder);
	assert_int_equal(read_as(OWNER, path, O_WRONLY | O_CREAT), 100 + EACCES);
	assert_int_equal(chmod(scratch, 0700), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {

		IN_FOLDER(a_new_state_folder_is_closed_to_others),
		IN_FOLDER(what_an_older_vigil_left_open_is_closed),
		IN_FOLDER(a_folder_with_other_things_in_it_stays_as_it_is),
		IN_FOLDER(links_are_not_followed),
		IN_FOLDER(the_umask_is_ours_until_somebody_elses_program_starts),
		IN_FOLDER(a_user_reads_what_is_made_in_the_users_folder_and_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
