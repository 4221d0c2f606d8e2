/* A child that waits for something, and looking at it until it does. */
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "world_fixture.h"

#include "sense/wait/threadwait.h"

#define DEADLINE_NS (20 * NS_PER_S)

static struct world w;
static pid_t child;

static inline int group_setup(void **state)
{
	(void)state;
	w = live_world();
	return 0;
}

static inline int group_teardown(void **state)
{
	(void)state;
	fixture_close(&w);
	return 0;
}

static inline void child_end(void)
{
	if (child <= 0)
		return;
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	child = 0;
}

static inline int test_teardown(void **state)
{
	(void)state;
	child_end();
	return 0;
}

/* In a child: ends with its parent, also with one that has ended already. What lived on would hold our output open. */
static inline void end_with(pid_t parent)
{
	(void)syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (syscall(SYS_getppid) != parent)
		_exit(0);
}

/* A process that does one thing and ends with us. */
static inline pid_t start(void (*body)(void))
{
	pid_t self = getpid();
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		end_with(self);
		body();
		_exit(0);
	}
	return child;
}

static inline void pause_1ms(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Looks until the thread waits for that; the last look is handed back. */
static inline struct threadwait await_kind(pid_t pid, pid_t tid, enum wait_kind kind)
{
	struct threadwait t = {};
	struct remote r;
	remote_open(&w, pid, &r);
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	do {
		pause_1ms();
		assert_int_equal(threadwait_read(&w, pid, tid, &r, true, &t), 0);
	} while (t.kind != kind && clock_mono_ns() < until);
	remote_done(&r);
	if (t.kind != kind)
		fail_msg("kind %s instead of %s: state %c, %s, wchan %s, %s", wait_kind_name(t.kind),
			 wait_kind_name(kind), t.state, syscall_name(t.nr), t.wchan, t.text);
	return t;
}

static inline struct threadwait await_child(enum wait_kind kind)
{
	return await_kind(child, child, kind);
}

static inline void assert_text(const struct threadwait *t, const char *needle)
{
	if (!strstr(t->text, needle))
		fail_msg("\"%s\" does not say \"%s\"", t->text, needle);
}

/* …and says so: on the way there it may wait for something else of that kind, inside pthread_join for one. */
static inline struct threadwait await_saying(enum wait_kind kind, const char *needle)
{
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	struct threadwait t = await_child(kind);
	while (!strstr(t.text, needle) && clock_mono_ns() < until)
		t = await_child(kind);
	assert_text(&t, needle);
	return t;
}

static inline void assert_target(const struct threadwait *t, const char *needle)
{
	if (!strstr(t->target, needle))
		fail_msg("\"%s\" does not say \"%s\"", t->target, needle);
}

#define LIVE(test) cmocka_unit_test_teardown(test, test_teardown)
