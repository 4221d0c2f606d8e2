/*
 * What a Python program tries again: its main thread sleeps while it handles an exception, in a loop of naps. The
 * exception says what did not work, and of which file. Read from outside, without stopping the process; only words for
 * the graph of waits.
 */
#pragma once

#include "agent/inspect/procview.h"
#include "model/hang/waithint.h"

/* *ret_found: the main thread stands so. Nothing of a thread that runs. WORLD_GONE, WORLD_DENIED, -errno. */
int must_check pyretry_read(const struct world *w, struct procview *v, struct waithint *ret, bool *ret_found);
