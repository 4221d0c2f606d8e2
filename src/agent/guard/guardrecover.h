/*
 * What a dead guard leaves behind in the shared mapping, and how its survivor
 * winds it up: nothing stays frozen, stopped or braked, and a case whose
 * victims were chosen is carried through, so that its report tells the truth.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "sense/world.h"

/* Continue, thaw and unbrake everything; then end the victims of the open cases. */
void guardrecover_finish(const struct world *w, struct guard_shm *shm);
/* A case that the guard had begun and not finished: what its report must say. */
void guardrecover_note(const struct world *w, struct guard_case *c);
