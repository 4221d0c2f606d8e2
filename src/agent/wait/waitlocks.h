/*
 * What Python says of the locks that the threads of some processes wait for, as hints for the graph of waits. Shared by
 * the watcher and by `vigil waits`. Nothing is stopped.
 */
#pragma once

#include "model/hang/waitgraph.h"
#include "sense/world.h"

enum {
	WAITLOCKS_LATE = 1, /* not all were asked that may have something to say, for want of time or memory */
};

/*
 * Adds to the hints, an array that base/vec.h lets grow, what the Pythons of these processes say; main processes come
 * first. What the time until until_ns (the world's monotonic clock) or memory does not suffice for, or *stop (may be
 * NULL) cuts off, goes without: WAITLOCKS_LATE. Processes that end meanwhile, have no Python or may not be looked into
 * add nothing. before: an earlier look, NULL: none. Never fails.
 */
int must_check waitlocks_read(const struct world *w, const struct waitfacts *before, const struct waitfacts *facts,
			      const struct waitgraph_who *who, size_t n_who, uint64_t until_ns,
			      const volatile bool *stop, struct waithint **hint, size_t *n_hints, size_t *cap_hints);
