/*
 * How much memory some samples stand for, and how sure that is.
 *
 * A block of Z bytes is sampled with the chance p = 1 - exp(-Z / R) and then
 * stands for w = Z / p bytes: sums of w are unbiased, with the variance
 * sum of w (w - Z). What chance had no part in (blocks much larger than R)
 * is exact. The interval is the score interval of a count of which each was
 * seen with the chance p: with few samples it is lopsided, as it should be.
 * How much, is told by the mean of w (1 - p) over what chance had a part in
 * (sum of w^2 (1 - p)^2 over u = sum of w (1 - p)): a whole weight for small
 * blocks, nothing for those that are as good as never missed.
 */
#pragma once

#include "base/base.h"

struct heap_amount {
	double bytes, objects; /* estimates */
	double variance; /* of bytes; square bytes */
	double chance_bytes; /* u above; below 0: not known, all of bytes is taken */
	double lean; /* sum of w^2 (1 - p)^2; 0: not known, chance had all of each */
	double above_bytes; /* what was not met exactly may be so much more: a peak is renewed in steps */
	uint64_t samples;
};

struct heap_interval {
	double low, high; /* bytes */
};

void heap_amount_add(struct heap_amount *to, const struct heap_amount *a);
/* A part of it, like all of it: share from 0 to 1. */
struct heap_amount heap_amount_part(const struct heap_amount *a, double share);
/* Each block of it so many times as large. */
struct heap_amount heap_amount_times(const struct heap_amount *a, double factor);
double heap_amount_sigma(const struct heap_amount *a);
/* Covers the truth 19 times of 20. */
struct heap_interval heap_amount_interval(const struct heap_amount *a);

/*
 * Whether memory of one stack grows without end. Points are what lives of it
 * at several moments, or what lives now by the moment it came; in order of
 * time, without the youngest (what has just been allocated is no leak yet).
 */
struct heap_point {
	double at_s;
	double bytes;
};
#define HEAP_LEAK_POINTS 10 /* moments that a profile is cut into when there are no snapshots */
struct heap_leak {
	bool valid; /* enough points to tell */
	double bytes_per_s; /* least squares */
	double score; /* 0: it stands still, or came at once; 1: grew by the same in each interval */
	double grown_bytes; /* from the first point to the last */
};
#define HEAP_LEAK_SCORE 0.4 /* from here on it is called a leak */
struct heap_leak heap_leak_of(const struct heap_point *points, size_t n);
