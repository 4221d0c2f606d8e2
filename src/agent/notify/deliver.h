/*
 * Delivers the notices in the spool. Each channel with a due notice has a child process of its own, so that one dead
 * server delays no other channel. Ends when nothing waits or its time is over; the rest stays in the spool for the next
 * run.
 */
#pragma once

#include "model/notify/channel.h"
#include "tell/notify/spool.h"

struct deliver_how {
	uint64_t lifetime_ns;
	bool once; /* try each channel exactly once, now, even if it rests */
};

struct deliver_count {
	size_t delivered, left,
		unknown; /* messages sent; notices that still wait; notices of channels that are not configured */
};

/* Blocks until delivery ends. SPOOL_BUSY: another process delivers. */
int must_check deliver_run(const struct channels *all, const char *state_dir, const struct deliver_how *how,
			   struct deliver_count *ret);
