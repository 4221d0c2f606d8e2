/*
 * Names the frames of stacks of a heap profile: native addresses by the modules that the profile lists, Python's by the
 * code tables that it holds, merged by model/stacks/stackmerge. Does not read the process itself, so it works after its
 * end.
 *
 * Names are kept for the profiles of other processes.
 */
#pragma once

#include "model/stacks/frame.h"
#include "sense/heap/heapregion.h"
#include "sense/native/offline.h"

/* Most frames of one stack, with the notes on frames left out. */
#define HEAPSYMBOLS_FRAMES (2 * HEAP_FRAMES_MAX + 4)

struct heapsymbols;
/* w and frames are borrowed. NULL: no memory. */
struct heapsymbols *heapsymbols_new(const struct world *w, struct frametab *frames);
struct heapsymbols *heapsymbols_free(struct heapsymbols *n);
static inline void heapsymbols_freep(struct heapsymbols **n)
{
	*n = heapsymbols_free(*n);
}
/*
 * Begins with another profile, borrowed until the next one. pid: its process if it runs (as vigil numbers it), else 0.
 */
int must_check heapsymbols_begin(struct heapsymbols *n, const struct heapregion *r, pid_t pid);
/* ids: innermost first. *ret_approximate: Python and native frames do not fit exactly. -ENOMEM. */
int must_check heapsymbols_stack(struct heapsymbols *n, const struct heapregion_stack *s,
				 uint32_t ids[static HEAPSYMBOLS_FRAMES], size_t *ret_n, bool *ret_approximate);
/* Number of files that were needed and are gone or replaced; *ret_first: path of the first one. */
size_t heapsymbols_missing(const struct heapsymbols *n, const char **ret_first);
