/* Whether a process of a job still runs, and what memory it uses now: for the commands and the page's server. */
#pragma once

#include "model/jobs/job.h"
#include "sense/world.h"

/*
 * True if this process still runs; its memory is then set to what it uses now. w NULL: unknown, so false. One program
 * reads at most 3 s of proportional sizes (agent/memory/pss) a minute; after that own_bytes is resident less shared.
 */
bool procnow_read(const struct world *w, struct job_process *p);
