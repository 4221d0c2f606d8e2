/*
 * Which thread of a Python process has the connection in hand at whose other end somebody waits, as hints for the
 * graph. The kernel knows only that the process has it, and of a server with several threads any could be the one to
 * answer; its frames say which one does (sense/pylib/pysock.h). It names and proves nothing: another thread may be
 * handed the connection later.
 */
#pragma once

#include "agent/inspect/procview.h"
#include "model/hang/waithint.h"
#include "sense/wait/waitfacts.h"

/* True: a thread of another process waits for this one at a connection, and it has several that could be meant. */
bool waithands_wanted(const struct waitfacts *f, const struct waitfact_process *p);
/*
 * Adds hints to an array that base/vec.h lets grow, one for each connection of each thread that stands still, or has
 * the same in hand at two looks while it runs.
 * WORLD_GONE, WORLD_DENIED, -errno.
 */
int must_check waithands_read(const struct world *w, const struct waitfacts *f, struct procview *v,
			      struct waithint **hint, size_t *n_hints, size_t *cap_hints);
