/*
 * The end of a job about which no incident was stored, in the form of an incident: it ended well, failed without a
 * report, or its vigil is gone.
 */
#pragma once

#include "model/incident/incident.h"
#include "model/jobs/job.h"

/* j: with a state that is up to date (agent/jobs/joblife). False: the job has not ended; *ret is then unchanged. */
bool job_ending(const struct job *j, struct incident *ret);
