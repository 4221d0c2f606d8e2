/* What the files of model/collective share. */
#pragma once

#include "model/collective/collective.h"

/* Room for one more; NULL on lack of memory. */
void *collective_more(struct collective_set *s, void *list, size_t *n, size_t *cap, size_t size);
const char *collective_text(struct collective_set *s, const char *text); /* NULL on lack of memory */
/* The index of a rank, made if new; UINT32_MAX on lack of memory. */
uint32_t collective_rank_at(struct collective_set *s, int32_t rank);
/* ranks may be NULL. UINT32_MAX on lack of memory. */
uint32_t collective_group_at(struct collective_set *s, const char *name, const char *desc, const int32_t *ranks,
			     size_t n_ranks);
/* The rank is the in_group-th of n of a group. */
int must_check collective_member(struct collective_set *s, uint32_t group, int32_t rank, int32_t in_group, int32_t n);
collective_bits *collective_bits_new(struct collective_set *s);
void collective_set_bit(collective_bits *b, size_t i);
/* A wait with empty sets; NULL on lack of memory. Valid until the next one. */
struct collective_wait *collective_wait_new(struct collective_set *s, uint32_t group, enum collective_source source);
/* rank stands in the wait since its call number `order`. */
void collective_stands(struct collective_set *s, struct collective_wait *w, uint32_t rank, uint64_t order);
/* calls: one group's sends and receives, sorted. */
int must_check collective_seal_p2p(struct collective_set *s, struct collective_call *calls, size_t n);
int must_check collective_seal_counts(struct collective_set *s);
