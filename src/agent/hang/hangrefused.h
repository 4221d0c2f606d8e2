/*
 * Which addresses the processes of suspected jobs try to reach in vain (sense/net/refused): counted while any job is
 * suspected. Without the right to load the BPF program nothing is told, and all else goes on.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "judge/standstill/hang_case.h"

struct hangrefused;

/* NULL without memory. w is borrowed. It lives as long as the watcher. */
struct hangrefused *hangrefused_new(const struct world *w);
/*
 * Counts from now on if a job is suspected, else no more. stirs: a suspected one runs now and then, so that it could
 * try anything; only then counting begins. To be called often: costs nothing where nothing changes.
 */
void hangrefused_step(struct hangrefused *h, bool suspected, bool stirs);
/* What processes of this job, and children of theirs that have ended, have tried; the most often tried first. */
size_t hangrefused_take(struct hangrefused *h, const struct hangprocs *procs, struct hang_refused *ret, size_t cap);
/* The ports of this machine that they had connected to when that was last asked. */
size_t hangrefused_asked(const struct hangrefused *h, const struct hangprocs *procs, struct hang_asked *ret,
			 size_t cap);
