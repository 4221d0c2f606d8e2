/* What the parts of agent/inspect/procview share. */
#pragma once

#include "agent/inspect/procview.h"

/* A thread on a processor stops within microseconds, one that waits for a processor as soon as it gets one. */
#define PROCVIEW_PATIENCE_US 20000
#define PROCVIEW_PATIENCE_MIN_US 2000

/* Most time to wait for a thread that runs, before any thread was late. */
static inline uint64_t procview_patience_us(const struct procview_want *want)
{
	return want->patience_us ? want->patience_us : PROCVIEW_PATIENCE_US;
}
