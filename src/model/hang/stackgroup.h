/*
 * Compares the stacks of all ranks with each other (which ranks stand at the same place) and with dumps taken a few
 * seconds earlier (which ranks do not move). Pure; no allocation. Results point into the dumps, which must outlive
 * them.
 *
 * A stack is normalised before it is compared: Python frames by function, file and line, native ones by function
 * without addresses, version suffixes and template arguments. Kernel frames, notes and frames of the C library are
 * left out.
 */
#pragma once

#include "model/hang/activity.h"

#define STACKGROUP_RANKS 65
#define STACKGROUP_GROUPS 65
#define STACKGROUP_DUMPS 4

/* A rank is represented by the main thread of its main process. */
struct stackgroup_rank {
	int32_t rank; /* NO_RANK: a job without ranks */
	const struct dump_process *process; /* in the newest dump */
	const struct dump_thread *main;
	struct activity_found activity; /* of main, or of an autograd thread if main waits for that */
	const struct dump_thread
		*acting; /* the thread that has this activity; of an older dump if between two sleeps */
	size_t group; /* index */
	uint64_t key; /* hash of the normalised stack of acting */
	bool has_stack; /* frames were read; if false, process->note or main->note has the reason */
	bool compared; /* its process is also in the oldest of several dumps */
	bool unchanged; /* the same normalised stack in all dumps */
	bool others_unchanged; /* likewise for its other threads in all its processes, service threads excepted */
	double cores; /* mean processors used between the first and the last dump, its workers included */
	bool idle; /* it used at most 2 % of one processor, or at most 20 ms */
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
	size_t n_dropped; /* ranks left out beyond 65 */
};

/* dumps: at least one, oldest first. */
void stackgroups_make(const struct stackdump *const *dumps, size_t n_dumps, struct stackgroups *ret);
const struct stackgroup_rank *stackgroups_find(const struct stackgroups *g, int32_t rank);
/* "0-2, 5": the ranks of a group. */
void stackgroups_ranks_text(const struct stackgroups *g, size_t group, char *dst, size_t cap);
/* The group's stack, innermost first, one frame a line, at most `lines` lines. */
void stackgroups_stack_text(const struct stackgroups *g, size_t group, size_t lines, char *dst, size_t cap);
/* A worker of Ray, whose main thread is Ray's own; in a job of ranks its role is that of its rank. */
bool stackgroup_of_ray(const struct dump_process *p);
/* Hash of the normalised stack; 0 for a thread without frames that count. */
uint64_t stackgroup_key(const struct dump_thread *t);
