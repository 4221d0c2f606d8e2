/* Which of the known words did somebody mean who mistyped one? Pure. */
#pragma once

#include "base/base.h"

/* How many letters are wrong, missing, too many or swapped; capped at 99 for long words. */
size_t nearest_distance(const char *a, const char *b);

/* Feed candidates one by one; best stays NULL when nothing comes near. */
struct nearest {
	const char *typed;
	const char *best; /* borrowed from the candidates */
	size_t distance;
};
void nearest_offer(struct nearest *n, const char *candidate);
