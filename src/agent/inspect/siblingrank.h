/*
 * Reads what the programs that one process has started were started with, and whether these are ranks by their numbers
 * (model/jobs/siblings.h). A fork has its parent's arguments and variables, so it has none. The parent is a shell,
 * or it waits for a child or naps when it is looked at; one that does other work has helpers.
 */
#pragma once

#include "model/jobs/ownranks.h"
#include "model/jobs/siblings.h"
#include "sense/world.h"

/* Children of one process; the texts are the caller's. */
struct siblingrank_list {
	size_t n;
	const struct world *w; /* to look whether they are linked (agent/inspect/siblinglinks); NULL: they are not */
	pid_t parent;
	struct siblingrank_one {
		size_t at; /* the caller's own */
		pid_t pid;
		bool forked;
		uint64_t shape;
		struct siblings_one text;
		int32_t number, world; /* once found: its number, and of how many; world is 0 otherwise */
	} of[SIBLINGS_MOST];
};

/* False: it is full, and nothing can be said. p NULL: of no process. */
bool siblingrank_add(struct siblingrank_list *l, size_t at, const struct ownranks_process *p, struct span arguments);
/* Numbers each group of one shape. above: the parent's environment. True: at least two have a number. */
bool siblingrank_number(struct siblingrank_list *l, struct span above);

/* True if p may be one of them; parent: its parent. */
bool siblingrank_may_be(const struct ownranks_process *p, const struct ownranks_process *parent);
/*
 * p: all processes of a job, sorted by pid. Sets ret_world[i] and ret_number[i] of each child of `parent` that has a
 * number, ret_world[i] to 0 of all others. True: at least two have. Two files of each child are read.
 */
bool siblingrank_read(const struct world *w, const struct ownranks_process *p, size_t n,
		      const struct ownranks_process *parent, int32_t *ret_number, int32_t *ret_world);
