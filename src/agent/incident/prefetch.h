/*
 * What takes too long once a victim stands still is looked up while memory is merely short: the proportional sizes of
 * those who would be ended (20 ms each), and who holds which shared memory. A thread of its own does it, a second or
 * more apart, so that the supervisor is there when the guard calls. Nobody else waits for it either
 * (sense/proc/procsize).
 */
#pragma once

#include "model/incident/incident.h"
#include "sense/world.h"

struct prefetch;

/*
 * The world must stay open until the program ends, since a thread that is stuck in the kernel is left behind. NULL:
 * -ENOMEM.
 */
struct prefetch *prefetch_new(const struct world *w);
/* Begins a round, unless one is under way or the last one is young. pids: 0 is passed over. */
void prefetch_ask(struct prefetch *f, const pid_t *pids, size_t n);
/* The rounds so far: a test waits for one. */
uint32_t prefetch_rounds(struct prefetch *f);
/* Sizes of in->top[] that nobody has read yet, with their age; in->shm, which is read anew. f: NULL knows nothing. */
void prefetch_tell(struct prefetch *f, const struct world *w, struct incident *in);
struct prefetch *prefetch_free(struct prefetch *f);
