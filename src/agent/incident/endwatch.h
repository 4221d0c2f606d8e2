/*
 * How the processes of a job end, where no BPF program sees it (agent/incident/sigfeed): of each that somebody names a
 * descriptor is kept, and asked once the process is gone (sense/proc/pidfdinfo). Before Linux 6.15 it is asked as long
 * as it is a zombie, so many an end stays unknown. Who sent a signal is not known.
 *
 * At most 256 processes, and a quarter of the descriptors that vigil may have. One thread.
 */
#pragma once

#include "sense/death/facts.h"
#include "sense/world.h"

struct endwatch;

/* NULL without memory or descriptors. */
struct endwatch *endwatch_new(const struct world *w);
struct endwatch *endwatch_free(struct endwatch *e);
/* Readable when a process has ended. */
int endwatch_fd(const struct endwatch *e);
/* A living process, with all but its status and the time of its end. Of a known one name and rank are taken over. */
void endwatch_know(struct endwatch *e, const struct process_end *who);
/* Calls each with those that have ended, and whose status was learned, since the last call; does not wait. */
void endwatch_take(struct endwatch *e, void (*each)(void *ctx, const struct process_end *end), void *ctx);
