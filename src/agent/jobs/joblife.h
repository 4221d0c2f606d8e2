/*
 * Whether a job whose record says that it runs is still looked after. The record is written by its supervisor; one that
 * was killed leaves it as it was.
 */
#pragma once

#include "model/jobs/job.h"
#include "sense/world.h"

/*
 * True if the record says that the job runs, and its supervisor is gone. A job of another machine (the state directory
 * may be shared), whose processes are out of sight, and one whose supervisor may not be read are not lost.
 */
bool joblife_is_lost(const struct world *w, const struct job *j);
/* True if a process with this number and this start runs, or may not be read. */
bool joblife_runs(const struct world *w, pid_t pid, uint64_t start_ticks);
