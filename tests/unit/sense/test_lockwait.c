#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "testing.h"

#include "base/buf.h"
#include "base/clock.h"
#include "sense/lockwait.h"

#define PROCESSES 8

/* A folder that plays /proc: 11 answers, 12 does not (a FIFO that nobody writes to), 13 is not there. */
static int proc_make(char folder[static 32])
{
	memcpy(folder, "/tmp/lockwait-XXXXXX", sizeof("/tmp/lockwait-XXXXXX"));
	assert_non_null(mkdtemp(folder));
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(mkdirat(fd, "11", 0755), 0);
	assert_int_equal(mkdirat(fd, "12", 0755), 0);
	cleanup(closep) int file = openat(fd, "11/cmdline", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(file, "x", 2), 2);
	assert_int_equal(mkfifoat(fd, "12/cmdline", 0644), 0);
	return fd;
}

static void proc_remove(int fd, const char *folder)
{
	assert_int_equal(unlinkat(fd, "11/cmdline", 0) | unlinkat(fd, "12/cmdline", 0), 0);
	assert_int_equal(unlinkat(fd, "11", AT_REMOVEDIR) | unlinkat(fd, "12", AT_REMOVEDIR), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void who_does_not_answer_is_left_alone_for_a_while(void **state)
{
	(void)state;
	char folder[32];
	cleanup(closep) int fd = proc_make(folder);
	assert_int_equal(lockwait_ask(fd, 12), 0); /* this thread may wait */
	lockwait_begin();
	assert_int_equal(lockwait_ask(fd, 11), 0);
	assert_int_equal(lockwait_ask(fd, 13), 0); /* the reader will be told that it is gone */
	assert_int_equal(lockwait_ask(fd, 12), -ETIMEDOUT);
	/* not asked again: 50 questions would take 5 s */
	uint64_t begun_ns = clock_mono_ns();
	for (int i = 0; i < 50; i++)
		assert_int_equal(lockwait_ask(fd, 12), -ETIMEDOUT);
	assert_true(clock_mono_ns() - begun_ns < 3 * NS_PER_S);
	assert_int_equal(lockwait_ask(fd, 11), 0);
	proc_remove(fd, folder);
}

static void a_forked_process_waits_as_usual(void **state)
{
	(void)state;
	char folder[32];
	int status = -1;
	cleanup(closep) int fd = proc_make(folder);
	lockwait_begin();
	pid_t child = fork();
	if (child == 0)
		_exit(lockwait_ask(fd, 12) == 0 ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	proc_remove(fd, folder);
}

static void many_are_asked_at_once_and_only_who_stands_is_left_out(void **state)
{
	(void)state;
	char folder[32];
	cleanup(closep) int fd = proc_make(folder);
	assert_int_equal(renameat(fd, "11", fd, "21") | renameat(fd, "12", fd, "22"), 0);
	const pid_t pids[] = {23, 21, 22, 24, 25, 21, 26};
	pid_t standing[PROCESSES];
	lockwait_begin();
	size_t before = lockwait_standing(standing, ARRAY_SIZE(standing));
	lockwait_survey(fd, pids, ARRAY_SIZE(pids));
	size_t n = lockwait_standing(standing, ARRAY_SIZE(standing));
	assert_int_equal(n, before + 1);
	assert_true(standing[0] == 22 || standing[n - 1] == 22);
	/* what was learned counts: nobody is asked again, so that one who stands since then is not noticed */
	assert_int_equal(unlinkat(fd, "21/cmdline", 0), 0);
	assert_int_equal(mkfifoat(fd, "21/cmdline", 0644), 0);
	assert_int_equal(lockwait_ask(fd, 21), 0);
	assert_int_equal(lockwait_ask(fd, 22), -ETIMEDOUT);
	assert_int_equal(renameat(fd, "21", fd, "11") | renameat(fd, "22", fd, "12"), 0);
	proc_remove(fd, folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_does_not_answer_is_left_alone_for_a_while),
		cmocka_unit_test(a_forked_process_waits_as_usual),
		cmocka_unit_test(many_are_asked_at_once_and_only_who_stands_is_left_out),
	};
	return cmocka_run_group_tests_name("sense/lockwait", tests, NULL, NULL);
}
