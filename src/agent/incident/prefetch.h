/*
 * Reads beforehand, while memory is merely short, what takes too long once a victim is frozen: the proportional sizes
 * of likely victims (20 ms each) and which processes hold which shared memory. A thread of its own does it, at most
 * once a second, so that the supervisor can answer the guard. No other thread waits for it (sense/proc/procsize).
 */
#pragma once

#include "agent/memory/shmheld.h"
#include "model/incident/incident.h"
#include "sense/world.h"

struct prefetch;

/*
 * The world must stay open until the program ends, since a thread that is stuck in the kernel is left behind. NULL
 * without memory.
 */
struct prefetch *prefetch_new(const struct world *w);
/* Begin a round, unless one is running or the last one is recent. pids that are 0 are skipped. */
void prefetch_ask(struct prefetch *f, const pid_t *pids, size_t n);
/* The number of finished rounds, for tests that wait for one. */
uint32_t prefetch_rounds(struct prefetch *f);
/*
 * Fill in sizes in in->top[] that are still missing, with their age, and in->shm, which is read anew. f NULL: does
 * nothing. job: as for shmheld_report.
 */
void prefetch_tell(struct prefetch *f, const struct world *w, const struct shmheld_job *job, struct incident *in);
struct prefetch *prefetch_free(struct prefetch *f);
