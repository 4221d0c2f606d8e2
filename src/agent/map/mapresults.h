/*
 * The folders of --results, as GNU parallel lays them out: DIR/1/INPUT/2/INPUT/{stdout,stderr,seq}, a level for each
 * input. An input can be any text, so what it must not mean in a path is written with a backslash: "/" as "\_", a
 * backslash twice, a tab as "\t", a name of dots only with one in front. Links are not followed below DIR.
 */
#pragma once

#include "agent/map/mapinputs.h"

/* Opens new files for what a task writes. -errno with a sentence. */
int must_check mapresults_open(const char *dir, const struct map_args *args, uint64_t seq, int *ret_out, int *ret_err,
			       struct fault *f);
