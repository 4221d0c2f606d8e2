/* The inside of act/inject: shared by its files, by nobody else. */
#pragma once

#include "act/inject.h"
#include "sense/maps.h"
#include "sense/native/unwind.h"
#include "sense/remote.h"

#define INJECT_ALLOCATORS 16
#define INJECT_THREADS 4096

/* What was found in the program before any of its threads was stopped. */
struct inject_target {
	const struct world *w;
	pid_t pid;
	uint64_t start_ticks;
	uint64_t mark_addr, mark[2]; /* random bytes that the kernel gives each program that a process becomes */
	struct remote remote;
	struct maps maps;
	struct maps first; /* as they were at the beginning: allocator[] lives in there */
	uint64_t dlopen, dlsym, dlerror, memfd_create, close; /* addresses; dlerror and memfd_create may be 0 */
	int dlopen_flags;
	uint64_t trap; /* where a breakpoint instruction happens to be; 0: none, address 0 is jumped to */
	int trap_signal;
	uint64_t symbol; /* the library is loaded already: its function; else 0 */
	bool sees_file;
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
/* Is it the program that was looked at, or has it become another one (execve) with other addresses? */
bool inject_target_same(struct inject_target *t);
void inject_target_close(struct inject_target *t);

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
