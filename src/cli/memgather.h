/* The memory of the node or of one subject, with what the store knows of the jobs: for `vigil mem` and `vigil top`. */
#pragma once

#include "agent/memory/memory.h"
#include "cli/subject.h"

/*
 * s NULL: the whole node. all: every process and every piece of shared memory. The world must stay open until the
 * program ends (agent/memory/pss). MEMORY_NO_PROCESS, or a negative errno, with a sentence.
 */
int must_check memgather(const struct world *w, const char *state, const struct subject *s, bool all,
			 struct footprint *ret, struct fault *f);
