/*
 * How often a rank usually prints, and after how long a silence is abnormal. Both are learned from the times at which
 * new lines were seen. A silence as long as an earlier one (an evaluation each epoch) is normal. Gaps are in seconds,
 * times in nanoseconds of CLOCK_MONOTONIC, as taken by the samples. Plain data, zeroed by its owner; no allocation.
 */
#pragma once

#include "base/base.h"

#define CADENCE_GAPS 64
/* Shortest silence that counts as abnormal. */
#define CADENCE_LEAST_NS (60 * NS_PER_S)

struct cadence {
	float gap_s[CADENCE_GAPS]; /* between two samples with new lines; newest at (n_gaps - 1) % CADENCE_GAPS */
	uint64_t n_gaps;
	float most_s; /* longest gap ever */
	uint64_t last_ns; /* time of the last sample with new lines; 0: none yet */
};

/* Records that the sample at now_ns saw new lines. */
void cadence_lines(struct cadence *c, uint64_t now_ns);
/*
 * True if at least 24 gaps were seen and they are regular. Then also the median gap, and the length of silence from
 * which it is abnormal. Both results are unchanged if false.
 */
bool cadence_known(const struct cadence *c, double *ret_usual_s, double *ret_missed_s);
/* True after 60 gaps: the output before a job's first step is over by then. */
bool cadence_is_old(const struct cadence *c);
