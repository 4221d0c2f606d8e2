/* The inside of model/heapset: shared by its files, by nobody else. */
#pragma once

#include "model/heapset.h"
#include "model/stackset_parts.h"

const struct stackset *heapset_tree(const struct heapset *h);
/* What byte-seconds are multiplied with to be bytes on average; 1 of all other parts. */
double heapset_scale(const struct heapset *h, const struct heapset_want *want);
