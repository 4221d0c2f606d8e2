/*
 * How long memory lived between malloc and free. For each byte either its lifetime is known, or only that it is still
 * alive at its age. Live bytes are not short-lived: they count as ending at some time after their age (the estimate
 * of Kaplan and Meier, on a table of ages in doubling classes). So a site that keeps half of what it allocates has no
 * "90 % gone" at all.
 *
 * Pure. Weighted by bytes. Ages come from the clock of the sampler, which has steps of some milliseconds: means are
 * right, ages shorter than a step share one class.
 */
#pragma once

#include "base/base.h"

#define HEAP_LIFE_CLASSES 24 /* [0] < 0.5 ms, [1] < 1 ms, [j] < 2^(j-1) ms, [23] all longer: from 2097 s */
#define HEAP_LIFE_STEP_S 0.004 /* shorter lifetimes are indistinguishable */

struct heap_lives {
	double freed_bytes[HEAP_LIFE_CLASSES]; /* by lifetime */
	double alive_bytes[HEAP_LIFE_CLASSES]; /* by age */
	double freed_byte_s, alive_byte_s; /* sums of bytes times lifetime or age */
	double oldest_s; /* age of the oldest live byte */
	bool coarse; /* a part was counted in classes that span a factor of four */
};

/* A lifetime, or a lower bound of it. */
struct heap_life {
	bool known;
	bool at_least; /* the lifetime is longer than `seconds` */
	double seconds;
	double below_s; /* heap_lives_gone: the share is known to be gone by then; otherwise 0 */
};

/* The class of an age. */
size_t heap_life_class(double seconds);
/* The lower bound of a class. */
double heap_life_from_s(size_t class);
void heap_lives_add(struct heap_lives *to, const struct heap_lives *l);
/* The age by which this share (0 to 1) of the bytes was freed. */
struct heap_life heap_lives_gone(const struct heap_lives *l, double share);
/* The mean lifetime; at_least if some bytes outlived all that was observed. */
struct heap_life heap_lives_mean(const struct heap_lives *l);
/* The mean square of the lifetime or age so far, in s^2, for the error of sums over time. */
double heap_lives_mean_square(const struct heap_lives *l);
