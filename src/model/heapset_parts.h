/* The inside of model/heapset: shared by its files, by nobody else. */
#pragma once

#include "model/heapset.h"
#include "model/stackset_parts.h"

const struct stackset *heapset_tree(const struct heapset *h);
