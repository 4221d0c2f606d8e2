/*
 * Ranks that a Python program starts out of itself, by multiprocessing or torch.multiprocessing.spawn: neither their
 * environment nor their command line tells their number. It is among the arguments of the function that the new process
 * runs: the index that torch hands out, else an argument called rank or local_rank.
 *
 * What serves its parent (loaders, pools, managers) runs a function of a library, and is no rank.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

enum spawnrank {
	SPAWNRANK_LATER, /* it is not there yet: it still imports, or could not be read just now */
	SPAWNRANK_NONE,  /* it is no such process, or may not be looked into */
	SPAWNRANK_NAMED, /* by an argument's name */
	SPAWNRANK_TORCH, /* by torch's own launcher */
};

/* The main thread's outermost Python frames, read while it runs. *ret from SPAWNRANK_NAMED on. */
enum spawnrank spawnrank_read(const struct world *w, pid_t pid, int32_t *ret);
