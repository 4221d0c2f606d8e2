#include "judge/memory/guard_plan.h"

#include "base/units.h"

bool guard_plan_ask_first(uint64_t grace_ns, const struct guard_step *step)
{
	return grace_ns > 0 && step->state == GUARD_ACT && step->steady_time_ns > 2 * grace_ns;
}

bool guard_plan_still_filling(const struct ledger_level *level, uint64_t threshold_bytes, uint64_t *used_frozen_bytes)
{
	if (*used_frozen_bytes == 0)
		*used_frozen_bytes = level->used_bytes;
	uint64_t noise = MAX(MIB, sub_floor(level->total_bytes, threshold_bytes) / 16);
	return level->available_bytes < 2 * MIB || level->used_bytes > *used_frozen_bytes + noise;
}
