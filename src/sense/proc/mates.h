/*
 * Processes that have the same memory, as clone(2) makes them with CLONE_VM: each wakes who waits in there, as a thread
 * would. The kernel is asked (sense/proc/kcmp), which orders memories, so that thousands of processes are sorted and
 * not compared in pairs. Where it may not be asked a fork is told from its original by the pages that it has.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

struct mates_process {
	pid_t pid, ppid;
	uint64_t size_bytes; /* of its address space; of the same memory the same, but for the time of reading */
	pid_t mate[8]; /* processes that have the same memory; further ones are not told */
	size_t n_mates;
	bool unknown; /* another one may have the same memory, and the kernel may not be asked */
};

/* Fills in what the last three say. p: by pid. -ENOMEM. */
int must_check mates_read(const struct world *w, struct mates_process *p, size_t n);
