/*
 * --protect of `run`, `watch` and `agent`: does what `vigil protect JOB` does once the job's main process exists (its
 * children inherit it), and stores as events what can still end the job.
 */
#pragma once

#include "agent/incident/recorder.h"
#include "sense/world.h"

/* Print on stderr what could not be done, and, unless quiet, that it was done. */
void runprotect_apply(const struct world *w, struct recorder *k, const struct job *j, bool quiet);
