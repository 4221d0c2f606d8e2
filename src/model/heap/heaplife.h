/*
 * How long memory lived between malloc and free: of each byte asked for at
 * some place either when it went is known, or only that it lives still, since
 * so long. What lives still is no short life: it counts as one that ends some
 * time after its age (Kaplan and Meier's estimate, on a table of ages that
 * grow by halves and doubles). So a place that keeps half of what it takes
 * has no "90 % gone" at all.
 *
 * Pure. Weighted by bytes. Ages are as the sampler's clock tells them, which
 * goes in steps of some milliseconds: means are right, what is shorter than a
 * step is one class.
 */
#pragma once

#include "base/base.h"

#define HEAP_LIFE_CLASSES 24 /* [0] < 0.5 ms, [1] < 1 ms, [j] < 2^(j-1) ms, [23] all longer: 2097 s */
#define HEAP_LIFE_STEP_S 0.004 /* shorter ones cannot be told apart */

struct heap_lives {
	double freed_bytes[HEAP_LIFE_CLASSES]; /* by how long it had lived */
	double alive_bytes[HEAP_LIFE_CLASSES]; /* by how long it has lived so far */
	double freed_byte_s, alive_byte_s; /* the same, times that */
	double oldest_s; /* the longest that was lived by anything that lives still */
	bool coarse; /* some of it was counted in classes of four times each only */
};

/* A time that is reached, or that is longer than what could be seen. */
struct heap_life {
	bool known;
	bool at_least; /* it is more than that */
	double seconds;
	double below_s; /* of a share that is gone: it is known to be gone by then; 0 of others */
};

/* The class of an age. */
size_t heap_life_class(double seconds);
/* Where a class begins. */
double heap_life_from_s(size_t class);
void heap_lives_add(struct heap_lives *to, const struct heap_lives *l);
/* The age by which this share (0 to 1) of the bytes had gone. */
struct heap_life heap_lives_gone(const struct heap_lives *l, double share);
/* The mean, at_least where something outlived all that was seen. */
struct heap_life heap_lives_mean(const struct heap_lives *l);
/* The mean square of a life so far, in s^2, for the error of sums over time. */
double heap_lives_mean_square(const struct heap_lives *l);
