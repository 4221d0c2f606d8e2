/*
 * `vigil heap -o NAME.heap`: the profiles as they are at this moment, to be
 * looked at or compared with later. Of one process a file, of several a folder.
 */
#pragma once

#include "base/fault.h"
#include "model/heap/heapset.h"

/* *ret_n: so many were copied. -EINVAL of what has no profile to copy; the fault says what failed. */
int must_check heap_save(const struct heapset *h, const struct heapset_want *want, const char *to, size_t *ret_n,
			 struct fault *f);
