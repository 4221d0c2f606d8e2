/*
 * The calls of ranks to their collective library, gathered from Flight Recorder dumps, NCCL's RAS and the rings of
 * the profiler plugin, in one form: calls that were made, and waits. A wait is a call that some ranks are in while
 * other ranks did not make it: "all_reduce number 41 of group default: ranks 0 to 2 are in it, rank 3 is not".
 * judge/collective searches for the start of that chain.
 *
 * Ranks are those of the job. Every input may be missing or incomplete: a rank without data is reported as unknown,
 * never guessed. Pure; owns copies of all texts; allocates.
 */
#pragma once

#include "base/arena.h"
#include "model/collective/collective_verdict.h"
#include "sense/collective/flightrec.h"
#include "sense/collective/ncclras.h"
#include "sense/collective/ncclring.h"

enum collective_source { COLLECTIVE_FLIGHTREC = 1, COLLECTIVE_RAS = 2, COLLECTIVE_RING = 4 };

/* One bit for each rank of a set, by its index; 64 in a word. */
typedef uint64_t collective_bits;

struct collective_rank {
	int32_t rank;
	uint32_t sources; /* bits of enum collective_source: the sources with data of it; 0: none */
	char why[200]; /* reason if sources is 0 or the dump is damaged: "no dump: …" */
	bool is_cut; /* its dump is incomplete: the latest calls are lost */
	bool is_wrapped; /* its oldest calls are not there: the ring is full, or calls that ended were left out */
	bool is_dead; /* RAS: it does not answer, or is considered dead */
	uint32_t head; /* the wait that it has been in for the longest time; COLLECTIVE_NO_WAIT */
	uint64_t head_order;
};
#define COLLECTIVE_NO_WAIT UINT32_MAX

struct collective_group {
	const char *name; /* "0", or the number of a communicator */
	const char *desc; /* "default_pg"; equals name if there is none */
	collective_bits *members; /* NULL: not sealed yet, or unknown */
	int32_t *ranks; /* members in group order; NULL: unknown */
	size_t n_ranks;
	collective_bits *finished, *running, *starting, *absent; /* RAS: members in this state; NULL: none */
	bool seq_per_op; /* its call numbers count each operation separately */
	bool has_pairs; /* there are sends and receives in it, which have numbers of their own */
};

/* A call of one rank. Texts are interned: equal ones have the same address. */
struct collective_call {
	uint32_t group;
	uint32_t rank; /* index in ranks */
	const char *op;
	uint64_t seq; /* number in its group; p2p: only orders the calls of a pair */
	bool is_p2p, sends;
	int32_t peer_in_group; /* p2p: the rank of the peer in the group */
	uint32_t peer; /* p2p: index of the peer; set when sealed */
	bool done;
	bool in_batch; /* part of a batch, without a number of its own */
	uint32_t part; /* in_batch: its place, counted from the end of the batch, from 1; else 0 */
	bool has_in, has_out;
	uint64_t in_elements, out_elements;
	const char *in_sizes, *out_sizes, *in_dtypes, *out_dtypes;
	const char *where; /* "train.py:40 (step)" */
	int64_t created_ns;
	uint64_t order; /* order within its rank */
	bool by_op; /* call numbers of its group count each operation separately; set when sealed */
};

struct collective_wait {
	uint32_t group;
	bool is_p2p;
	uint32_t from, to; /* p2p: indexes of the sending and the receiving rank */
	bool send_waits; /* p2p: the send was made, the receive was not */
	const char *op;
	uint64_t seq;
	bool by_count; /* known from counters only (RAS) */
	collective_bits *waiting; /* ranks that are in the call */
	collective_bits *missing; /* ranks that are known not to be in it */
	collective_bits *unknown; /* members without data */
	collective_bits *ended; /* ranks on which this very call has ended */
	bool passed; /* one of those has made a later call of the group */
	const struct collective_call *other; /* p2p: the call of the other side, which waits as well; or NULL */
	const struct collective_call *call; /* the call of one waiting rank; NULL if by_count */
	int64_t since_ns; /* creation of the oldest call that waits, unix ns; 0: unknown */
	enum collective_source source;
};

