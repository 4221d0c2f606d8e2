/*
 * Looking into what is sorted: the first place that is not before something, or the number of items where all are.
 *
 *	size_t at = bisect(t->n, i, t->rows[i].pid < pid);
 *	return at < t->n && t->rows[at].pid == pid ? &t->rows[at] : NULL;
 *
 * is_before is an expression in i, true for the first items and false for all that follow; asked log2(n) times.
 */
#pragma once

#include "base/base.h"

#define bisect(n_items, i, is_before)                                                                                  \
	({                                                                                                             \
		size_t bisect_low = 0, bisect_high = (n_items);                                                        \
		while (bisect_low < bisect_high) {                                                                     \
			const size_t i = bisect_low + (bisect_high - bisect_low) / 2;                                  \
			if (is_before)                                                                                 \
				bisect_low = i + 1;                                                                    \
			else                                                                                           \
				bisect_high = i;                                                                       \
		}                                                                                                      \
		bisect_low;                                                                                            \
	})
