/*
 * Runs a bag of tasks: one process with one loop starts them, passes on what they write, watches their memory, notes
 * how they end. This is all of `vigil map`.
 */
#pragma once

#include "agent/map/mapspec.h"
#include "sense/world.h"

/* Returns the exit status of `vigil map`. */
int map_run(const struct map_spec *spec, const struct world *w);
