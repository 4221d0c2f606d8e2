/*
 * Gathers what `vigil mem` shows, of the node or of one job, from the live
 * machine: a sweep over all processes, exact numbers for those shown,
 * proportional sizes for the largest few, and the shared memory with its
 * holders. Measured: 35 ms with 40 processes, 0.45 s with 2,000; proportional
 * sizes and holders are cut off after 1.5 s together.
 */
#pragma once

#include "agent/jobs/members.h"
#include "base/fault.h"
#include "model/memory/footprint.h"
#include "model/jobs/job.h"

struct memory_want {
	const struct members_want *members; /* NULL: the whole node */
	const char *subject; /* for the heading; "" for the node */
	const struct job *jobs; /* that are known to run, for their limits; of one job, that one first */
	size_t n_jobs;
	bool all;            /* every process and every piece of shared memory */
};

enum { MEMORY_NO_PROCESS = 4 }; /* nothing of the job is alive */

int must_check memory_gather(const struct world *w, const struct memory_want *want, struct footprint *ret,
			     struct fault *f);
