/*
 * What ended jobs have left behind is kept for a time and up to a size; what is older goes by itself, as `vigil jobs
 * --forget` would remove it (agent/jobs/forget). Jobs that run stay. Kept output has a limit of its own
 * (agent/jobs/keptoutput) and does not count.
 *
 * A sweep reads every folder of the state directory, so there is one an hour at most: the file "swept" in it was last
 * changed when the last one began, and is locked while one goes on.
 */
#pragma once

#include "agent/jobs/forget.h"
#include "sense/world.h"

#define RETENTION_STAMP "swept"
#define RETENTION_EVERY_MS (INT64_C(3600) * 1000)

struct retention {
	uint64_t most_bytes; /* 0: no limit; UINT64_MAX: a twentieth of the file system, at most 2 GiB */
	uint64_t longest_ns; /* 0: for ever */
};

enum { RETENTION_LATER = 1 }; /* the last sweep was less than an hour ago, or another vigil sweeps */

/* *ret is empty unless 0 is returned. The store is opened in haste, so a reader's lock holds nobody up. */
int must_check retention_sweep(const struct world *w, const char *state_dir, const struct retention *keep,
			       int64_t now_unix_ms, struct forgotten *ret, struct fault *f);

/*
 * Starts a process that sweeps as often as there may be a sweep, and ends with its parent: for a vigil that stays,
 * whose jobs come and go. To be called before this process opens the store, which SQLite does not bear across a fork.
 * -errno.
 */
int must_check retention_stay(const struct world *w, const char *state_dir, const struct retention *keep);
