/* Finds the known word that is most like a mistyped one. Pure. */
#pragma once

#include "base/base.h"

/* Number of letters that are wrong, missing, too many or swapped; 99 if a word is longer than 48 bytes. */
size_t nearest_distance(const char *a, const char *b);

/* Offer candidates one by one; best stays NULL when none comes near. Set typed before the first. */
struct nearest {
	const char *typed;
	const char *best; /* borrowed from the candidates */
	size_t distance;
};
void nearest_offer(struct nearest *n, const char *candidate);
