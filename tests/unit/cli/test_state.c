#include "testing.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "cli/options/state.h"

static char dst[256];
static struct fault fault;

static int find(const char *given)
{
	dst[0] = '\0';
	fault = (struct fault){.text = ""};
	return state_dir(given, dst, sizeof(dst), &fault);
}

static int begin(void **state)
{
	(void)state;
	setenv("HOME", "/home/ada", 1);
	setenv("XDG_STATE_HOME", "/data/state", 1);
	setenv("VIGIL_STATE_DIR", "/srv/vigil", 1);
	return 0;
}

static void the_option_goes_before_the_environment(void **state)
{
	(void)state;
	assert_int_equal(find("/mine"), 0);
	assert_string_equal(dst, "/mine");
	assert_int_equal(find(NULL), 0);
	assert_string_equal(dst, "/srv/vigil");
	assert_int_equal(find(""), 0); /* empty is as good as not given */
	assert_string_equal(dst, "/srv/vigil");
}

static void root_has_a_directory_of_the_system(void **state)
{
	(void)state;
	unsetenv("VIGIL_STATE_DIR");
	if (geteuid() != 0)
		skip();
	assert_int_equal(find(NULL), 0);
	assert_string_equal(dst, "/var/lib/vigil");
	setenv("VIGIL_STATE_DIR", "", 1);
	assert_int_equal(find(NULL), 0);
	assert_string_equal(dst, "/var/lib/vigil");
}

enum { NO_OTHER_USER = 99 };

/*
 * As a user of whom there are no files: its number has that of the process in it. The child answers with the number of
 * the first expectation that failed.
 */
static int as_user(int (*expect)(void))
{
	int status = 0;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		uid_t uid = 1000000 + (uid_t)getpid();
		if (setresuid(uid, uid, uid) < 0)
			_exit(NO_OTHER_USER);
		_exit(expect());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_OTHER_USER)
		skip(); /* it takes root */
	return WEXITSTATUS(status);
}

static int user_directories(void)
{
	unsetenv("VIGIL_STATE_DIR");
	if (find(NULL) != 0 || strcmp(dst, "/data/state/vigil") != 0)
		return 1;
	setenv("XDG_STATE_HOME", "relative/path", 1); /* the XDG specification: such a path is ignored */
	if (find(NULL) != 0 || strcmp(dst, "/home/ada/.local/state/vigil") != 0)
		return 2;
	unsetenv("XDG_STATE_HOME");
	if (find(NULL) != 0 || strcmp(dst, "/home/ada/.local/state/vigil") != 0)
		return 3;
	return 0;
}

static void a_user_has_a_directory_at_home(void **state)
{
	(void)state;
	assert_int_equal(as_user(user_directories), 0);
}

static int no_home(void)
{
	struct stat st;
	char want[64];
	unsetenv("VIGIL_STATE_DIR");
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	TEXT_FORMAT(want, "/tmp/vigil-%u", (unsigned)geteuid());
	if (find(NULL) != 0 || strcmp(dst, want) != 0)
		return 1;
	setenv("HOME", "relative", 1);
	if (find(NULL) != 0 || strcmp(dst, want) != 0)
		return 6;
	unsetenv("HOME");
	if (stat(want, &st) < 0 || (st.st_mode & 07777) != 0700)
		return 2;
	if (chmod(want, 0770) < 0 || find(NULL) != -ENOENT || !strstr(fault.text, want))
		return 3;
	if (rmdir(want) < 0 || symlink("/tmp", want) < 0 || find(NULL) != -ENOENT)
		return 4;
	return unlink(want) < 0 ? 5 : 0;
}

static void without_a_home_only_an_own_folder_below_tmp_is_taken(void **state)
{
	(void)state;
	assert_int_equal(as_user(no_home), 0);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
	(void)state;
	char path[300];
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[255] = '\0';
	assert_int_equal(find(path), 0);
	path[255] = 'x';
	path[256] = '\0';
	assert_int_equal(find(path), -ENAMETOOLONG);
	assert_string_equal(fault.text, "the state directory's path is longer than 255 bytes");
}

#define STATE_TEST(t) cmocka_unit_test_setup(t, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(the_option_goes_before_the_environment),
		STATE_TEST(root_has_a_directory_of_the_system),
		STATE_TEST(a_user_has_a_directory_at_home),
		STATE_TEST(without_a_home_only_an_own_folder_below_tmp_is_taken),
		STATE_TEST(a_path_that_is_too_long_is_refused),
	};
	return cmocka_run_group_tests_name("cli/state", tests, NULL, NULL);
}
