/*
 * Numbers of programs that one parent has started side by side, under whatever name: "worker.py --id 2 --of 4", or
 * WORKER_ID=2 and NUM_WORKERS=4 in the environment. They are what these programs' arguments or variables differ in: a
 * number that is another one in each, from 0 to n - 1, beside one that is n in all, unless its name says enough, or
 * they are found to be linked with each other.
 * Seeds, folds and ports of a sweep are no such numbers, nor is a size that the parent has in its own
 * environment.
 *
 * Pure. Source: docs/decisions/0024.
 */
#pragma once

#include "base/text.h"

#define SIBLINGS_MOST 256 /* of more nothing is said */

struct siblings_one {
	struct span arguments, environment; /* NUL-separated, as the kernel shows them; what is cut off is not seen */
};

/* Equal for programs whose arguments differ in nothing but digits. 0: no arguments. */
uint64_t siblings_shape(struct span arguments);
enum siblings {
	SIBLINGS_NONE, /* they have no numbers */
	SIBLINGS_IF_LINKED, /* nothing but the numbers themselves: a sweep, or ranks that are linked with each other */
	SIBLINGS_RANKS,
};

/* Sets ret_number[i] of each, unless it is NONE. All are of one shape. */
enum siblings siblings_number(const struct siblings_one *all, size_t n, struct span parent_environment,
			      int32_t *ret_number);
