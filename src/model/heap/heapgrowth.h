/*
 * A recording of page faults as a set of sites that hold memory, so that growth is shown like a heap profile; the
 * amounts are in `total`. Intervals are those of a random number of samples, which is wider than the regular distance
 * of the samples would give. Pure.
 */
#pragma once

#include "model/heap/heapset.h"
#include "model/stacks/stackset.h"

/* faults: page faults per sample. *ret belongs to the caller; each lane becomes a process. 0 or -ENOMEM. */
int must_check heapgrowth_of(const struct stackset *s, uint32_t faults, struct heapset **ret);
