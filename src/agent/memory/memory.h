/*
 * Gathers what `vigil mem` shows of the node or of one job: a sweep over all
 * processes, exact numbers of those shown, proportional sizes of the largest
 * few, and the shared memory with its holders. Measured: 35 ms with 40
 * processes, 0.45 s with 2,000. Proportional sizes and holders take at most
 * 3.5 s together.
 */
#pragma once

#include "agent/jobs/members.h"
#include "base/fault.h"
#include "model/memory/footprint.h"
#include "model/jobs/job.h"

struct memory_want {
	const struct members_want *members; /* NULL: the whole node */
	const char *subject; /* for the heading; "" for the node */
	const struct job *jobs; /* running jobs, for their limits; for the view of one job it comes first */
	size_t n_jobs;
	const struct gpu_set *gpus; /* what the drivers told already; NULL: they are asked */
	bool all; /* every process and every object of shared memory */
};

enum { MEMORY_NO_PROCESS = 4 }; /* no process of the job is alive */

int must_check memory_gather(const struct world *w, const struct memory_want *want, struct footprint *ret,
			     struct fault *f);
