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
#define HEAPNAMES_FRAMES (2 * HEAP_FRAMES_MAX + 4)

struct heapnames;
/* Both borrowed. NULL: no memory. */
struct heapnames *heapnames_new(const struct world *w, struct frametab *frames);
struct heapnames *heapnames_free(struct heapnames *n);
static inline void heapnames_freep(struct heapnames **n)
{
	*n = heapnames_free(*n);
}
/* What follows is about this profile. pid: its process while it lives (as we number it), else 0. */
int must_check heapnames_begin(struct heapnames *n, const struct heapregion *r, pid_t pid);
/* ids: innermost first. *ret_approximate: Python and native frames did not quite fit. */
int must_check heapnames_stack(struct heapnames *n, const struct heapregion_stack *s,
			       uint32_t ids[static HEAPNAMES_FRAMES], size_t *ret_n, bool *ret_approximate);
/* Files that were needed and are gone or were replaced; path of the first. */
size_t heapnames_missing(const struct heapnames *n, const char **ret_first);
