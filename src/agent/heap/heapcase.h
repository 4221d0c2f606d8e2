/*
 * The `heap` object of an incident: the combined heap profiles of the processes that were killed, if the job was
 * started with --heap. The kill leaves the last state in the files; where a file is gone, the copy made when memory got
 * short is read.
 */
#pragma once

#include <sys/types.h>

#include "base/json.h"
#include "sense/proc/proc.h"
#include "sense/world.h"

/*
 * folder: VIGIL_HEAP_DIR of the attempt. victims: largest first; at most 16 profiles are read, which takes some 100 ms.
 * NULL: none of them has a profile. The caller owns the result.
 */
struct js *heapcase_json(const struct world *w, const char *folder, const struct proc_id *victims, size_t n,
			 const char *name);
