/*
 * Ranks that a program starts with their number as an option (model/jobs/role.h reads it), if it waits for their end,
 * and those that a Python program starts by multiprocessing or torch.multiprocessing.spawn. Of these neither the
 * environment nor the command line has the number. It is among the arguments of the function that the new process runs:
 * the index that torch passes, else an argument called rank or local_rank, else the variable RANK that the function has
 * set.
 *
 * Where the parent does other work than to wait, as one that adds up for its ranks does, and for a child of fork(2),
 * the variables RANK and WORLD_SIZE count that the child has set itself.
 *
 * Where the arguments have other names, they are compared over all siblings: a number from 0 to n - 1 beside n.
 *
 * Programs that one process has started side by side have their numbers in arguments or variables of any name
 * (agent/inspect/siblingrank.h).
 *
 * A process that serves its parent (a loader, pool or manager) runs a function of a library and is no rank. The child
 * of a program that does more than wait for its children (an actor of a learner) is none either. model/jobs/ownranks.h
 * decides what follows from the answers. Workers of Ray Train are asked by way of their log
 * (sense/framework/rayworker.h).
 */
#pragma once

#include "model/jobs/ownranks.h"
#include "sense/world.h"

#define SPAWNRANKS 1024 /* power of two; at most half of them are used */

#define SPAWNRANK_PARENTS 16

/* The function that a process runs and the numbers it was called with: "train", "--id=2", "--of=4", NUL between. */
struct spawnrank_target {
	char text[96];
	size_t len;
};

/* Processes that were asked and their answers. Each is asked once, or a few times at growing intervals. */
struct spawnranks {
	struct spawnranks_one {
		pid_t pid;
		uint64_t start_ticks;
		uint64_t due_ns;
		uint32_t asked;
		bool over;
		enum ownranks_source told;
		int32_t number, local, world;
		struct spawnrank_target target; /* empty: it was not read, or nothing has to be compared */
	} of[SPAWNRANKS];
	size_t n, n_told;
	/* Processes whose children are compared with each other; the one that is due first makes room. */
	struct spawnranks_parent {
		pid_t pid;
		uint64_t start_ticks;
		uint64_t due_ns;
		uint32_t asked;
	} parents[SPAWNRANK_PARENTS];
};

struct spawnranks *spawnranks_new(void); /* NULL: no memory */
void spawnranks_forget(struct spawnranks *s);
/*
 * p: all processes of a job, by pid. Asks at most `most` of those that may be ranks of their parent and were first seen
 * at least first_ns ago. Then names all processes, if one has reported a number or `others` says that the list has
 * changed. True: p has the names.
 */
bool spawnranks_update(struct spawnranks *s, const struct world *w, struct ownranks_process *p, size_t n,
		       uint64_t first_ns, size_t most, bool others);
