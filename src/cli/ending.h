/*
 * The end of a job about which no incident was stored, in the form of an incident: it ended well, failed without a
 * report, or its vigil is gone.
 */
#pragma once

#include "model/incident/incident.h"
#include "model/jobs/job.h"

/* j: brought up to date by view_job. False: the job has not ended; *ret is then unchanged. */
bool job_ending(const struct job *j, struct incident *ret);
