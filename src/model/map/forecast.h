/*
 * How much memory a task of a bag will need, from what its finished tasks needed. Pure; bytes of own memory.
 *
 * What is expected is the mean peak of the last tasks, of those alone that needed at least what this one holds already;
 * of a few, the largest. Where inputs are files and the need follows their size (at least FORECAST_FIT tasks,
 * correlation of 0.9 or more, sizes that differ by half), it is a line through the points.
 *
 * A task does not hold its peak all the time. The share is what tasks held on average, over their peaks: the lower it
 * is, the more of them fit beside each other, since they do not peak at once.
 */
#pragma once

#include "base/base.h"

#define FORECAST_POINTS 256
#define FORECAST_FIT 4

struct forecast_point {
	bool has_size;
	uint64_t size_bytes; /* of the task's input file */
	uint64_t peak_bytes;
	uint64_t average_bytes; /* over its life; 0: it was not looked at often enough */
};

/* Zeroed by its owner at start. */
struct forecast {
	struct forecast_point point[FORECAST_POINTS];
	uint64_t n; /* added in all; the last FORECAST_POINTS are kept */
};

struct forecast_need {
	uint64_t expected_bytes;
	uint64_t spread_bytes; /* standard deviation */
};

void forecast_add(struct forecast *f, const struct forecast_point *p);
/*
 * size_bytes NULL: the input is no file. held_bytes: of a task that runs, so far; else 0. False: no task has finished
 * yet.
 */
bool forecast_of(const struct forecast *f, const uint64_t *size_bytes, uint64_t held_bytes, struct forecast_need *ret);
/* Between a half and 1; 1 while nothing is known. */
double forecast_share(const struct forecast *f);
