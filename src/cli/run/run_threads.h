/* `vigil run --threads`: the thread variables of a job. */
#pragma once

#include "agent/run/runspec.h"
#include "sense/world.h"

/* "auto", "keep" or a number from 1 on; NULL is "keep". -EINVAL, logged. */
int must_check run_threads_check(const char *text);
/* Sets spec->env, and says on stderr what it has set and what it has left, unless the run is quiet. */
void run_threads_set(const char *text, const struct world *w, struct run_spec *spec);
