/*
 * How long the steps of a job took, out of looks at how far its ranks are: steps between two looks count with their
 * mean. Counted once each, by the time of the look, so that whoever reads the same looks twice counts the same. Pure;
 * plain data.
 */
#pragma once

#include "base/base.h"

#define STEP_BUCKETS 15
#define STEP_TIMES_RANKS 65

extern const double step_bounds_s[STEP_BUCKETS];

/* A bucket counts the steps up to its bound, without those of the buckets before. */
struct step_histogram {
	uint64_t bucket[STEP_BUCKETS + 1]; /* the last one: longer than every bound */
	uint64_t count, sum_ns;
};

struct step_times {
	uint64_t until_ns; /* of the last look that was counted, monotonic */
	uint32_t attempt;
	uint32_t n;
	struct {
		int32_t rank;
		uint64_t step;
		uint64_t moved_ns; /* when it was first seen to be there */
	} of[STEP_TIMES_RANKS];
	struct step_histogram times;
};

/* n steps that took took_ns together. */
void step_histogram_add(struct step_histogram *h, uint64_t took_ns, uint64_t n);
/* A look begins; false: it was counted. A new attempt has no steps yet. */
bool step_times_begin(struct step_times *t, uint32_t attempt, uint64_t mono_ns);
/* A rank in this look. */
void step_times_take(struct step_times *t, int32_t rank, uint64_t step);
