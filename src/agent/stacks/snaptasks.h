/*
 * The asyncio tasks of a process for its part of a dump of stacks.
 */
#pragma once

#include "agent/inspect/procview.h"
#include "model/stacks/stackdump.h"

/*
 * Adds the tasks where one of the threads, which have been read, stands in a loop of asyncio's. WORLD_GONE,
 * WORLD_DENIED, -errno.
 */
int must_check snaptasks_fill(const struct world *w, struct procview *v, struct dump_process *p);
