/*
 * `vigil heap JOB|PID --what growth`: watches the page faults of what runs for
 * a while (agent/heap/growthset). Ctrl-C and SIGTERM end it early; what was seen
 * until then is shown.
 */
#pragma once

#include "cli/subject.h"
#include "model/heap/heapset.h"

#define GROWTH_SHORTEST_NS (100 * NS_PER_MS)
#define GROWTH_LONGEST_NS (24 * 3600 * NS_PER_S)

/* *ret is the caller's; remark: a sentence on what is missing, or "". The fault says which right is missing. */
int must_check heap_growth_load(const struct world *w, const struct subject *s, uint64_t duration_ns,
				struct heapset **ret, char remark[static 300], struct fault *f);
