/*
 * Loads a shared library into a running program and calls one function of it, by ptrace(2): SEIZE, INTERRUPT, a call of
 * the program's own dlopen, DETACH. The program needs nothing but glibc.
 *
 * One of its threads is used for some milliseconds; the others keep running. A suitable thread waits in the kernel or
 * runs code of the program itself, and has no function on its stack that may hold a lock which dlopen takes (malloc,
 * free, the loader, fork, pthread_create, exit). Without such a thread, further attempts follow until the deadline. All
 * registers of the thread, the vector state and the signal mask are put back afterwards. A system call in which it
 * waited continues; one that would fail with EINTR is restarted.
 *
 * Refused, with one sentence each: stopped, frozen and traced processes, zombies, kernel threads, programs without
 * glibc (static, musl, 32-bit), for root set-user-ID programs of others (they would serve their starter with what the
 * library makes), programs with a seccomp filter that is not the container's or that may end them because
 * of our calls, and processes that we may not trace.
 *
 * A process of its own traces ("vigil-attach"). Signals to vigil wait until it is done; if vigil is killed by SIGKILL,
 * it finishes the call that it has begun. Not covered: if it is killed itself in these milliseconds, the program dies.
 */
#pragma once

#include <sys/types.h>

#include "base/fault.h"
#include "sense/proc/procfile.h"
#include "sense/world.h"

enum {
	INJECT_REFUSED = 50, /* never possible for this process; f says why */
	INJECT_UNSAFE = 51, /* no thread was at a safe place before the deadline */
	/* the loader of the program failed, or the library has no function of that name; f has the text */
	INJECT_FAILED = 52,
	INJECT_ABSENT = 53, /* only_loaded, and the library is not loaded: nothing was done */
};

struct inject_want {
	const char *library; /* path of the file; where the program cannot see it, a copy in memory is loaded */
	bool only_loaded; /* call the function only if the library is loaded already */
	const char *symbol; /* int64_t f(void *arg, uint64_t arg_bytes); called in the program */
	void *arg; /* copied into the program before the call and back after it */
	size_t arg_bytes; /* at most INJECT_ARG_BYTES */
	/*
	 * Called after each stop, when the program runs again and arg has been copied back. True asks for one more call
	 * in another short stop. NULL: one call only.
	 */
	bool (*again)(void *arg);
	/* NULL, or who it was when arg was made for it: to another one, or another user's, nothing is done. */
	const struct procfile_who *who;
	uint64_t deadline_ns; /* time to find a safe place; 200 ms is plenty */
	uint64_t run_out_ns; /* time for a thread inside malloc to return from it; 0: 10 ms */
};
#define INJECT_ARG_BYTES 8192

struct inject_result {
	int64_t value; /* what the function returned */
	pid_t tid; /* the thread that was used */
	/*
	 * Longest single stop and sum of all stops of that thread. A stop counts from the last check that found the
	 * thread running until it was let go.
	 */
	uint64_t stopped_ns, stopped_sum_ns;
	uint32_t tries, calls; /* number of stops, and of stops in which the function was called */
	bool was_loaded; /* the library was loaded before */
	bool in_memory; /* a copy in memory was loaded, as the program does not see the file */
};

/* WORLD_GONE (it ended, or executed another program), WORLD_DENIED, INJECT_*; f describes the error. */
int must_check inject_library(const struct world *w, pid_t pid, const struct inject_want *want,
			      struct inject_result *ret, struct fault *f);
