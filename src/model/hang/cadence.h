/*
 * How often a rank usually prints: learned from when its lines were seen to
 * come, and how long it must have been silent for that to mean something. A
 * silence that it has had before (an evaluation each epoch) is a part of its
 * habits. Times: seconds, and nanoseconds of the looks. Plain data, zeroed at
 * first; no allocation.
 */
#pragma once

#include "base/base.h"

#define CADENCE_GAPS 64
/* No silence is missed before. */
#define CADENCE_LEAST_NS (60 * NS_PER_S)

struct cadence {
	float gap_s[CADENCE_GAPS]; /* between two looks that saw new lines, newest at (n_gaps - 1) % CADENCE_GAPS */
	uint64_t n_gaps;
	float most_s; /* the longest of all */
	uint64_t last_ns; /* when lines were last seen to come; 0: never */
};

/* New lines were seen at this look. */
void cadence_lines(struct cadence *c, uint64_t now_ns);
/*
 * Regular enough, over lines enough, to be missed? Then also the usual time between lines, and after how much silence they are
 * missed.
 */
bool cadence_known(const struct cadence *c, double *ret_usual_s, double *ret_missed_s);
/* Has it gone on for so long that what comes before a job's first step is over? */
bool cadence_is_old(const struct cadence *c);
