/*
 * A recording of page faults as a set of sites that hold memory, so that growth is shown like a heap profile: amounts
 * are in `total`. Their intervals are those of a random count of samples, which is wider than the kernel's even
 * distances give. Pure.
 */
#pragma once

#include "model/heap/heapset.h"
#include "model/stacks/stackset.h"

/* faults: page faults that one sample stands for. *ret is the caller's; a lane becomes a process. -ENOMEM. */
int must_check heapgrowth_of(const struct stackset *s, uint32_t faults, struct heapset **ret);
