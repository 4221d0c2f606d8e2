/*
 * All stacks of a job or of some processes, now: `vigil stack`, and the
 * report of a kill while the victim is frozen.
 */
#pragma once

#include "agent/jobs/members.h"
#include "agent/inspect/viewcache.h"
#include "base/fault.h"
#include "model/stacks/stackdump.h"

struct snapshot_want {
	const struct members_want *members; /* whose; NULL: only `pids` */
	const pid_t *pids; /* …or exactly these, in this order */
	size_t n_pids;
	bool native; /* native frames, merged with Python's; without it only where there is no Python */
	bool lines; /* source lines of native frames, from their debug information */
	bool locals;
	bool frozen; /* they stand still in a frozen group: nothing can be torn, nothing can be stopped */
	struct viewcache *views; /* who was looked into beforehand: taken from there; NULL: nobody */
	struct instant *instant; /* to catch threads that run, for native frames; NULL: they are stopped */
	struct natives *natives; /* symbols, kept by who takes several; NULL: read anew */
	uint64_t budget_ns; /* 0: as long as it takes; else what is read by then */
	const volatile bool *stop; /* set by a signal handler; may be NULL */
};

enum { SNAPSHOT_NONE = 4 }; /* nothing of it is alive */

/*
 * Processes that end meanwhile are left out; those that may not be read carry
 * a note. WORLD_DENIED when none may be read, SNAPSHOT_NONE; the fault says
 * why.
 */
int must_check snapshot_take(const struct world *w, const struct snapshot_want *want, struct stackdump *ret,
			     struct fault *f);
