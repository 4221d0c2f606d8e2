/*
 * Ranks that a Python program starts out of itself, by multiprocessing or torch.multiprocessing.spawn: neither their
 * environment nor their command line tells their number. It is among the arguments of the function that the new process
 * runs: the index that torch hands out, else an argument called rank or local_rank.
 *
 * What serves its parent (loaders, pools, managers) runs a function of a library, and is no rank. What is made of the
 * answers: model/ownranks.h.
 */
#pragma once

#include "model/ownranks.h"
#include "sense/world.h"

enum spawnrank {
	SPAWNRANK_LATER, /* it is not there yet: it still imports, or could not be read just now */
	SPAWNRANK_OVER,  /* there will be no other answer */
};

/* The main thread's outermost Python frames, read while it runs: half a millisecond or so. */
enum spawnrank spawnrank_read(const struct world *w, pid_t pid, enum ownranks_told *ret_told, int32_t *ret_number);

#define SPAWNRANKS 1024 /* power of two; half of them are used */

/* Who was asked, and what was answered: each is asked once, or some times at growing distances. */
struct spawnranks {
	struct spawnranks_one {
		pid_t pid;
		uint64_t start_ticks;
		uint64_t due_ns;
		uint32_t asked;
		bool over;
		enum ownranks_told told;
		int32_t number;
	} of[SPAWNRANKS];
	size_t n, n_told;
};

struct spawnranks *spawnranks_new(void); /* NULL without memory */
void spawnranks_forget(struct spawnranks *s);
/*
 * Asks, if that is due. first_ns: how long to wait from when it is first seen; 0: at once. true: it has told a number just
 * now. *left counts down with each process that was read; at 0 nobody is.
 */
bool spawnranks_ask(struct spawnranks *s, const struct world *w, pid_t pid, uint64_t start_ticks, uint64_t first_ns,
		    size_t *left);
/* What it has told so far. */
enum ownranks_told spawnranks_told(const struct spawnranks *s, pid_t pid, uint64_t start_ticks, int32_t *ret_number);
