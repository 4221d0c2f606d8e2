/*
 * How fast a job's steps usually go, so that the present rate can be told as usual or not: the median of the rates that
 * the attempt itself had before. Pure; plain data of bounded size. Steps are those of the rank that is behind.
 *
 * Marks are at least ten seconds apart, and only where a step was made, so that a job of slow steps has its real rates.
 * Where there are too many, every other one is dropped: the whole attempt counts, however long it is. A pause for an
 * evaluation or a checkpoint lies between two marks only, and moves the median little.
 *
 * A job that became slow a few seconds after its start has been slow for most of its time. In the first half hour the
 * rate of its first marks is the usual one where that is twice the median.
 */
#pragma once

#include "base/base.h"

#define STEPPACE_MARKS 64
/* Less than this is no habit: with fewer steps, or within a shorter time, nothing is said to be usual. */
#define STEPPACE_LEAST_STEPS 20
#define STEPPACE_LEAST_MS (INT64_C(2) * 60 * 1000)
/* The present: what is newer is not counted as usual. Present rates are told over this time. */
#define STEPPACE_NOW_MS (INT64_C(60) * 1000)
#define STEPPACE_START_MS (INT64_C(30) * 60 * 1000)

struct steppace {
	uint32_t attempt;
	uint32_t n;
	int64_t gap_ms; /* between marks, at least */
	int64_t last_ms; /* of what was taken last; 0: nothing was */
	uint64_t step, made; /* the last step; the steps that were made, through all epochs */
	int64_t first_ms; /* of the first mark */
	double start_per_s; /* between the first two marks; 0: fewer than STEPPACE_LEAST_STEPS were made then */
	struct steppace_mark {
		int64_t unix_ms;
		uint64_t made;
	} of[STEPPACE_MARKS];
};

/* How far the job is at a time. A new attempt begins anew; a step that goes back is an epoch that begins. */
void steppace_take(struct steppace *p, uint32_t attempt, int64_t unix_ms, uint64_t step);
/* Steps a second; 0: too little is known. */
double steppace_usual(const struct steppace *p);
