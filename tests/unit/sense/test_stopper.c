/* The stopper's own thread: it ends when it has no work, with its helper, and comes back with the next stop. */
#include "testing.h"
#include "world_fixture.h"

#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "sense/lockwait.h"
#include "sense/native/stopper.h"

enum { ANOTHER = 54321 };

static struct unwind_regs regs;
static struct unwind_stack stack;

/* Of another user where this is root: its memory is read by a helper. */
static pid_t child_new(bool never_stops)
{
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && setresuid(ANOTHER, ANOTHER, ANOTHER) != 0)
			_exit(1);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_DUMPABLE, 1);
		(void)close(ready[1]);
		/* Who waits for a child of vfork(2) does not stop for a tracer. */
		if (never_stops && syscall(SYS_clone, CLONE_VM | CLONE_VFORK, 0, 0, 0, 0) == 0)
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)poll(NULL, 0, 1000);
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 0); /* it is another's now */
	(void)close(ready[0]);
	return pid;
}

static size_t entries(const char *path)
{
	size_t n = 0;
	DIR *dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

static void await_threads(size_t n)
{
	const uint64_t end_ns = clock_mono_ns() + 20 * NS_PER_S;
	while (entries("/proc/self/task") > n && clock_mono_ns() < end_ns)
		(void)poll(NULL, 0, 10);
	assert_int_equal(entries("/proc/self/task"), n);
}

static void a_thread_without_work_ends_and_comes_back(void **state)
{
	(void)state;
	struct world w = live_world();
	struct remote r;
	pid_t pid = child_new(false);
	lockwait_begin(); /* so its thread has a helper where the child is another user's */
	remote_open(&w, pid, &r);
	const size_t threads = entries("/proc/self/task");
	size_t files = 0; /* once this thread has what it asks by itself */
	cleanup(stopper_freep) struct stopper *s = stopper_new(&w, pid, &r);
	for (int i = 0; i < 3; i++) {
		int e = stopper_take(s, pid, 500000, &regs, &stack, NULL, NULL);
		if (e == WORLD_DENIED)
			skip();
		assert_int_equal(e, 0);
		assert_int_equal(entries("/proc/self/task"), threads + 1);
		await_threads(threads);
		files = i == 0 ? entries("/proc/self/fd") : files;
	}
	assert_int_equal(stopper_stats(s).stops, 3);
	assert_int_equal(entries("/proc/self/fd"), files);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	lockwait_end();
	remote_done(&r);
	fixture_close(&w);
}

/* A target that never stops: the thread is cancelled, and leaves nothing open. */
static void a_thread_that_is_cancelled_leaves_nothing(void **state)
{
	(void)state;
	struct world w = live_world();
	struct remote r;
	pid_t pid = child_new(true);
	lockwait_begin();
	remote_open(&w, pid, &r);
	cleanup(stopper_freep) struct stopper *s = stopper_new(&w, pid, &r);
	const size_t threads = entries("/proc/self/task"), files = entries("/proc/self/fd");
	for (int i = 0; i < 5; i++) {
		int e = stopper_take(s, pid, 20000, &regs, &stack, NULL, NULL);
		if (e == WORLD_DENIED)
			skip();
		assert_int_equal(e, STOPPER_STUCK);
	}
	await_threads(threads);
	assert_int_equal(entries("/proc/self/fd"), files);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	lockwait_end();
	remote_done(&r);
	fixture_close(&w);
}

/* What a thread computes with is in its registers, but for the place, and in its innermost frame. */
static void a_state_is_what_is_computed_with(void **state)
{
	(void)state;
	static struct unwind_trace trace;
	regs = (struct unwind_regs){.reg = {1, 2, 3}, .valid = UNWIND_ALL_VALID};
	stack = (struct unwind_stack){.sp = 1000, .n_bytes = 64};
	trace.n = 1;
	trace.frame[0].cfa = 1016;
	const uint64_t first = unwind_state(&regs, &stack, &trace);
	assert_int_not_equal(first, 0);
	stack.bytes[16] = 1; /* of its caller */
	assert_int_equal(unwind_state(&regs, &stack, &trace), first);
	stack.bytes[15] = 1;
	assert_int_not_equal(unwind_state(&regs, &stack, &trace), first);
	stack.bytes[15] = 0;
	regs.reg[2] = 4;
	assert_int_not_equal(unwind_state(&regs, &stack, &trace), first);
	regs.in_call = true;
	assert_int_equal(unwind_state(&regs, &stack, &trace), 0);
	regs.in_call = false;
	regs.valid = 1;
	assert_int_equal(unwind_state(&regs, &stack, &trace), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_is_what_is_computed_with),
		cmocka_unit_test(a_thread_without_work_ends_and_comes_back),
		cmocka_unit_test(a_thread_that_is_cancelled_leaves_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
