/*
 * The memory that samples stand for, and its error.
 *
 * A block of Z bytes is sampled with probability p = 1 - exp(-Z / R) and then stands for w = Z / p bytes: sums of w
 * are unbiased, with the variance sum of w (w - Z). Blocks much larger than R are exact. The interval is the score
 * interval of a count whose items were each seen with probability p; it is asymmetric for few samples. The asymmetry
 * depends on the mean of w (1 - p) over the uncertain part (sum of w^2 (1 - p)^2 over u = sum of w (1 - p)): a whole
 * weight for small blocks, 0 for blocks that are almost never missed.
 */
#pragma once

#include "base/base.h"

struct heap_amount {
	double bytes, objects; /* estimates */
	double variance; /* of bytes; square bytes */
	double chance_bytes; /* u above; below 0: unknown, all of bytes is assumed */
	double lean; /* sum of w^2 (1 - p)^2; 0: unknown, all of each weight is assumed uncertain */
	double above_bytes; /* upper bound of what is missing, as a peak is recorded in steps */
	uint64_t samples;
};

struct heap_interval {
	double low, high; /* bytes */
};

void heap_amount_add(struct heap_amount *to, const struct heap_amount *a);
/* A share (0 to 1) of an amount, in proportion. */
struct heap_amount heap_amount_part(const struct heap_amount *a, double share);
/* An amount with each block scaled by factor. */
struct heap_amount heap_amount_times(const struct heap_amount *a, double factor);
double heap_amount_sigma(const struct heap_amount *a);
/* The 95 % interval. */
struct heap_interval heap_amount_interval(const struct heap_amount *a);

/*
 * Whether memory of one stack grows steadily. Points are the live bytes at several moments, or the bytes alive now by
 * their time of allocation; in order of time, without the youngest (recent allocations are no leak yet).
 */
struct heap_point {
	double at_s;
	double bytes;
};
#define HEAP_LEAK_POINTS 10 /* number of moments that a profile without snapshots is cut into */
struct heap_leak {
	bool valid; /* there are enough points */
	double bytes_per_s; /* least squares */
	double score; /* 0: no growth, or growth in one step; 1: equal growth in each interval */
	double grown_bytes; /* from the first point to the last */
};
#define HEAP_LEAK_SCORE 0.4 /* minimum score of a leak */
struct heap_leak heap_leak_of(const struct heap_point *points, size_t n);
