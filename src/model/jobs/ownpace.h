/*
 * How fast each rank's own steps go: now, and by its own past. Where nobody waits for the others, a rank becomes slow
 * alone, and only its own steps show it. Pure; plain data of bounded size. Times are monotonic ns.
 *
 * Marks are at least two seconds apart, each at a step, so that slow steps have their real rates. A pause lies between
 * two marks only. Steps that are counted anew, as those of an evaluation, are another loop: they have no past.
 */
#pragma once

#include "base/base.h"

#define OWNPACE_MARKS 64

struct ownpace {
	uint64_t n; /* marks so far; the newest is of[(n - 1) % OWNPACE_MARKS] */
	struct ownpace_mark {
		uint64_t at_ns, step;
	} of[OWNPACE_MARKS];
	uint64_t last_ns, last_step; /* the newest step, marked or not */
};

/* The rank is at this step since at_ns. */
void ownpace_take(struct ownpace *p, uint64_t at_ns, uint64_t step);

uint64_t ownpace_began_ns(const struct ownpace *p); /* the oldest mark that is kept; 0: there is none */

struct ownpace_rates {
	double now, before; /* steps a second */
	double oldest; /* of the first quarter of what is kept */
	bool keeps, slower; /* as before; slower than before, in each of the last looks. Neither: between the two */
	uint64_t since_ns; /* when its present rate began, as far as is known */
};

/* False: too little is known, or it made no step lately. */
bool ownpace_rates(const struct ownpace *p, uint64_t now_ns, struct ownpace_rates *ret);
