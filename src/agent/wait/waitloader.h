/*
 * The worker of a DataLoader for which a rank's main thread waits, as a hint for the graph: workers answer in any
 * order, so that a pipe that all of them write to does not say which one holds the rank up (sense/pylib/pyloader.h).
 * It names and never proves: a loader may still be asked for other batches.
 */
#pragma once

#include "agent/inspect/procview.h"
#include "model/hang/waithint.h"
#include "sense/wait/waitfacts.h"

/* *ret_found: *ret is the hint. Nothing of a main thread that runs meanwhile. WORLD_GONE, WORLD_DENIED, -errno. */
int must_check waitloader_read(const struct world *w, const struct waitfacts *facts, struct procview *v,
			       struct waithint *ret, bool *ret_found);
