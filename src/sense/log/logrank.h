/*
 * The rank that a program's own line says it is of: "[rank 0] step 3", "(rank=1)", "[Rank 1/8]", "[GPU3] Epoch 2" (the
 * number within the node), "rank 1 | step 40", also behind the time, level and name that loggers write before it. What
 * a line tells of another rank ("rank 3 does not answer") is none: without brackets a step, an epoch or the like has
 * to follow, and nothing but a logger's words may stand before it. Pure.
 */
#pragma once

#include "base/text.h"

/* False: it names none. *ret_end: bytes that the name takes at the line's begin; 0 where it is not there alone. */
bool logrank_find(struct span line, uint64_t *ret_rank, bool *ret_local, size_t *ret_end);
