/*
 * What ranks asked their collective library for, gathered from Flight Recorder
 * dumps, NCCL's RAS and the profiler plugin's rings, brought into one shape:
 * calls that were made, and waits. A wait is a call that some ranks stand in
 * because others did not come: "all_reduce number 41 of group default: ranks
 * 0 to 2 are in it, rank 3 is not". judge/collective looks for the beginning
 * of that chain.
 *
 * Ranks are those of the job. Every input may be missing or incomplete: a rank
 * of which nothing is known is said to be so, never guessed. Pure; owns copies
 * of all texts; allocates.
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
	uint32_t sources; /* enum collective_source: who tells of it; 0: nobody does */
	char why[200]; /* sources 0, or damaged: "no dump: …" */
	bool is_cut; /* its dump is not whole: the latest calls are lost */
	bool is_wrapped; /* of its ring the oldest are */
	bool is_dead; /* RAS: does not answer, or considered dead */
	uint32_t head; /* the wait in which it has stood longest; COLLECTIVE_NO_WAIT */
	uint64_t head_order;
};
#define COLLECTIVE_NO_WAIT UINT32_MAX

struct collective_group {
	const char *name; /* "0", or the number of a communicator */
	const char *desc; /* "default_pg"; name when there is none */
	collective_bits *members; /* NULL until sealed or unknown */
	int32_t *ranks; /* members in their order; NULL unknown */
	size_t n_ranks;
	collective_bits *finished, *running, *starting, *absent; /* RAS: members in this state; NULL none */
	bool seq_per_op; /* its numbers count each operation by itself */
};

/* As made by one rank. Texts are interned: equal ones have one address. */
struct collective_call {
	uint32_t group;
	uint32_t rank; /* index */
	const char *op;
	uint64_t seq; /* of its group; of p2p: of its pair, in order, no more */
	bool is_p2p, sends;
	int32_t peer_in_group; /* p2p: the other one, as the group numbers it */
	uint32_t peer; /* p2p: its index; set when sealed */
	bool done;
	bool in_batch; /* part of a batch: not counted by itself */
	bool has_in, has_out;
	uint64_t in_elements, out_elements;
	const char *in_sizes, *out_sizes, *in_dtypes, *out_dtypes;
	const char *where; /* "train.py:40 (step)" */
	int64_t created_ns;
	uint64_t order; /* within its rank */
	bool by_op; /* numbers of its group count each operation by itself; set when sealed */
};

struct collective_wait {
	uint32_t group;
	bool is_p2p;
	uint32_t from, to; /* p2p: the send is from's, indexes */
	bool send_waits; /* p2p: the send is there, the receive is not */
	const char *op;
	uint64_t seq;
	bool by_count; /* known from counters only (RAS) */
	collective_bits *waiting; /* are in it */
	collective_bits *missing; /* are known not to be */
	collective_bits *unknown; /* members of which nothing is known */
	const struct collective_call *call; /* of one who waits; NULL when by_count */
	int64_t since_ns; /* unix; 0 unknown: the oldest call of those who wait */
	enum collective_source source;
};

/* One number of a group at which members called different things. Calls [first, first + n) of the set. */
struct collective_clash {
	uint32_t group;
	size_t first, n;
	bool done; /* it ended nevertheless */
};

struct collective_table; /* collective.c */

struct collective_set {
	struct collective_rank *ranks; /* in the order of their coming */
	size_t n_ranks, cap_ranks;
	struct collective_group *groups;
	size_t n_groups, cap_groups;
	struct collective_call *calls; /* sealed: by group, kind, number, rank */
	size_t n_calls, cap_calls;
	struct collective_wait *waits;
	size_t n_waits, cap_waits;
	struct collective_clash *clashes; /* earliest of each group */
	size_t n_clashes, cap_clashes;
	bool frozen; /* two looks, some time apart, saw the same counters */
	bool has_frozen; /* there were two */
	bool sealed;
	size_t n_dropped; /* calls or groups that were too many */
	char ras_source[128]; /* "127.0.0.1:28028, NCCL 2.28.9" */
	struct arena arena;
	struct collective_last *lasts;
	size_t n_lasts, cap_lasts;
	struct collective_table *texts, *rank_at; /* interned texts; indexes of ranks */
	struct collective_count *counts;
	size_t n_counts, cap_counts;
};

/* What a rank says of itself: the last number that it gave out in a group. -1: none. */
struct collective_last {
	uint32_t group, rank;
	int64_t seq;
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

/* Where to find the global rank of a communicator's member: by process. */
struct collective_place {
	int32_t rank;
	int64_t pid; /* in the numbering the source uses */
	char host[64]; /* "" any */
};

/* All add functions: 0 or -ENOMEM. Add everything, then seal, then judge. */
int must_check collective_add_flightrec(struct collective_set *s, int32_t rank, const struct flightrec *r);
/* A rank that should have given something and did not, and why. */
int must_check collective_add_absent(struct collective_set *s, int32_t rank, const char *why);
/* before: the look before this one, or NULL; places may be NULL: the ranks of the largest communicator then. */
int must_check collective_add_ras(struct collective_set *s, const struct ncclras_report *now,
				  const struct ncclras_report *before, const struct collective_place *places,
				  size_t n_places);
int must_check collective_add_ring(struct collective_set *s, int32_t rank, const struct ncclring *r);
/* Work out clashes and waits. */
int must_check collective_seal(struct collective_set *s);

bool collective_has(const collective_bits *b, size_t i); /* false of NULL */
size_t collective_count_bits(const struct collective_set *s, const collective_bits *b);
/* Calls that cannot both be right at one number of one group. what: "operation", "data type", "size". */
bool collective_clashes(const struct collective_call *a, const struct collective_call *b, const char **ret_what);
