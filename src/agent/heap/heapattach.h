/*
 * Heap profiles of processes that already run: switches libvigil_heap.so on where it is loaded (`vigil run
 * --heap-dormant`), or loads it with act/inject and ties it into the program (preload/patch.c). Also the way back.
 *
 * The profile goes to the folder of the job, else to <state>/heap/pid-<pid>-<start>/. A process of another user, or one
 * that does not see our folders (a container, a chroot), gets one in its own /tmp, which vigil reaches through
 * /proc/PID/root while the process lives; a container's is lost with it.
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
	uint64_t start_ticks; /* of the process that is meant: the pid may be another's by now; 0: any */
};

struct heapattach_result {
	char folder[400]; /* folder of the profile, as vigil sees it */
	bool was_there; /* the library was loaded before: only a call was injected */
	bool own_folder; /* the folder is in the process's own /tmp */
	uint32_t files, slots; /* files and slots that were tied to the library */
	uint64_t stopped_ns, stopped_sum_ns; /* longest time that a thread stood still at once, and the sum of all */
	uint32_t tries, calls; /* stops, and those in which a call was made */
};

/* WORLD_GONE, WORLD_DENIED, INJECT_* (act/inject/inject.h), -errno; the fault has the reason and the remedy. */
int must_check heapattach(const struct world *w, pid_t pid, const struct heapattach_want *want,
			  struct heapattach_result *ret, struct fault *f);
/* Ends sampling and gives the program its own functions back; the library stays in its memory, unused. */
int must_check heapdetach(const struct world *w, pid_t pid, struct heapattach_result *ret, struct fault *f);
