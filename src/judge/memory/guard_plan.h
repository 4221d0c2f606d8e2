/*
 * Two decisions on the way to a kill: whether the victim is asked first, and whether a frozen victim can wait. Pure and
 * without allocation: this is the guard's path.
 */
#pragma once

#include "judge/memory/guard.h"

/*
 * True when there is time to end the victim with SIGTERM first: a grace period is set (grace_ns; 0: never ask), the
 * level is over its threshold but not in an emergency, and at the steady rate more than two grace periods are left. A
 * level that does not fill leaves any time. The worst rate decides when to act, and what is an emergency, not this: a
 * program that allocates in steps would never be asked.
 */
bool guard_plan_ask_first(uint64_t grace_ns, const struct guard_step *step);

/*
 * True when the level goes on filling although the victims stand still: more is in use than at the first call, beyond
 * noise (a sixteenth of the headroom above the threshold, at least 1 MiB), or less than 2 MiB are left. Then there is
 * no time to read what the victims were doing. used_frozen_bytes: 0 before the first call, which stores what is in use
 * then.
 */
bool guard_plan_still_filling(const struct ledger_level *level, uint64_t threshold_bytes, uint64_t *used_frozen_bytes);
