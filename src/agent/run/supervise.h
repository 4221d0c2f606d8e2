/*
 * Runs a job and keeps watch over it: starts its ranks, passes their output on, keeps the guard alive, finds out why an
 * attempt died, retries it. This is all of `vigil run`. Jobs that were started by others: agent/run/adopt.
 */
#pragma once

#include "agent/run/runspec.h"
#include "sense/world.h"

/* Returns the exit status of `vigil run`. */
int supervise_run(const struct run_spec *s, const struct world *w);
