/*
 * Reads for the guard what processes call themselves (agent/guard/guardnames). A thread of the supervisor does it, as a
 * process may keep its readers waiting for ever. One that takes longer than a tenth of a second is answered for as
 * nameless, its thread is left behind until it comes back, and another one goes on with the rest. At most 16 threads
 * are left behind; while they all wait, nobody new gets a name.
 */
#pragma once

#include "agent/guard/guardnames.h"
#include "sense/world.h"

struct namereader;

/* NULL without memory. The world and the names must stay as they are until the program ends. */
struct namereader *namereader_new(const struct world *w, struct guard_names *names);
/* Begin to read whom the guard asks for now, and look whether a thread is late. Cheap: call it at each wake-up. */
void namereader_refresh(struct namereader *r);
struct namereader *namereader_free(struct namereader *r);
