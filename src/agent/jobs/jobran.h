/* How long a job ran or has been running, in words. */
#pragma once

#include "model/jobs/job.h"

/* Until now_unix_ms, which may be 0 for a job that has ended; "-" if it is not known. Returns dst. */
char *job_ran(const struct job *j, int64_t now_unix_ms, char dst[static 24]);
