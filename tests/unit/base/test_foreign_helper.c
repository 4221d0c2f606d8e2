#include "testing.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/foreign_helper.h"
#include "base/text.h"

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

/* Says at once what it has to, and needs a processor to end that it does not get soon. */
static int lingers(const void *arg, int *ret_fd)
{
	const struct sched_param none = {.sched_priority = 0};
	const size_t len = (size_t)96 << 20;
	(void)ret_fd;
	memset(mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, len);
	(void)sched_setaffinity(0, sizeof(cpu_set_t), arg);
	(void)sched_setscheduler(0, SCHED_IDLE, &none);
	return 0;
}

static pid_t keep_busy(const cpu_set_t *where)
{
	const pid_t self = getpid(), pid = fork();
	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)sched_setaffinity(0, sizeof(*where), where);
	while (getppid() == self)
		;
	_exit(0);
}

static size_t children_count(void)
{
	char path[64], text[4096];
	size_t len, n = 0;
	struct span rest, word;
	TEXT_FORMAT(path, "/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
	assert_int_equal(file_read_at(AT_FDCWD, path, text, sizeof(text), &len), 0);
	for (rest = (struct span){text, len}; span_word(&rest, &word);)
		n++;
	return n;
}

static void those_that_have_not_ended_yet_stay_few(void **state)
{
	(void)state;
	cpu_set_t all, one;
	int none = -1;
	size_t first = 0;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(first, &all))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	const pid_t busy = keep_busy(&one);
	size_t most = 0;
	for (int i = 0; i < 2 * FOREIGN_LEAVING; i++) {
		int r = foreign_in_helper(lingers, &one, -1, FOREIGN_CROWDED_NS, &none);
		assert_true(r == 0 || r == -EAGAIN || r == -ETIMEDOUT);
		most = MAX(most, children_count());
	}
	assert_int_equal(kill(busy, SIGKILL), 0);
	assert_int_equal(waitpid(busy, NULL, 0), busy);
	assert_in_range(most, 1, FOREIGN_LEAVING + 2); /* the last one, and the busy one */
}

/* As in a service with RestrictNamespaces=: without clone3, whose arguments a filter cannot see. */
static void it_is_waited_for_where_clone3_is_not_permitted(void **state)
{
	(void)state;
	const pid_t pid = fork();
	if (pid == 0) {
		struct sock_filter code[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		const struct sock_fprog filter = {ARRAY_SIZE(code), code};
		int fd = -1, none = -1;
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
			_exit(2);
		bool opened = foreign_in_helper(opens, "/", -1, FOREIGN_WAIT_NS, &fd) == 0 && fd >= 0;
		bool left = foreign_in_helper(stands, NULL, -1, SOON_NS, &none) == -ETIMEDOUT;
		/* Both have ended and been taken in. */
		_exit(opened && left && children_count() == 0 ? 0 : 1);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_folder_that_did_not_answer_is_left_alone(void **state)
{
	(void)state;
	assert_false(foreign_is_dead(AT_FDCWD, "/dead/folder/file", 7));
	foreign_died(AT_FDCWD, "/dead/folder/file", 7);
	assert_true(foreign_is_dead(AT_FDCWD, "/dead/folder/other", 7));
	assert_true(foreign_is_dead(AT_FDCWD, "/dead/folder/below/it", 7));
	assert_false(foreign_is_dead(AT_FDCWD, "/dead/folder2", 7));
	foreign_died(AT_FDCWD, "/top", 7);
	assert_false(foreign_is_dead(AT_FDCWD, "/other", 7));
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
		cmocka_unit_test(those_that_have_not_ended_yet_stay_few),
		cmocka_unit_test(it_is_waited_for_where_clone3_is_not_permitted),
		cmocka_unit_test(a_folder_that_did_not_answer_is_left_alone),
		cmocka_unit_test(disks_are_near_and_the_kernels_files_are_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
