/*
 * The `heap` object of an incident: what the victim's heap profile says, if
 * the job was started with --heap. Its last state, which the kill left in the
 * file; where that is gone, the copy made when memory got short.
 */
#pragma once

#include <sys/types.h>

#include "base/json.h"
#include "sense/proc.h"
#include "sense/world.h"

/* folder: VIGIL_HEAP_DIR of the attempt. NULL: there is no profile of this process. Owned by the caller. */
struct js *heapcase_json(const struct world *w, const char *folder, const struct proc_id *victim, const char *name);
