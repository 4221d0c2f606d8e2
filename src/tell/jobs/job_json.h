/*
 * Jobs, processes and events as programs read them: "vigil.job/1",
 * "vigil.process/1", "vigil.event/1" (docs/json.md). What is not known is
 * absent. Owned by the caller.
 */
#pragma once

#include "base/json.h"
#include "model/jobs/job.h"

struct js *job_json(const struct job *j);
struct js *process_json(const struct job_process *p);
struct js *event_json(const struct job_event *e);
/* "info", "warning" or "error". */
const char *event_severity(const struct job_event *e);
