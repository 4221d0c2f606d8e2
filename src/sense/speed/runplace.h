/*
 * Whether a thread that runs is in a library of messages: MPI's and UCX's waits for others go round and round there, so
 * a processor that is busy is no work. By samples of its instruction pointer: perf_event_open(2), the software clock of
 * its own processor time, each 5 ms. Nothing is changed in the program and it is never stopped.
 */
#pragma once

#include <sys/types.h>

#include "sense/proc/perfring.h"
#include "sense/world.h"

#define RUNPLACE_RANGES 32

struct runplace {
	struct perfring ring;
	bool inside; /* where it was seen last */
	size_t n;
	struct {
		uint64_t start, end; /* [start, end) */
	} range[RUNPLACE_RANGES]; /* code of those libraries */
};

/* True of a library whose waits are loops: its name without its folder, "libmpi.so.40". Pure. */
bool runplace_library(const char *name);
/*
 * Begins to look at a thread. WORLD_ABSENT: its process has no such library, or the kernel no such event; WORLD_GONE,
 * WORLD_DENIED (perf_event_paranoid, another user's process), -ENOMEM (RLIMIT_MEMLOCK).
 */
int must_check runplace_open(const struct world *w, pid_t pid, pid_t tid, struct runplace *ret);
void runplace_close(struct runplace *p);
/* True if it was in such a library at most times since the last call, or, where it has not run since, before that. */
bool runplace_inside(struct runplace *p);
