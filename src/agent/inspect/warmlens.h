/*
 * Processes that may soon have to be ended, looked into beforehand: finding a Python, its code and the tables of native
 * files takes most of the time of a first look, and a victim stands frozen meanwhile. When memory gets short the guard
 * names whom it would end (agent/guard/guardshm), and agent/stacks/snapshot takes what is kept here.
 *
 * A lens that is kept may have become wrong by the time it is used: the process may have ended, and its number be
 * another's, or it may have become another program. warmlens_take tells.
 */
#pragma once

#include "agent/incident/forelook.h"
#include "agent/guard/guardshm.h"
#include "agent/inspect/lens.h"

struct warmlens {
	struct natives *natives; /* NULL: nothing has been kept yet */
	struct forelook *fore;   /* NULL: memory has never been short */
	struct {
		struct lens *lens; /* NULL: the place is free */
	} place[GUARD_WARM];
};

/* Looks into those not looked into yet, for so long at most, and forgets all others. Unreadable processes are left out. */
void warmlens_keep(struct warmlens *k, const struct world *w, const pid_t *pids, size_t n, uint64_t budget_ns);
/* Those that the guard names, if memory is short; else nobody. While it waits for somebody's stacks nothing is done. */
void warmlens_guard(struct warmlens *k, const struct world *w, struct guard_shm *shm);
/* From time to time, while memory stays short: what grows old (agent/incident/forelook) is asked for again. Cheap. */
void warmlens_refresh(struct warmlens *k, const struct guard_shm *shm);
/* The lens of this very process, which is the caller's from here on; NULL: none. */
struct lens *warmlens_take(struct warmlens *k, const struct world *w, pid_t pid);
/* Everything is forgotten. Lenses that were taken must have been closed. */
void warmlens_done(struct warmlens *k);
