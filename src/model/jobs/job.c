#include "model/jobs/job.h"

#include <string.h>

static const char *const state_names[JOB_STATE_MAX] = {
	[JOB_STARTING] = "starting",
	[JOB_RUNNING] = "running",
	[JOB_WAITING] = "waiting",
	[JOB_DONE] = "done",
	[JOB_FAILED] = "failed",
	[JOB_LOST] = "lost",
};

const char *job_state_name(enum job_state s)
{
	return s < JOB_STATE_MAX ? state_names[s] : "unknown";
}

enum job_state job_state_of(const char *name)
{
	for (size_t i = 0; i < JOB_STATE_MAX; i++)
		if (strcmp(state_names[i], name) == 0)
			return (enum job_state)i;
	return JOB_STATE_MAX;
}
