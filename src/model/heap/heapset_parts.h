/* The inside of model/heap/heapset: shared by its files, by nobody else. */
#pragma once

#include "model/heap/heapset.h"
#include "model/stacks/stackset_parts.h"

const struct stackset *heapset_tree(const struct heapset *h);
/* malloc'ed: of each process whether it is in what is wanted; of peaks only those that lived together. NULL: no memory. */
bool *heapset_chosen(const struct heapset *h, const struct heapset_want *want);
/* What byte-seconds are multiplied with to be bytes on average; 1 of all other parts. */
double heapset_scale(const struct heapset *h, const struct heapset_want *want);
