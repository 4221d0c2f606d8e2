/*
 * `vigil heap -o NAME.heap`: copies the profiles as they are now, to be shown or compared later. One process gives a
 * file, several give a folder.
 */
#pragma once

#include "base/fault.h"
#include "model/heap/heapset.h"
#include "sense/world.h"

/* *ret_n: number of profiles to copy. -EINVAL if the set has none; the fault says what failed. */
int must_check heap_save(const struct world *w, const struct heapset *h, const struct heapset_want *want,
			 const char *to, size_t *ret_n, struct fault *f);
