/* Shared by the files of act/inject only. */
#pragma once

#include "act/inject/inject.h"
#include "sense/proc/maps.h"
#include "sense/native/unwind.h"
#include "sense/proc/remote.h"

#define INJECT_ALLOCATORS 16
#define INJECT_THREADS 4096

/* Of one thread: mode 0 none, 1 strict, 2 filters. */
struct inject_seccomp {
	uint64_t mode, filters, ignored_signals;
};

enum inject_filters {
	FILTERS_NONE,
	FILTERS_OURS, /* vigil lives under the same ones */
	FILTERS_OF_CONTAINER, /* those that its first process has */
	FILTERS_UNKNOWN, /* it is the first process itself */
	FILTERS_OWN,
};

/* What was found in the program before any of its threads was stopped. */
struct inject_target {
	const struct world *w;
	pid_t pid;
	uint64_t start_ticks;
	/* AT_RANDOM: random bytes that the kernel gives each program at exec */
	uint64_t program_id_addr, program_id[2];
	struct remote remote;
	struct maps maps;
	struct maps first; /* as they were at the beginning: allocator[] lives in there */
	uint64_t dlopen, dlsym, dlerror, memfd_create, close; /* addresses; dlerror and memfd_create may be 0 */
	int dlopen_flags;
	uint64_t trap; /* where a breakpoint instruction happens to be; 0: none, address 0 is jumped to */
	int trap_signal;
	uint64_t symbol; /* the library is loaded already: its function; else 0 */
	/* Not yet: where the function is behind the library's first byte (0: not known), and what begins that file. */
	uint64_t offset;
	uint8_t head[1024];
	bool sees_file;
	struct inject_seccomp seccomp; /* of the first thread */
	enum inject_filters filters;
	const char *allocator[INJECT_ALLOCATORS]; /* paths of files that bring a malloc of their own */
	size_t n_allocators;
	struct natives *natives;
	struct native *native;
};

/* inject_target.c. WORLD_GONE, WORLD_DENIED, INJECT_REFUSED. */
int must_check inject_target_open(const struct world *w, pid_t pid, const struct inject_want *want,
				  struct inject_target *ret, struct fault *f);
/* The mappings again: programs load things. */
void inject_target_renew(struct inject_target *t);
/* True if it is still the program that was read; false after execve, which changes all addresses. */
bool inject_target_same(struct inject_target *t);
void inject_target_close(struct inject_target *t);

/* inject_seccomp.c. WORLD_GONE, WORLD_DENIED. */
int must_check inject_seccomp_read(const struct world *w, pid_t pid, pid_t tid, struct inject_seccomp *ret);
bool inject_seccomp_same(const struct inject_seccomp *a, const struct inject_seccomp *b);
enum inject_filters inject_seccomp_whose(const struct world *w, pid_t pid, const struct inject_seccomp *theirs);
/*
 * The filters of a thread that stands still, read by ptrace: 0: nothing that
 * we do can end it. INJECT_REFUSED: *ret_call may. WORLD_ABSENT: the kernel does not
 * show them (that takes CAP_SYS_ADMIN, and a vigil without filters).
 */
int must_check inject_seccomp_harmless(pid_t tid, const char **ret_call);
struct sock_filter;
/* inject_filter.c. Is every call that we need allowed, or refused by a number, whatever its arguments? Pure. */
bool inject_filter_lets(const struct sock_filter *f, size_t n, const char **ret_call);

/* One frame, as far as it matters here. */
struct inject_frame {
	const char *file; /* of the mapping: its last part; "" none */
	const char *path; /* all of it */
	const char *name; /* "" when it is not known */
};
/*
 * inject_safe.c. May dlopen be called on this thread, here? frames innermost
 * first. syscall: the one it waits in, -1 when it runs. Pure.
 */
bool inject_is_safe(const struct inject_frame *frames, size_t n, bool complete, int64_t syscall, uint64_t arg1,
		    uint64_t arg2, const char *const *allocators, size_t n_allocators);
/* Is this file glibc's own, so that the names of its functions matter? Pure. */
bool inject_is_libc(const char *file);
bool inject_is_loader(const char *file);

/* Not what inject_library returns. */
enum {
	TRY_AGAIN = 1000, /* this thread cannot be used now, maybe later */
	LOADED = 1001, /* the library is there; the function is called in another stop */
};

#if defined(__x86_64__)

#include <sys/user.h>

/* The vector state of an AMX processor is 11 KiB; no announced processor has more than this. */
#define XSTATE_BYTES (64 * 1024)
/* How long the program's loader may take: it may have to wait for another thread that loads something. */
#define CALL_NS (10 * NS_PER_S)

/* One thread of the program, while it is borrowed. */
struct tracee {
	struct inject_target *target;
	pid_t tid;
	int mem_fd;
	int signal; /* that was on its way when the thread stopped: it gets it when it is let go */
	struct user_regs_struct regs, now;
	uint64_t mask;
	size_t n_xstate;
	uint64_t low; /* below here the stack is free */
	int crashed_by; /* a signal that came of a call of ours; 0 and failed: it did not return in time */
	uint64_t since_ns; /* it stands still since then */
	struct inject_result *result; /* where that is counted */
	uint8_t xstate[XSTATE_BYTES];
};

/* inject_tracee.c. WORLD_GONE, WORLD_DENIED. */
int must_check tracee_seize(struct tracee *t);
/* Also INJECT_REFUSED: another process stopped it, and it was let go. TRY_AGAIN leaves it seized: only the end of our
 * own thread lets go of it then. */
int must_check tracee_stop(struct tracee *t);
/* WORLD_GONE; TRY_AGAIN: not in time. since_ns of the thread is then the last time at which it had not stopped. */
int must_check tracee_wait(struct tracee *t, uint64_t until_ns, int *ret_status);
void tracee_stood(const struct tracee *t);
void tracee_let_go(struct tracee *t);
int must_check tracee_regs(struct tracee *t);
int must_check tracee_save(struct tracee *t);
int must_check tracee_restore(struct tracee *t);
/* Room on its stack for some bytes; *ret is their address there. */
int must_check tracee_push(struct tracee *t, const void *bytes, size_t len, uint64_t *ret);
/*
 * 0: it returned, *ret is the value. INJECT_FAILED: it crashed inside, or took
 * too long; the thread stands, and its state can be put back.
 */
int must_check tracee_call(struct tracee *t, uint64_t function, uint64_t a, uint64_t b, uint64_t c, uint64_t *ret);
/* inject_load.c: loads the library, if it is not there yet. INJECT_FAILED, INJECT_REFUSED. */
int must_check inject_load(struct tracee *t, const struct inject_want *want, struct fault *f, uint64_t *ret_function);

#endif
