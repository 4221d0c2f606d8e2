/*
 * When the guard must act: from successive ledgers to a state, a deficit and the time of the next read. Pure: no clock
 * (the ledger carries its time), no allocation, no system call. This is the guard's path.
 *
 * A level is over its threshold when used > max(total * ratio, total - min_free), which is Ray's rule. The guard acts
 * earlier, by at most one more headroom, when memory fills so fast that the limit would be reached within its own
 * reaction time.
 */
#pragma once

#include "base/base.h"
#include "model/memory/ledger.h"

struct guard_settings {
	double threshold_ratio; /* 0: the guard is off */
	bool has_min_free;
	uint64_t min_free_bytes;
	double warn_ratio; /* an early warning above this share (judge/memory/warning); 0: none */
	uint64_t reaction_ns; /* from a crossing to a frozen victim, on this machine */
	uint64_t fastest_bytes_per_s; /* the fastest expected fill: it bounds the time between two reads */
	uint64_t grace_ns; /* SIGTERM first when at least this much time remains; 0: never */
};

enum guard_state {
	GUARD_OK,
	GUARD_WARN, /* near the threshold: candidates are kept ready */
	GUARD_ACT, /* over the threshold */
	GUARD_EMERGENCY, /* the limit is about to be reached: nothing is asked first */
};

#define GUARD_POINTS 64

#define GUARD_PAST 24

struct guard_point {
	uint64_t mono_ns;
	uint64_t used_bytes[LEDGER_MAX_LEVELS];
};

/* Points kept between calls. Zeroed by its owner at start. */
struct guard_history {
	struct guard_point point[GUARD_POINTS];
	size_t head, n;
	/* Near a limit GUARD_POINTS reads span 64 ms only: a point every 125 ms, for the steady rate. */
	struct guard_point past[GUARD_PAST];
	size_t past_head, past_n;
};

struct guard_step {
	enum guard_state state;
	size_t level; /* index into the ledger's levels: the level that decided */
	uint64_t threshold_bytes; /* used bytes above which that level acts */
	uint64_t deficit_bytes; /* bytes to free, buffer included; 0: none */
	uint64_t rate_bytes_per_s; /* how fast that level fills; 0: it does not */
	uint64_t time_to_limit_ns; /* UINT64_MAX: it is not filling */
	/*
	 * The rate over the last 2 s, or the last one where that is less, and the time left at that rate. The rate
	 * above is the worst of several, and decides when to act: one allocation is a rate to it. This one says how
	 * much time there really is.
	 */
	uint64_t steady_bytes_per_s;
	uint64_t steady_time_ns; /* UINT64_MAX: it does not fill */
	bool early; /* below the threshold, but about to hit the limit */
	uint64_t next_ns; /* time until the next read */
};

/* The threshold of a level of this size, in used bytes. */
uint64_t guard_threshold(const struct guard_settings *s, uint64_t total_bytes);
/* covered: one bit per level; an event wakes the guard before that level reaches its threshold, so it need not poll. */
void guard_judge(struct guard_history *m, const struct guard_settings *s, const struct ledger *now, uint32_t covered,
		 struct guard_step *ret);
