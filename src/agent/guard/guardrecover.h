/*
 * Recovery after the guard's death, from what it left in the shared mapping: nothing stays frozen, stopped or
 * throttled, and a case whose victims were chosen is carried through, so that its report is true. Runs in the
 * supervisor.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "sense/world.h"

/* End the victims of open cases, then resume everything and stop throttling. */
void guardrecover_finish(const struct world *w, struct guard_shm *shm);
/* Resume everything and stop throttling, while the guard may still live. */
void guardrecover_let_go(const struct world *w, struct guard_shm *shm);
/* Add to the report of an unfinished case that the guard died during it, and mark the case as done. */
void guardrecover_note(const struct world *w, struct guard_case *c);
