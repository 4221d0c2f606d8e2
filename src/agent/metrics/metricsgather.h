/*
 * Fills the facts of metrics (tell/metrics/metrics.h) from the store, the series files of jobs, the processes and the
 * memory of this machine, and its GPUs. Nothing waits for a job: what ranks use is what their supervisor wrote down
 * last. Only `processes` and `gpus` of what is wanted ask processes and drivers, for at most 4 s and 2 s.
 *
 * What was read of series files is kept between calls, so that a caller that repeats reads only what is new.
 */
#pragma once

#include "base/fault.h"
#include "sense/world.h"
#include "tell/metrics/metrics.h"
#include "tell/store/store.h"

struct metrics_memory;

struct metrics_want {
	bool processes; /* the memory of each process of a job, with pids */
	bool gpus; /* devices under DCGM's names */
};

/* NULL: no memory. */
struct metrics_memory *metrics_memory_new(void);
struct metrics_memory *metrics_memory_free(struct metrics_memory *m);
static inline void metrics_memory_freep(struct metrics_memory **m)
{
	*m = metrics_memory_free(*m);
}

/*
 * s NULL: there is no store yet; the node's metrics are still filled. *ret is to be given to metrics_facts_done. The
 * world must stay open until the program ends if processes are wanted (agent/memory/pss). Errors: -errno with a
 * sentence.
 */
int must_check metrics_gather(struct metrics_memory *m, struct store *s, const struct world *w,
			      const struct metrics_want *want, struct metrics_facts *ret, struct fault *f);
