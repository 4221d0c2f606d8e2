/*
 * Locks of multiprocessing across processes: a thread that waits for one is joined with the thread of another process
 * that holds it by a `with`, by the word in shared memory that both map. Nothing is stopped.
 */
#pragma once

#include "model/hang/waitgraph.h"
#include "sense/world.h"

/*
 * Makes hints of owners out of those that have none, or adds them. Where several seem to hold a lock, none is told. As
 * anybody may release such a lock, no owner is proved. Limits as waitlocks_read. -ENOMEM.
 */
int must_check waitshared_read(const struct world *w, const struct waitfacts *facts, uint64_t until_ns,
			       struct waithint **hint, size_t *n_hints, size_t *cap_hints);
