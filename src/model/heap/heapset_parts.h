/* Internals of model/heap/heapset, shared by its files. */
#pragma once

#include "model/heap/heapset.h"
#include "model/stacks/stackset_parts.h"

const struct stackset *heapset_tree(const struct heapset *h);
/*
 * By process: whether it belongs to the wanted part; for peaks only processes that lived together. Free with free();
 * NULL: out of memory.
 */
bool *heapset_chosen(const struct heapset *h, const struct heapset_want *want);
/* The factor from byte-seconds to the mean of the bytes; 1 for all parts except HEAPSET_LIFETIME. */
double heapset_scale(const struct heapset *h, const struct heapset_want *want);
