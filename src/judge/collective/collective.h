/*
 * Who holds up the collectives of a job? Out of what its ranks asked their
 * library for (model/collective), in this order:
 *
 *  1. Processes that do not answer or are gone.
 *  2. Ranks that called something else under one number: the smaller part of
 *     the group is to blame; where their calls fit those of the others one
 *     number further on, they skipped one, or made one too many.
 *  3. Ranks that others wait for and that wait nowhere themselves: the begin
 *     of the chain. Those who wait elsewhere are excused by it.
 *  4. Nobody like that, but a circle of waits: an order that differs.
 *  5. Ranks that gave no dump while all others wait.
 *  6. All in the same call: the cause lies below, in GPU, network or host.
 *
 * Pure. Never names a rank with high confidence when half of the group, or a
 * rank of which nothing is known, could as well be meant.
 */
#pragma once

#include "model/collective/collective.h"

enum {
	COLLECTIVE_NOTHING = 1, /* nothing to judge: no rank told anything; ret->valid is false then */
};

int must_check collective_judge(const struct collective_set *s, struct collective_verdict *ret);
