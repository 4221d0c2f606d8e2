/*
 * What is told of a job whose vigil was killed with all of its processes (agent/incident/leftover): its row becomes
 * "lost" with a report of it, and first reports of memory kills, which lie in the job's folder only, are stored.
 */
#pragma once

#include "base/base.h"

struct leftcase_facts {
	pid_t supervisor;
	size_t running; /* processes of the job that still run */
	bool lifted; /* limits that vigil had set were found and lifted */
};

/* False: the job's end is known already, or it was never stored; nothing is written then. */
bool leftcase_tell(const char *state_dir, const char *job, const struct leftcase_facts *facts);
