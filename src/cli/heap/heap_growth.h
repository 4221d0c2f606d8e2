/*
 * `vigil heap JOB|PID --what growth`: records the page faults of a running job or process for a while
 * (agent/heap/growthset). SIGINT and SIGTERM end it early; what was recorded until then is shown. `--attach -d TIME`
 * waits in the same way.
 */
#pragma once

#include "cli/options/subject.h"
#include "model/heap/heapset.h"

#define GROWTH_SHORTEST_NS (100 * NS_PER_MS)
#define GROWTH_LONGEST_NS (24 * 3600 * NS_PER_S)

/* Until the time is over, *stop is set (cli/screen/stopkey), or process pid has ended. */
void heap_wait(uint64_t duration_ns, pid_t pid, const volatile bool *stop);

/*
 * *ret is the caller's; note: a sentence on what could not be recorded, or "". The fault says which right is missing.
 */
int must_check heap_growth_load(const struct world *w, const struct subject *s, uint64_t duration_ns,
				struct heapset **ret, char note[static 300], struct fault *f);
