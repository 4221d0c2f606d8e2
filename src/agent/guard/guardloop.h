/*
 * What runs in the guard's process: sample, judge, act, until it is asked to stop. Its memory is locked. From waking up
 * to the kill it allocates nothing, opens only what it must, and waits for nothing but the victim's death.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "sense/world.h"

/*
 * Never returns. command_fd: an eventfd to read, jobs changed or stop; kick_fd: an eventfd that wakes the supervisor.
 */
_Noreturn void guardloop_main(struct guard_shm *shm, const struct world *w, int command_fd, int kick_fd);
/*
 * Called for each job when the supervisor has died and `ended` processes of started jobs were ended (incident/orphan).
 * Runs in the guard, or where that is gone in the rescue process.
 */
typedef void guardloop_orphan_fn(struct guard_shm *shm, size_t job, size_t ended);
/* The supervisor and the guard are gone: do what the guard does when the supervisor dies. Never returns. */
_Noreturn void guardloop_rescue(struct guard_shm *shm, const struct world *w);
/* Set it before the guard is forked. */
void guardloop_on_orphan(guardloop_orphan_fn *fn);
