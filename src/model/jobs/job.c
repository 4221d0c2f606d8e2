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

const char *process_ended_words(const char *ended_for)
{
	static const struct {
		const char *name, *words;
	} known[] = {
		{ENDED_FOR_RANK, "ended by vigil, as another rank failed"},
		{ENDED_FOR_MEMORY, "ended by vigil for memory"},
		{ENDED_FOR_HANG, "ended by vigil, as the job hung"},
		{ENDED_FOR_STOP, "ended, as the run was stopped"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i].name, ended_for) == 0)
			return known[i].words;
	return NULL;
}

const char *job_state_name(enum job_state s)
{
	return s < JOB_STATE_MAX ? state_names[s] : "unknown";
}

const char *job_state_word(const struct job *j)
{
	return j->state == JOB_FAILED && j->stopped ? "stopped" : job_state_name(j->state);
}

enum job_state job_state_of(const char *name)
{
	for (size_t i = 0; i < JOB_STATE_MAX; i++)
		if (strcmp(state_names[i], name) == 0)
			return (enum job_state)i;
	return JOB_STATE_MAX;
}
