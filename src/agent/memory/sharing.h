/*
 * How the pages of forked processes are shared, read for the guard (guard_shm.sharing) by a thread of the supervisor:
 * reading it takes the memory lock of a process, 13 ms for each GiB, and does not return from one that is stuck. Such a
 * thread is left behind, and nothing is read any more.
 *
 * A round takes at most 1/50 of the time while memory is short, or may be, 1/2000 otherwise, and comes every second or
 * five seconds at most. Without forks that came with 16 MiB or more nothing runs.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "sense/world.h"

struct sharing;

/* NULL without memory. Both must stay as they are until sharing_free, the world until the program ends. */
struct sharing *sharing_new(const struct world *w, struct guard_shm *shm);
/* Begin a round if one is due. Cheap: call it from time to time. */
void sharing_refresh(struct sharing *s);
struct sharing *sharing_free(struct sharing *s);
