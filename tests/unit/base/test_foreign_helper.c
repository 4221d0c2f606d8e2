#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/foreign_helper.h"

#define SOON_NS (20 * NS_PER_MS)

static int opens(const void *arg, int *ret_fd)
{
	*ret_fd = open(arg, O_RDONLY | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

static int makes(const void *arg, int *ret_fd)
{
	(void)ret_fd;
	return mkdirat(*(const int *)arg, "made", 0700) < 0 ? -errno : 0;
}

static _Noreturn int stands(const void *arg, int *ret_fd)
{
	(void)arg;
	(void)ret_fd;
	for (;;)
		(void)pause();
}

static _Noreturn int dies(const void *arg, int *ret_fd)
{
	(void)arg;
	(void)ret_fd;
	_exit(0);
}

/* Says which of two descriptors it has. */
static int has(const void *arg, int *ret_fd)
{
	const int *fd = arg;
	(void)ret_fd;
	return (fcntl(fd[0], F_GETFD) >= 0 ? 1 : 0) | (fcntl(fd[1], F_GETFD) >= 0 ? 2 : 0);
}

static void what_it_opens_comes_back(void **state)
{
	(void)state;
	cleanup(closep) int fd = -1;
	assert_int_equal(foreign_in_helper(opens, "/", -1, FOREIGN_WAIT_NS, &fd), 0);
	struct stat here, there;
	assert_int_equal(fstat(fd, &there), 0);
	assert_int_equal(stat("/", &here), 0);
	assert_true(here.st_ino == there.st_ino && here.st_dev == there.st_dev);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	int none = -1;
	assert_int_equal(foreign_in_helper(opens, "/none/such", -1, FOREIGN_WAIT_NS, &none), -ENOENT);
	assert_int_equal(none, -1);
}

static void what_stands_is_left(void **state)
{
	(void)state;
	int none = -1;
	assert_int_equal(foreign_in_helper(stands, NULL, -1, SOON_NS, &none), -ETIMEDOUT);
	assert_int_equal(foreign_in_helper(dies, NULL, -1, FOREIGN_WAIT_NS, &none), -EIO);
	assert_int_equal(none, -1);
	/* Who waits for children meets none. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void it_keeps_the_folder_and_nothing_else(void **state)
{
	(void)state;
	int none = -1;
	char base[] = "/tmp/vigil-helper-XXXXXX";
	assert_non_null(mkdtemp(base));
	cleanup(closep) int first = open("/", O_PATH | O_CLOEXEC), dir = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(foreign_in_helper(makes, &dir, dir, FOREIGN_WAIT_NS, &none), 0);
	assert_int_equal(unlinkat(dir, "made", AT_REMOVEDIR), 0);
	assert_int_equal(rmdir(base), 0);
	const int both[] = {first, dir}, and_output[] = {STDOUT_FILENO, dir};
	assert_int_equal(foreign_in_helper(has, both, dir, FOREIGN_WAIT_NS, &none), 2);
	assert_int_equal(foreign_in_helper(has, and_output, first, FOREIGN_WAIT_NS, &none), 0);
	assert_int_equal(foreign_in_helper(has, both, AT_FDCWD, FOREIGN_WAIT_NS, &none), 0);
}

static volatile sig_atomic_t handled;

static void handle(int sig)
{
	(void)sig;
	handled = 1;
}

static int raises(const void *arg, int *ret_fd)
{
	(void)arg;
	(void)ret_fd;
	(void)kill(getpid(), SIGUSR1);
	return handled;
}

static void no_handler_of_ours_runs_in_it(void **state)
{
	(void)state;
	int none = -1;
	const struct sigaction a = {.sa_handler = handle};
	assert_int_equal(sigaction(SIGUSR1, &a, NULL), 0);
	assert_int_equal(foreign_in_helper(raises, NULL, -1, FOREIGN_WAIT_NS, &none), 0);
	assert_int_equal(kill(getpid(), SIGUSR1), 0);
	assert_int_equal(handled, 1); /* the mask is what it was */
}

static void a_folder_that_did_not_answer_is_left_alone(void **state)
{
	(void)state;
	assert_false(foreign_is_dead(AT_FDCWD, "/dead/folder/file"));
	foreign_died(AT_FDCWD, "/dead/folder/file");
	assert_true(foreign_is_dead(AT_FDCWD, "/dead/folder/other"));
	assert_true(foreign_is_dead(AT_FDCWD, "/dead/folder/below/it"));
	assert_false(foreign_is_dead(AT_FDCWD, "/dead/folder2"));
	foreign_died(AT_FDCWD, "/top");
	assert_false(foreign_is_dead(AT_FDCWD, "/other"));
}

static void disks_are_near_and_the_kernels_files_are_not(void **state)
{
	(void)state;
	cleanup(closep) int proc = open("/proc", O_PATH | O_CLOEXEC), shm = open("/dev/shm", O_PATH | O_CLOEXEC);
	assert_false(foreign_is_near(proc));
	if (shm >= 0)
		assert_true(foreign_is_near(shm));
	assert_false(foreign_is_near(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_opens_comes_back),
		cmocka_unit_test(what_stands_is_left),
		cmocka_unit_test(it_keeps_the_folder_and_nothing_else),
		cmocka_unit_test(no_handler_of_ours_runs_in_it),
		cmocka_unit_test(a_folder_that_did_not_answer_is_left_alone),
		cmocka_unit_test(disks_are_near_and_the_kernels_files_are_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
