/*
 * Who makes the results for which Ray's processes wait in ray.get() and ray.wait(), as hints for the graph: which actor
 * each worker is and what it runs is read from its memory (agent/inspect/raylook). The kernel's facts only say that a
 * thread waits for another one of its own process. It names and never proves: a result may be on its way.
 */
#pragma once

#include "model/hang/waitgraph.h"
#include "sense/world.h"

/*
 * Adds to the hints, an array that base/vec.h lets grow. Without Ray it costs nothing. No process is looked into after
 * until_ns. -ENOMEM.
 */
int must_check waitray_read(const struct world *w, const struct waitfacts *facts, const struct waitgraph_who *who,
			    size_t n_who, uint64_t until_ns, struct waithint **hint, size_t *n_hints,
			    size_t *cap_hints);