/* One call number of a group for which members made different calls, or different parts of one batch. */
struct collective_clash {
	uint32_t group;
	size_t first, n; /* calls [first, first + n) of the set */
	bool done; /* the calls ended in spite of it */
	bool minor; /* done, and only sizes or types differ: what came out is not defined, and nothing waits for it */
};

struct collective_table; /* collective.c */

struct collective_set {
	struct collective_rank *ranks; /* in order of first appearance */
	size_t n_ranks, cap_ranks;
	struct collective_group *groups;
	size_t n_groups, cap_groups;
	struct collective_call *calls; /* once sealed: by group, kind, number, rank */
	size_t n_calls, cap_calls;
	struct collective_wait *waits;
	size_t n_waits, cap_waits;
	struct collective_clash *clashes; /* the earliest clash of each group */
	size_t n_clashes, cap_clashes;
	bool frozen; /* two RAS reports, taken some time apart, have the same counters */
	bool has_frozen; /* there were two RAS reports */
	bool sealed;
	size_t n_dropped; /* calls or members that could not be placed */
	char ras_source[128]; /* "127.0.0.1:28028, NCCL 2.28.9" */
	struct arena arena;
	struct collective_last *lasts;
	size_t n_lasts, cap_lasts;
	struct collective_table *texts, *rank_at; /* interned texts; rank to index */
	struct collective_count *counts;
	size_t n_counts, cap_counts;
};

/* The last numbers that a rank itself reports for a group: asked for, and ended. -1: none. */
struct collective_last {
	uint32_t group, rank;
	int64_t seq, done;
};

/* RAS: one member of one communicator. */
enum collective_state { COLLECTIVE_RUNNING, COLLECTIVE_STARTING, COLLECTIVE_FINISHED, COLLECTIVE_ABSENT };
struct collective_count {
	uint32_t group, rank;
	enum collective_state state;
	bool has_counts;
	uint64_t n[NCCLRAS_OPS];
};

struct collective_set *collective_new(void);
struct collective_set *collective_free(struct collective_set *s);
static inline void collective_freep(struct collective_set **s)
{
	collective_free(*s);
}

/* A process and its rank in the job; gives the job rank of a member of a communicator. */
struct collective_place {
	int32_t rank;
	int64_t pid; /* in the pid namespace that the source uses */
	char host[64]; /* "": any */
};

/* All add functions return 0 or -ENOMEM. Add everything, then seal, then judge. */
int must_check collective_add_flightrec(struct collective_set *s, int32_t rank, const struct flightrec *r);
/* Adds a rank without data, and the reason. */
int must_check collective_add_absent(struct collective_set *s, int32_t rank, const char *why);
/*
 * before: the previous report, or NULL. places may be NULL: the ranks of the largest communicator count as those of
 * the job.
 */
int must_check collective_add_ras(struct collective_set *s, const struct ncclras_report *now,
				  const struct ncclras_report *before, const struct collective_place *places,
				  size_t n_places);
int must_check collective_add_ring(struct collective_set *s, int32_t rank, const struct ncclring *r);
/* Finds clashes and waits. */
int must_check collective_seal(struct collective_set *s);

bool collective_has(const collective_bits *b, size_t i); /* false for NULL */
size_t collective_count_bits(const struct collective_set *s, const collective_bits *b);
/* True if two calls cannot both be right at one number of one group. *ret_what: "operation", "data type", "size". */
bool collective_clashes(const struct collective_call *a, const struct collective_call *b, const char **ret_what);
/* The same of a send and the receive that it waits for. */
bool collective_pair_clashes(const struct collective_call *a, const struct collective_call *b, const char **ret_what);
/* True if what such a call gives to any rank takes part of all: none can end before all have begun. */
bool collective_needs_all(const char *op);
/* True if a call cannot be right by itself: an all_reduce gives back as much as it took. */
bool collective_is_odd(const struct collective_call *c);
