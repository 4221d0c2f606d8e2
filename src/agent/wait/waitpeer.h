/*
 * The rank to or from which a main thread in PyTorch's send() or recv() waits to hear, as a hint for the graph: the
 * argument is in the frame of that call. The connections of a gloo process lead to all ranks, and its thread to all of
 * them. It names and proves nothing: which message is waited for is not seen.
 */
#pragma once

#include "agent/inspect/procview.h"
#include "model/hang/waithint.h"

/* *ret_found: *ret is the hint. Nothing of a main thread that runs meanwhile. WORLD_GONE, WORLD_DENIED, -errno. */
int must_check waitpeer_read(const struct world *w, struct procview *v, struct waithint *ret, bool *ret_found);
