/*
 * The peak of several processes. What each held when is not kept, only its own
 * peak and when it lived. So no more was held at any moment than the peaks of
 * those that lived then; the largest such sum is what the peak is taken for,
 * and at least the largest of them was held alone. A process whose end nobody
 * knows counts as if it lived on.
 */
#pragma once

#include <stdlib.h>

#include "model/heap/heapset.h"

struct heapset_together {
	bool *in; /* malloc'ed; of each process whether it is wanted and lived at that moment */
	size_t n, apart; /* so many are in; so many are wanted and were not there then */
	size_t ends_unknown; /* of those in */
	double least_bytes; /* the largest peak of one of them */
	bool stepped; /* one of them may have held some more than its peak says */
};
int must_check heapset_together(const struct heapset *h, const struct heapset_want *want, struct heapset_together *ret);
static inline void heapset_together_done(struct heapset_together *t)
{
	free(t->in);
}
