/*
 * What waits for a place in the Ray node of a suspected job, for the judge: read from the logs of the node's raylet,
 * where that is of the job, with the rights of its user (sense/framework/rayplaces), and beside it what the job's
 * workers and programs do. Where nothing waits for a place it costs two small reads, and without Ray nothing.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "model/ray/raystand.h"

/*
 * dumps: the stacks, oldest first; what a process does it does in all of them. NULL: nothing waits for a place, there
 * is no Ray, or no memory. Free it.
 */
struct raystand *hangray_make(const struct world *w, const struct hangprocs *procs,
			      const struct stackdump *const *dumps, size_t n_dumps);
