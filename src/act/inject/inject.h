/*
 * Loads a shared library into a running program and calls one function of it,
 * by ptrace(2): SEIZE, INTERRUPT, a call of the program's own dlopen, DETACH.
 * Nothing of the program is needed but glibc.
 *
 * One thread of it is borrowed for some milliseconds; the others run on. It is
 * one that waits in the kernel, or runs code of the program itself, and has no
 * function on its stack that may hold a lock which dlopen takes (malloc, free,
 * the loader, fork, pthread_create, exit); where none is, another one is looked
 * for until the deadline. All its registers, the vector state and the signal
 * mask are put back as they were; a system call it waited in goes on (one that
 * would fail with EINTR is begun again).
 *
 * Refused, with one sentence each: what is stopped, frozen, traced or a zombie,
 * threads of the kernel, programs without glibc (static, musl, 32-bit), those
 * with a seccomp filter that is not their container's or that may end them for
 * what we do, and those we have no right to.
 *
 * Not covered: if vigil itself is killed with SIGKILL in these milliseconds,
 * the program dies too.
 */
#pragma once

#include <sys/types.h>

#include "base/fault.h"
#include "sense/world.h"

enum {
	INJECT_REFUSED = 50, /* it cannot be done to this process, now or ever; f says why */
	INJECT_UNSAFE = 51, /* no thread was at a safe place before the deadline */
	INJECT_FAILED = 52, /* the program's loader said no, or the function has no such name; f has its words */
};

struct inject_want {
	const char *library; /* the program loads this file if it sees it, else a copy in memory */
	const char *symbol; /* int64_t f(void *arg, uint64_t arg_bytes): called in the program */
	void *arg; /* copied into the program and back again after the call */
	size_t arg_bytes; /* at most INJECT_ARG_BYTES */
	/*
	 * The program runs again, and arg has come back: is there more to do in another short stop? NULL: there
	 * is not.
	 */
	bool (*again)(void *arg);
	uint64_t deadline_ns; /* to find a safe place within; 200 ms is plenty */
	uint64_t run_out_ns; /* how long a thread that is inside malloc is let go on until it returns; 0: 10 ms */
};
#define INJECT_ARG_BYTES 8192

struct inject_result {
	int64_t value; /* what the function returned */
	pid_t tid; /* the thread that was borrowed */
	/* The longest time at once that it did not do its own work, and all of them together: from when it may have
	 * stopped (the last look at which it had not) until it was let go. */
	uint64_t stopped_ns, stopped_sum_ns;
	uint32_t tries, calls; /* stops; those in which the function was called */
	bool was_loaded; /* the library was there already */
	bool in_memory; /* a copy in memory was loaded: the program does not see the file */
};

/* WORLD_GONE (it ended, or became another program), WORLD_DENIED, INJECT_*; the fault says it. */
int must_check inject_library(const struct world *w, pid_t pid, const struct inject_want *want,
			      struct inject_result *ret, struct fault *f);
