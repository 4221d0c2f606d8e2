/* Internals of model/collective, shared by its files. */
#pragma once

#include "model/collective/collective.h"

/* Makes room for one more item; NULL: out of memory. */
void *collective_more(struct collective_set *s, void *list, size_t *n, size_t *cap, size_t size);
const char *collective_text(struct collective_set *s, const char *text); /* interned copy; NULL: out of memory */
/* The index of a rank, added if new; UINT32_MAX: out of memory. */
uint32_t collective_rank_at(struct collective_set *s, int32_t rank);
/* The index of a group, added if new. ranks may be NULL: unknown. UINT32_MAX: out of memory. */
uint32_t collective_group_at(struct collective_set *s, const char *name, const char *desc, const int32_t *ranks,
			     size_t n_ranks);
/* Records that rank is member in_group of the n members of a group. */
int must_check collective_member(struct collective_set *s, uint32_t group, int32_t rank, int32_t in_group, int32_t n);
collective_bits *collective_bits_new(struct collective_set *s);
void collective_set_bit(collective_bits *b, size_t i);
/* Adds a wait with empty sets; NULL: out of memory. Valid until the next one is added. */
struct collective_wait *collective_wait_new(struct collective_set *s, uint32_t group, enum collective_source source);
/* Records that rank is in the wait since its call number `order`. */
void collective_stands(struct collective_set *s, struct collective_wait *w, uint32_t rank, uint64_t order);
/* Finds the waits among the sends and receives of one group, which are sorted. */
int must_check collective_seal_p2p(struct collective_set *s, struct collective_call *calls, size_t n);
int must_check collective_seal_counts(struct collective_set *s);

/* A range of calls of one group, one number or one pair. */
struct collective_range {
	struct collective_call *calls;
	size_t n;
};

/* The progress of one rank in a group, by call numbers. */
struct collective_front {
	int64_t last; /* highest number it called; -1: none */
	int64_t last_done; /* highest number that ended; -1: none */
	int64_t reported; /* the last number as reported by the rank itself; -2: not reported */
	bool whole; /* its report is of the numbers that are compared here, and agrees with its calls */
	int64_t told_done; /* whole: the last number that ended; -1: none, or not reported */
};

/* True if a call has ended. A stream works in order: every call before an ended one has ended. */
static inline bool collective_ended(const struct collective_call *c, const struct collective_front *f)
{
	return c->done || (int64_t)c->seq < f[c->rank].last_done || (int64_t)c->seq <= f[c->rank].told_done;
}

int collective_text_order(const char *a, const char *b); /* of interned texts, as strcmp() */
/* Records the earliest clash of one group; its calls are sorted. */
int must_check collective_seal_clash(struct collective_set *s, struct collective_range r,
				     const struct collective_front *f);
