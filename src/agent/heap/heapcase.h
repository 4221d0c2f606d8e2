/*
 * The `heap` object of an incident: what the heap profiles of the processes
 * that were ended say, put together, if the job was started with --heap. Their
 * last state, which the kill left in the files; where that is gone, the copy
 * made when memory got short.
 */
#pragma once

#include <sys/types.h>

#include "base/json.h"
#include "sense/proc/proc.h"
#include "sense/world.h"

/*
 * folder: VIGIL_HEAP_DIR of the attempt. victims: largest first; so many that
 * it stays a matter of some 100 ms are read. NULL: none of them has a profile.
 * Owned by the caller.
 */
struct js *heapcase_json(const struct world *w, const char *folder, const struct proc_id *victims, size_t n,
			 const char *name);
