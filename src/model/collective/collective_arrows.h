/*
 * Who waits for whom by the collective library's own account: an arrow from each rank to those that have not come to
 * the call which it has been in for the longest time. For the graph of waits (model/hang/waitmissing), which says what
 * those ranks do instead. Plain data without pointers, so that it can be kept in shared memory.
 */
#pragma once

#include "model/collective/collective.h"

/* All pairs of 64 ranks; of a larger job the first ones. */
#define COLLECTIVE_ARROWS 4032

struct collective_arrow {
	int32_t from, to; /* ranks of the job */
	char call[64]; /* "all_reduce number 41 of group dp"; of a pair "send" */
};

/*
 * Of a set that is sealed. Members of which nothing is known have none, nor do counters of RAS that may still move.
 * Returns their number, at most cap. Pure.
 */
size_t collective_arrows(const struct collective_set *s, struct collective_arrow *dst, size_t cap);
