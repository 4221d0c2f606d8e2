/*
 * Heap profiles of processes that run already: libvigil_heap.so is switched on
 * where it is loaded (`vigil run --heap-dormant`), or loaded by act/inject and
 * tied into the program (preload/patch.c); and the way back.
 *
 * Where the profile goes: the folder of the job, else
 * <state>/heap/pid-<pid>-<start>/. A process that does not see our folders (a
 * container, a chroot) gets one in its own /tmp, which we reach through
 * /proc/PID/root while it lives; that one is lost with the container.
 */
#pragma once

#include <sys/types.h>

#include "base/fault.h"
#include "sense/proc/proc.h"
#include "sense/world.h"

struct heapattach_want {
	const char *state; /* the state directory */
	const char *folder; /* VIGIL_HEAP_DIR of the process' job; NULL: none */
	uint64_t rate_bytes;
};

struct heapattach_result {
	char folder[400]; /* where the profile is, as we see it */
	bool was_there; /* the library had been loaded: nothing was injected but a call */
	bool own_folder; /* in the process's own /tmp */
	uint32_t files, slots; /* that were tied to the library */
	uint64_t stopped_ns, stopped_sum_ns; /* the longest time that a thread stood still at once, and all together */
	uint32_t tries, calls; /* stops; those in which something was done */
};

/* WORLD_GONE, WORLD_DENIED, INJECT_* (act/inject/inject.h); the fault says why, and what to do. */
int must_check heapattach(const struct world *w, pid_t pid, const struct heapattach_want *want,
			  struct heapattach_result *ret, struct fault *f);
/* Sampling ends and the program's calls are its own again; the library stays in its memory, unused. */
int must_check heapdetach(const struct world *w, pid_t pid, struct heapattach_result *ret, struct fault *f);
