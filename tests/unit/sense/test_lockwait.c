#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* ---- memory ---- */

#define MANY_BYTES (5 * MIB / 2) /* more than fits in one answer */
#define STANDS_PAGES 64
#define NOBODY 65534

struct other {
	pid_t pid;
	int pipe; /* one byte comes when it is ready */
	unsigned char *many, *stands; /* the same addresses as here */
};

/* Pages that come late or never, as those of a file whose server stands. */
static bool pages_stand(void *at, size_t len, int *ret_fd)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register area = {.range = {(uintptr_t)at, len}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	*ret_fd = fd;
	return fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &area) == 0;
}

/* Gives each page that is asked for after a while; late_ms 0: never. */
_Noreturn static void pages_serve(int fd, int late_ms)
{
	struct uffd_msg m;
	for (;;) {
		if (late_ms == 0 || read(fd, &m, sizeof(m)) != sizeof(m)) {
			(void)pause();
			continue;
		}
		(void)poll(NULL, 0, late_ms);
		struct uffdio_zeropage page = {.range = {m.arg.pagefault.address & ~4095ULL, 4096}};
		(void)ioctl(fd, UFFDIO_ZEROPAGE, &page);
	}
}

/* A process of another user. Skips where there cannot be one, or no page that stands. */
static struct other other_new(uid_t uid, int late_ms)
{
	struct other o = {.pid = -1};
	int ready[2];
	char how = 'x';
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	o.many = mmap(NULL, MANY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	o.stands = mmap(NULL, STANDS_PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(o.many != MAP_FAILED && o.stands != MAP_FAILED);
	o.pid = fork();
	if (o.pid == 0) {
		int fd;
		for (size_t i = 0; i < MANY_BYTES; i++)
			o.many[i] = (unsigned char)(i * 7 + i / 4096);
		how = !pages_stand(o.stands, STANDS_PAGES * 4096, &fd) || setresuid(uid, uid, uid) < 0 ? 'n' : 'y';
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], &how, 1) != 1)
			_exit(1);
		pages_serve(fd, late_ms);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &how, 1), 1);
	close(ready[0]);
	return how == 'y' ? o : (struct other){.pid = 0, .pipe = o.pid};
}

static void other_end(struct other *o)
{
	pid_t pid = o->pid ? o->pid : o->pipe;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void skip_without(struct other *o)
{
	if (o->pid)
		return;
	other_end(o);
	print_message("skipped: userfaultfd and other users take root\n");
	skip();
}

static ssize_t page_read(int proc, const struct other *o, size_t page, void *into)
{
	struct iovec to = {into, 100}, from = {o->stands + page * 4096, 100};
	int r = lockwait_ask(proc, o->pid);
	return r != 0 ? r : lockwait_readv(proc, o->pid, &to, 1, &from, 1);
}

static void memory_of_another_user_is_read_by_the_helper_and_ones_own_is_not(void **state)
{
	static unsigned char got[MANY_BYTES];
	(void)state;
	struct other o = other_new(NOBODY, 0);
	skip_without(&o);
	cleanup(closep) int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct other own = other_new(geteuid(), 0);
	lockwait_begin();
	assert_int_equal(lockwait_ask(proc, o.pid), 0);
	assert_true(lockwait_reads(proc, o.pid));
	assert_false(lockwait_reads(proc, own.pid));
	assert_false(lockwait_reads(proc, getpid()));
	struct iovec into[3] = {{got, 10}, {got + 10, 2 * MIB}, {got + 10 + 2 * MIB, MANY_BYTES - 10 - 2 * MIB}};
	struct iovec from[4] = {{o.many, 5},
				{o.many + 5, MIB},
				{o.many + 5 + MIB, 0},
				{o.many + 5 + MIB, MANY_BYTES - MIB - 5}};
	assert_int_equal(lockwait_readv(proc, o.pid, into, 3, from, 4), MANY_BYTES);
	for (size_t i = 0; i < MANY_BYTES; i++)
		assert_int_equal(got[i], (unsigned char)(i * 7 + i / 4096));
	struct iovec none = {NULL, 8}, hole[2] = {{o.many, 8}, none};
	assert_int_equal(lockwait_readv(proc, o.pid, into, 1, &none, 1), -EFAULT);
	assert_int_equal(lockwait_readv(proc, o.pid, into, 1, hole, 2), 8); /* up to the hole */
	struct iovec little = {got, 3};
	memset(got, 0, 8);
	assert_int_equal(lockwait_readv(proc, o.pid, &little, 1, from, 1), 3);
	assert_int_equal(got[3], 0); /* no more than there is room for */
	other_end(&own);
	other_end(&o);
	assert_true(lockwait_readv(proc, o.pid, into, 1, from, 1) < 0);
}

static void a_page_that_never_comes_holds_nobody(void **state)
{
	unsigned char byte[100];
	(void)state;
	struct other o = other_new(NOBODY, 0);
	skip_without(&o);
	struct other good = other_new(NOBODY, 0);
	cleanup(closep) int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	lockwait_begin();
	uint64_t began_ns = clock_mono_ns();
	assert_int_equal(page_read(proc, &o, 0, byte), -ETIMEDOUT);
	for (size_t i = 0; i < 50; i++) /* is left alone for a while */
		assert_int_equal(page_read(proc, &o, i, byte), -ETIMEDOUT);
	struct iovec to = {byte, 4}, from = {good.many + 8, 4};
	assert_int_equal(lockwait_ask(proc, good.pid), 0);
	assert_int_equal(lockwait_readv(proc, good.pid, &to, 1, &from, 1), 4);
	assert_int_equal(byte[1], 63);
	assert_true(clock_mono_ns() - began_ns < 10 * NS_PER_S);
	other_end(&good);
	other_end(&o);
}

static void pages_that_always_come_late_are_not_waited_for_again_and_again(void **state)
{
	unsigned char byte[100];
	(void)state;
	struct other o = other_new(NOBODY, 200);
	skip_without(&o);
	cleanup(closep) int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	lockwait_begin();
	ssize_t r = 0;
	size_t pages = 0;
	while (pages < STANDS_PAGES && (r = page_read(proc, &o, pages, byte)) == 100)
		pages++;
	assert_int_equal(r, -ETIMEDOUT);
	assert_in_range(pages, 1, 12);
	other_end(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_does_not_answer_is_left_alone_for_a_while),
		cmocka_unit_test(a_forked_process_waits_as_usual),
		cmocka_unit_test(many_are_asked_at_once_and_only_who_stands_is_left_out),
		cmocka_unit_test(memory_of_another_user_is_read_by_the_helper_and_ones_own_is_not),
		cmocka_unit_test(a_page_that_never_comes_holds_nobody),
		cmocka_unit_test(pages_that_always_come_late_are_not_waited_for_again_and_again),
	};
	return cmocka_run_group_tests_name("sense/lockwait", tests, NULL, NULL);
}
