/* Shared by the files of act/inject only. */
#pragma once

#include "act/inject/inject.h"
#include "sense/proc/maps.h"
#include "sense/native/unwind.h"
#include "sense/proc/remote.h"

#define INJECT_ALLOCATORS 16
#define INJECT_THREADS 4096

/* The seccomp state of one thread; mode: 0 none, 1 strict, 2 filters. */
struct inject_seccomp {
	uint64_t mode, filters, ignored_signals;
};

enum inject_filters {
	FILTERS_NONE,
	FILTERS_OURS, /* the same filters as those of vigil */
	FILTERS_OF_CONTAINER, /* the same filters as those of the first process of the container */
	FILTERS_UNKNOWN, /* the process is the first of its container */
	FILTERS_OWN,
};

/* Facts about the program, read before any of its threads is stopped. */
struct inject_target {
	const struct world *w;
	pid_t pid;
	uint64_t start_ticks;
	/* AT_RANDOM: random bytes that the kernel gives each program at exec */
	uint64_t program_id_addr, program_id[2];
	struct remote remote;
	struct maps maps;
	struct maps first; /* mappings at the start; allocator[] borrows from them */
	uint64_t dlopen, dlsym, dlerror, memfd_create, close; /* addresses; dlerror and memfd_create may be 0 */
	int dlopen_flags;
	uint64_t trap; /* address of an int3 instruction; 0: none found, address 0 is used */
	int trap_signal;
	uint64_t symbol; /* address of the function where the library is loaded already; else 0 */
	/*
	 * For a library that is not loaded: offset of the function from its first byte (0: unknown), and the first
	 * bytes of the file.
	 */
	uint64_t offset;
	uint8_t head[1024];
	bool sees_file;
	struct inject_seccomp seccomp; /* of the first thread */
	enum inject_filters filters;
	const char *allocator[INJECT_ALLOCATORS]; /* paths of mapped files that define malloc */
	size_t n_allocators;
	struct natives *natives;
	struct native *native;
};

/* inject_target.c. WORLD_GONE, WORLD_DENIED, INJECT_REFUSED. */
int must_check inject_target_open(const struct world *w, pid_t pid, const struct inject_want *want,
				  struct inject_target *ret, struct fault *f);
/* Reads the mappings again, as programs load more files. */
void inject_target_renew(struct inject_target *t);
/* True if it is still the program that was read; false after execve, which changes all addresses. */
bool inject_target_same(struct inject_target *t);
void inject_target_close(struct inject_target *t);

/* inject_seccomp.c. WORLD_GONE, WORLD_DENIED. */
int must_check inject_seccomp_read(const struct world *w, pid_t pid, pid_t tid, struct inject_seccomp *ret);
bool inject_seccomp_same(const struct inject_seccomp *a, const struct inject_seccomp *b);
enum inject_filters inject_seccomp_whose(const struct world *w, pid_t pid, const struct inject_seccomp *theirs);
/*
 * Checks the filters of a stopped thread, read by ptrace. 0: none of our calls can end it. INJECT_REFUSED: *ret_call
 * may. WORLD_ABSENT: the kernel does not show the filters (reading them takes CAP_SYS_ADMIN and a vigil without
 * filters).
 */
int must_check inject_seccomp_harmless(pid_t tid, const char **ret_call);
struct sock_filter;
/* inject_filter.c. True if every call that we need is allowed or fails with an errno, whatever its arguments. Pure. */
bool inject_filter_lets(const struct sock_filter *f, size_t n, const char **ret_call);

/* One frame of a stack. */
struct inject_frame {
	const char *file; /* last part of the path of its mapping; "" none */
	const char *path; /* the whole path */
	const char *name; /* "" when it is not known */
};
/*
 * inject_safe.c. True if dlopen may be called on a thread with this stack. frames: innermost first. syscall: the call
 * in which it waits, -1 when it runs. Pure.
 */
bool inject_is_safe(const struct inject_frame *frames, size_t n, bool complete, int64_t syscall, uint64_t arg1,
		    uint64_t arg2, const char *const *allocators, size_t n_allocators);
/* True if the file belongs to glibc, so that the names of its functions matter. Pure. */
bool inject_is_libc(const char *file);
bool inject_is_loader(const char *file);

/* Results between the files of act/inject; inject_library never returns them. */
enum {
	TRY_AGAIN = 1000, /* this thread cannot be used now, maybe later */
	LOADED = 1001, /* the library is loaded; the function is called in another stop */
};

#if defined(__x86_64__)

#include <sys/user.h>

/* The vector state of an AMX processor is 11 KiB; no announced processor has more than this. */
#define XSTATE_BYTES (64 * 1024)
/* Time limit of one call. The loader may have to wait for another thread that loads something. */
#define CALL_NS (10 * NS_PER_S)

/* One thread of the program while it is traced. */
struct tracee {
	struct inject_target *target;
	pid_t tid;
	int mem_fd;
	int signal; /* a signal that arrived while it was being stopped; delivered when it is let go */
	struct user_regs_struct regs, now;
	uint64_t mask;
	size_t n_xstate;
	uint64_t low; /* the stack is free below this address */
	int crashed_by; /* signal raised by our call; 0 after a failed call: it did not return in time */
	uint64_t since_ns; /* start of the present stop */
	struct inject_result *result; /* counts the stops */
	uint8_t xstate[XSTATE_BYTES];
};

/* inject_tracee.c. WORLD_GONE, WORLD_DENIED. */
int must_check tracee_seize(struct tracee *t);
/*
 * Also INJECT_REFUSED: another process stopped it, and it was let go. TRY_AGAIN leaves it seized: then only the end of
 * the tracer detaches it.
 */
int must_check tracee_stop(struct tracee *t);
/*
 * Waits until the thread stops. WORLD_GONE; TRY_AGAIN: it did not stop in time. since_ns is then the last time at which
 * it still ran.
 */
int must_check tracee_wait(struct tracee *t, uint64_t until_ns, int *ret_status);
void tracee_stood(const struct tracee *t);
void tracee_let_go(struct tracee *t);
int must_check tracee_regs(struct tracee *t);
int must_check tracee_save(struct tracee *t);
int must_check tracee_restore(struct tracee *t);
/* Copies bytes to its stack; *ret is their address there. INJECT_UNSAFE: that part of it cannot be read. */
int must_check tracee_push(struct tracee *t, const void *bytes, size_t len, uint64_t *ret);
/*
 * 0: the function returned *ret. INJECT_UNSAFE as above. INJECT_FAILED: it crashed or took too long; the thread is
 * stopped and its state can be put back.
 */
int must_check tracee_call(struct tracee *t, uint64_t function, uint64_t a, uint64_t b, uint64_t c, uint64_t *ret);
/* inject_load.c: loads the library unless it is loaded already. INJECT_FAILED, INJECT_REFUSED. */
int must_check inject_load(struct tracee *t, const struct inject_want *want, struct fault *f, uint64_t *ret_function);

#endif
