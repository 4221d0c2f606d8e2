/* "vigil.report/1": all that is told of a job, gathered from the store, the series file and the kept output. */
#pragma once

#include "base/json.h"
#include "cli/view.h"

/*
 * j: brought up to date by view_job. *ret is owned by the caller; secrets in it are masked. Returns 0 or the exit
 * status of the command; what is wrong has then been logged. What cannot be read of series and output is left out, and
 * logged.
 */
int must_check report_gather(const struct view *v, const struct job *j, struct js **ret);
