/*
 * The stacks of all ranks compared: with each other (who stands where) and
 * with themselves a few seconds later (who does not move). Pure; no
 * allocation; what it holds points into the dumps, which must outlive it.
 *
 * A stack is normalised before it is compared: Python frames by function and
 * line, native ones by function without addresses, version suffixes and
 * template arguments; wrappers and frames inside libc are left out.
 */
#pragma once

#include "model/hang/activity.h"

#define STACKGROUP_RANKS 65
#define STACKGROUP_GROUPS 65
#define STACKGROUP_DUMPS 4

/* The thread that stands for a rank: the main thread of its main process. */
struct stackgroup_rank {
	int32_t rank; /* NO_RANK: a job without ranks */
	const struct dump_process *process; /* in the newest dump */
	const struct dump_thread *main;
	struct activity_found activity; /* of main, or of its autograd thread if main waits for that */
	const struct dump_thread *acting; /* the thread that `activity` is of */
	size_t group; /* index */
	uint64_t key; /* of the normalised stack */
	bool has_stack; /* frames were read; else process->note or main->note says why not */
	bool compared; /* it is in two dumps or more */
	bool unchanged; /* the same normalised stack in all of them */
	bool others_unchanged; /* and so are all its other threads but service threads, in all its processes */
	double cores; /* processor time that it used between the first and the last, its workers included */
	bool idle; /* next to none */
};

struct stackgroup_group {
	uint64_t key;
	size_t n; /* ranks in it */
	size_t first; /* index of its first rank */
	enum activity activity;
};

struct stackgroups {
	struct stackgroup_rank rank[STACKGROUP_RANKS];
	size_t n;
	struct stackgroup_group group[STACKGROUP_GROUPS]; /* largest first */
	size_t n_groups;
	size_t n_waiting; /* ranks that wait for other ranks */
	size_t n_dropped; /* ranks beyond what is kept */
};

/* dumps: oldest first. At least one. */
void stackgroups_make(const struct stackdump *const *dumps, size_t n_dumps, struct stackgroups *ret);
const struct stackgroup_rank *stackgroups_find(const struct stackgroups *g, int32_t rank);
/* "0-2, 5": the ranks of a group. */
void stackgroups_ranks_text(const struct stackgroups *g, size_t group, char *dst, size_t cap);
/* The group's stack, innermost first, one frame a line, at most lines of them. */
void stackgroups_stack_text(const struct stackgroups *g, size_t group, size_t lines, char *dst, size_t cap);
/* Of the normalised stack; 0 for a thread without frames. */
uint64_t stackgroup_key(const struct dump_thread *t);
