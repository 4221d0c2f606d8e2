/*
 * Ranks that a Python program starts out of itself, by multiprocessing or torch.multiprocessing.spawn: neither their
 * environment nor their command line tells their number. It is among the arguments of the function that the new process
 * runs: the index that torch hands out, else an argument called rank or local_rank.
 *
 * What serves its parent (loaders, pools, managers) runs a function of a library, and is no rank; nor is the child of a
 * program that does more than wait for its children (an actor of a learner). What is made of the
 * answers: model/jobs/ownranks.h.
 */
#pragma once

#include "model/jobs/ownranks.h"
#include "sense/world.h"

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
 * All processes of a job, by pid: those that may be ranks of their parent and are old enough (first_ns since first seen here) are
 * asked, `most` of them now; then all are named, if one has told a number or `others` says that the list is another one.
 * true: p holds who they are.
 */
bool spawnranks_look(struct spawnranks *s, const struct world *w, struct ownranks_process *p, size_t n, uint64_t first_ns,
		     size_t most, bool others);
