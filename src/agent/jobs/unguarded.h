/*
 * How many programs match what an agent looks for and have no place in its table: written by the agent, told by `vigil
 * jobs` and `vigil doctor`.
 *
 *   <state>/unguarded   one line: pid and start of the agent, number of matching programs, number of guarded ones
 */
#pragma once

#include "sense/world.h"

struct unguarded {
	uint64_t matching, guarded;
};

/* Keep what is told now; the same numbers for both remove the note. */
void unguarded_note(const struct world *w, const char *state_dir, const struct unguarded *u);
/* False: everybody is guarded, or the agent that wrote the note is gone. */
bool unguarded_read(const struct world *w, const char *state_dir, struct unguarded *ret);
/* One sentence for a person. */
void unguarded_text(const struct unguarded *u, char *dst, size_t cap);
