/*
 * The rescue process: a third, small process beside the supervisor and its guard. It sleeps until the supervisor has
 * ended. If the guard then ends as well before it has cleared up, or does not begin within 2 s, the rescue process does
 * what the guard would have done: the job's limits are lifted, it is thawed and continued, a job that vigil started is
 * ended, its group is removed, and the reports that nobody has written are written (agent/guard/guardloop).
 *
 * It is forked before the guard, in a session of its own, and shares the guard's mapping and descriptors. It allocates
 * nothing until it is needed. Where it is killed together with the two others, the next vigil of this user clears up
 * (agent/incident/leftover).
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "sense/world.h"

/* Fork it. Returns its pid, or -errno. */
pid_t rescue_start(struct guard_shm *shm, const struct world *w);
/* End and reap it; 0 is passed over. */
void rescue_stop(pid_t pid);
