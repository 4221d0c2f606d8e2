/*
 * The goroutines of a process for its part of a dump of stacks.
 */
#pragma once

#include "agent/inspect/procview.h"
#include "model/stacks/stackdump.h"

/* Adds them, those of equal stacks once, where Go made the program of the process. WORLD_GONE, WORLD_DENIED, -errno. */
int must_check snapgo_fill(const struct world *w, struct procview *v, struct dump_process *p);
