/*
 * How much memory a task of a bag will need, from what its finished tasks needed. Pure; bytes of own memory.
 *
 * Without sizes: the largest of the last few, or the 95th percentile where there are many. Where inputs are files and
 * the need follows their size (at least FORECAST_FIT tasks, correlation of 0.9 or more, sizes that differ by half), a
 * line through the points and the largest excess over it that was seen.
 */
#pragma once

#include "base/base.h"

#define FORECAST_POINTS 256
#define FORECAST_FIT 4

struct forecast_point {
	bool has_size;
	uint64_t size_bytes; /* of the task's input file */
	uint64_t peak_bytes;
};

/* Zeroed by its owner at start. */
struct forecast {
	struct forecast_point point[FORECAST_POINTS];
	uint64_t n; /* added in all; the last FORECAST_POINTS are kept */
};

void forecast_add(struct forecast *f, const struct forecast_point *p);
/* size_bytes NULL: the input is no file. False: no task has finished yet. */
bool forecast_of(const struct forecast *f, const uint64_t *size_bytes, uint64_t *ret_bytes);
