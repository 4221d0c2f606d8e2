/*
 * Which ranks hold up the collectives of a job, by what its ranks asked their library for (model/collective), in this
 * order:
 *
 *  1. Processes that do not answer or are gone.
 *  2. Ranks that called something else under one number: the smaller part of the group is to blame. Where its calls fit
 *     those of the others one number further on, it skipped one, or made one too many. Likewise a send and its receive
 *     that differ.
 *  3. Ranks on which a call has not ended that has ended on the others: their devices stand.
 *  4. Ranks that others wait for and that wait nowhere themselves: they are the start of the chain. Ranks that wait
 *     elsewhere are not to blame.
 *  5. No such rank, but a circle of waits: the order of calls differs.
 *  6. Ranks that gave no dump while all others wait.
 *  7. All ranks in the same call: the cause lies below, in GPU, network or host.
 *
 * Pure. Never names a rank with high confidence when half of the group, or a rank of which nothing is known, could be
 * the one as well.
 */
#pragma once

#include "model/collective/collective.h"

enum {
	COLLECTIVE_NOTHING = 1, /* no rank reported anything; ret->valid is false then */
};

int must_check collective_judge(const struct collective_set *s, struct collective_verdict *ret);
