/* "vigil.report/1": all that is told of a job, gathered from the store, the series file and the kept output. */
#pragma once

#include "base/json.h"
#include "model/jobs/job.h"
#include "sense/world.h"
#include "tell/store/store.h"

struct report_from {
	struct store *store;
	const struct world *world; /* NULL: not known which processes run */
	const char *state_dir;
};

/*
 * j: with a state that is up to date (agent/jobs/joblife). *ret is owned by the caller; secrets in it are masked. What
 * cannot be read of series and output is left out, and logged. A negative errno of the store.
 */
int must_check report_gather(const struct report_from *from, const struct job *j, struct js **ret);
