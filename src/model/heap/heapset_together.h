/*
 * The peak of several processes. The history of each process is not kept, only its own peak and its time of life. At
 * any moment at most the sum of the peaks of the processes alive was held; the largest such sum is taken as the peak.
 * At least the largest single peak was held. A process with an unknown end counts as alive.
 */
#pragma once

#include <stdlib.h>

#include "model/heap/heapset.h"

struct heapset_together {
	bool *in; /* by process: wanted, and alive at that moment; owned */
	size_t n, apart; /* number of processes that are in; number of wanted processes that were not alive */
	size_t ends_unknown; /* number of these with an unknown end */
	double least_bytes; /* the largest peak of one of these */
	bool stepped; /* one of these may have held more than its peak says: it knows it in steps only */
	double short_bytes; /* so much of the peaks is in no stack, in all */
};
int must_check heapset_together(const struct heapset *h, const struct heapset_want *want, struct heapset_together *ret);
static inline void heapset_together_done(struct heapset_together *t)
{
	free(t->in);
}
