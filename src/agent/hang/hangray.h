/*
 * What the judge is told of Ray in a suspected job with a raylet of its own: what waits for a place in the node, from
 * the raylet's logs, with the rights of its user (sense/framework/rayplaces), what the job's workers and programs do,
 * and which actors and tasks wait for which others (sense/pylib/raycall). Without Ray it costs nothing.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "model/ray/raystand.h"

/*
 * dumps: the stacks, oldest first; what a process does it does in all of them. NULL: there is no Ray, nothing of it
 * waits, or no memory. Free it.
 */
struct raystand *hangray_make(const struct world *w, const struct hangprocs *procs,
			      const struct stackdump *const *dumps, size_t n_dumps);
