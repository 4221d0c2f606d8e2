/*
 * The ranks that have not come to a call in which ranks meet, such as a collective, the barrier of a store or its
 * start: as hints for the graph, an arrow from each rank that waits in one to each that is elsewhere.
 *
 * Who is in a call is known by stacks (agent/wait/waitcalls), by keys of a store, and by the collective library itself
 * (model/collective/collective_arrows), which knows the members of a call as well: of a rank that may be in one by its
 * stack its arrows alone count, whether it runs or not. A rank is elsewhere only where
 * something says so: its whole stack, or a wait that no such call makes, as a sleep, a lock of Python's or a child's
 * end. One of which neither is known may be in the call as well. Which ranks a collective is of is not seen, so of
 * several ranks that are elsewhere, or beside one of which nothing is known, each is only possible. Nothing is proved
 * by it.
 */
#pragma once

#include "model/collective/collective_arrows.h"
#include "model/hang/waitgraph.h"

#define WAITCALL_OP 48
#define WAITCALL_PLACE 120

enum waitcall_state {
	/* It may be in a call: an asynchronous one, one of two ranks, or one that the stack does not show. */
	WAITCALL_UNKNOWN,
	WAITCALL_IN, /* its main thread waits in a call to which all ranks of a group come */
	WAITCALL_BACKWARD, /* its main thread waits in backward(), which may reduce gradients; by Python alone */
	WAITCALL_STORE, /* its main thread waits for a store, or is about to be in such a call */
	WAITCALL_PLACED, /* no more than where it stands is said of it */
	WAITCALL_OUT, /* the whole stacks of its threads show no such call */
};

/* What the stacks of a rank's main process say. */
struct waitcall {
	pid_t pid;
	enum waitcall_state state;
	char op[WAITCALL_OP]; /* "all_reduce"; "": none */
	char place[WAITCALL_PLACE]; /* "train.py:40 in step", of the main thread; "": unknown, or told by other hints */
};

struct waitmissing_in {
	const struct waitfacts *facts;
	const struct waitgraph_who *who;
	size_t n_who;
	const struct waitcall *call;
	size_t n_calls;
	const struct collective_arrow *arrow; /* by the library's own counters */
	size_t n_arrows;
	bool counters_alone; /* they count where no stack is known as well: native ones were not read */
};

/*
 * Adds hints of WAITHINT_RANK, of WAITHINT_KEY by those that have by_last, of WAITHINT_PLACE where calls have one, and
 * of WAITHINT_MEETS for ranks in a call of which nobody is known to be missing. Pure. -ENOMEM.
 */
int must_check waitmissing_add(const struct waitmissing_in *in, struct waithint **hint, size_t *n_hints,
			       size_t *cap_hints);
