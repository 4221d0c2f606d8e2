/*
 * Delivers what waits in the spool: a child process for each channel that has
 * something due, so that one dead server holds up no other. Ends when nothing
 * waits, or when its time is over; the rest stays for the next one.
 */
#pragma once

#include "model/notify/channel.h"
#include "tell/notify/spool.h"

struct deliver_how {
	uint64_t lifetime_ns;
	bool once; /* each channel is tried now, whatever it rests for, and not again */
};

struct deliver_count {
	size_t delivered, left,
		unknown; /* messages; notices that still wait; those for channels that are not configured */
};

/* SPOOL_BUSY: another process does it. */
int must_check deliver_run(const struct channels *all, const char *state_dir, const struct deliver_how *how,
			   struct deliver_count *ret);
