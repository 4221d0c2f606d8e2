/* The memory of the node or of one subject, with what the store knows of the jobs: for `vigil mem` and `vigil top`. */
#pragma once

#include "agent/memory/memory.h"
#include "cli/options/subject.h"

struct memgather_want {
	const struct subject *subject; /* NULL: the whole node */
	bool all; /* every process and every piece of shared memory */
	const struct gpu_set *gpus; /* what the drivers told already; NULL: they are asked */
};

/*
 * The world must stay open until the program ends (agent/memory/pss). MEMORY_NO_PROCESS, or a negative errno, with a
 * sentence.
 */
int must_check memgather(const struct world *w, const char *state, const struct memgather_want *want,
			 struct footprint *ret, struct fault *f);
