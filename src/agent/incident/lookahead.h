/*
 * While memory is short, the guard names the processes that it would end (guard_shm.now.likely). This opens them
 * beforehand (agent/inspect/viewcache) and has their sizes read (agent/incident/prefetch), so that a kill report costs
 * less time while its victim stands frozen. Runs in the supervisor.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "agent/incident/prefetch.h"
#include "agent/inspect/viewcache.h"
#include "agent/memory/namereader.h"
#include "agent/memory/sharing.h"
#include "model/incident/incident.h"

struct lookahead {
	struct viewcache views;
	struct prefetch *sizes; /* owned; NULL: memory has never been short */
	struct sharing *sharing; /* owned; NULL: no process has had forks */
	struct namereader *names; /* owned; NULL: the guard has asked for no names yet */
	struct incident draft; /* the first report of a case, as the guard had it when it was told to go on */
};

/*
 * Call when the guard has named others. Closes all views when memory is no longer short; does nothing while a case is
 * open.
 */
void lookahead_update(struct lookahead *a, const struct world *w, struct guard_shm *shm);
/*
 * Call from time to time: how pages are shared with forks is read again, and while memory stays short the sizes of
 * likely victims. Cheap.
 */
void lookahead_refresh(struct lookahead *a, const struct world *w, struct guard_shm *shm);
/* Forget everything. Views that were taken must have been closed. */
void lookahead_done(struct lookahead *a);
