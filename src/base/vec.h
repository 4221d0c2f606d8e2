/*
 * Growing arrays. The owner keeps the items, their number and their capacity in fields of its own, and asks for room
 * before it writes an item:
 *
 *	if (vec_room(&set->items, &set->cap, set->n + 1) < 0)
 *		return -ENOMEM;
 *	set->items[set->n++] = item;
 *
 * Room at least doubles, so that n items cost O(n) copies. The new part is not cleared. Free with free().
 */
#pragma once

#include "base/base.h"

/* items: address of the pointer to the first item (T **); cap: items that fit. 0, or -ENOMEM with both unchanged. */
#define vec_room(items, cap, need) vec_reserve((items), (cap), (need), sizeof(**(items)))

int must_check vec_reserve(void *items, size_t *cap, size_t need, size_t item_bytes);
