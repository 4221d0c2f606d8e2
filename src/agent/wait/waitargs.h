/*
 * Ranks that all stand at one place, of which one has called it with another text than all others: a key of a store
 * with another number of a try in it, say, so that they wait for each other for ever. Of ranks whose main threads
 * wait in the same lines of Python, the arguments of the innermost calls are compared. It names and proves nothing by
 * itself, as ranks may be called with different texts by design.
 */
#pragma once

#include "model/hang/waitgraph.h"
#include "model/hang/waithint.h"
#include "sense/wait/waitfacts.h"
#include "sense/world.h"

#define WAITARGS_MOST 32 /* of a rank */
#define WAITARGS_VALUE 160 /* longer texts are not compared */

struct waitarg {
	char place[96]; /* "all_reduce at store.py:53" */
	char name[40];
	char value[WAITARGS_VALUE]; /* a text as Python writes it; of root a number; "": something else, too long */
	bool root; /* whose data a collective of a library is about, which has to be the same in all ranks */
};

struct waitargs_rank {
	pid_t pid;
	int32_t rank;
	struct waitarg *arg; /* innermost call first */
	size_t n;
};

/*
 * The argument that one rank has otherwise than all others, which have the same: *ret_rank is its place in `rank`,
 * *ret_arg that of the argument. True if there is one, and each such argument is of this rank. *ret_by_number: the
 * texts differ in their numbers alone. Pure.
 */
bool waitargs_odd(const struct waitargs_rank *rank, size_t n, size_t *ret_rank, size_t *ret_arg, bool *ret_by_number);
/*
 * Of two ranks nobody is the odd one, but one may be behind: the texts differ in a number alone, which is the smaller
 * one here. Each such argument has to say so of the same rank. Where the number differs as the ranks' numbers do, it
 * may be theirs, or that of a part that each has of its own, and nothing is said. Pure.
 */
bool waitargs_behind(const struct waitargs_rank rank[2], size_t *ret_rank, size_t *ret_arg);
/*
 * The first root in which ranks differ that stand in one call, at whatever line of it: of *ret_rank, and of others.
 * *ret_alone: it is the only one of three or more that differs from all others, which agree; else all differ. Pure.
 */
bool waitargs_roots(const struct waitargs_rank *rank, size_t n, const struct waitarg **ret_one,
		    const struct waitarg **ret_other, size_t *ret_rank, bool *ret_alone);
/*
 * Adds a hint to an array that base/vec.h lets grow, if there is such a rank. Nothing is stopped; secrets are masked.
 * What the time until until_ns does not suffice for is left out. -ENOMEM.
 */
int must_check waitargs_read(const struct world *w, const struct waitfacts *facts, const struct waitgraph_who *who,
			     size_t n_who, uint64_t until_ns, struct waithint **hint, size_t *n_hints,
			     size_t *cap_hints);
