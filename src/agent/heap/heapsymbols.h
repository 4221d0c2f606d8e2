/*
 * Stacks of a heap profile made stacks of named frames: native addresses by
 * the modules that the profile lists, Python's by the code tables that it
 * holds, and the two put together as everywhere else (model/stacks/stackmerge).
 * Needs nothing of the process itself, so it works after its death.
 *
 * Names that were found are kept for the profiles of other processes.
 */
#pragma once

#include "model/stacks/frame.h"
#include "sense/heap/heapregion.h"
#include "sense/native/offline.h"

/* The most frames of one stack, with the notes on what was left out. */
#define HEAPSYMBOLS_FRAMES (2 * HEAP_FRAMES_MAX + 4)

struct heapsymbols;
/* Both borrowed. NULL: no memory. */
struct heapsymbols *heapsymbols_new(const struct world *w, struct frametab *frames);
struct heapsymbols *heapsymbols_free(struct heapsymbols *n);
static inline void heapsymbols_freep(struct heapsymbols **n)
{
	*n = heapsymbols_free(*n);
}
/* What follows is about this profile. pid: its process while it lives (as we number it), else 0. */
int must_check heapsymbols_begin(struct heapsymbols *n, const struct heapregion *r, pid_t pid);
/* ids: innermost first. *ret_approximate: Python and native frames did not quite fit. */
int must_check heapsymbols_stack(struct heapsymbols *n, const struct heapregion_stack *s,
				 uint32_t ids[static HEAPSYMBOLS_FRAMES], size_t *ret_n, bool *ret_approximate);
/* Files that were needed and are gone or were replaced; path of the first. */
size_t heapsymbols_missing(const struct heapsymbols *n, const char **ret_first);
