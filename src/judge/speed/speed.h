/*
 * What holds a job back, from what was seen of it (model/speed/speedfacts): findings in the order of what they cost,
 * each with the numbers it was seen by, what to do, and how much faster the job would be at most. Pure.
 *
 * Nothing is said of what was not seen: a job that nothing holds back has no finding. The speed-up is that of a job
 * which has its processors alone; where others want them too, a second one counts on a fair share.
 */
#pragma once

#include "model/host/finding.h"
#include "model/speed/speedfacts.h"

/* Sums over the job, also for showing what was looked at. */
struct speedview {
	const struct speedfacts *f;
	double run, queued, system; /* cores */
	double wanted; /* mean number of threads that ran or wanted to */
	double faults; /* a second */
	double cpus; /* that the job may use; at least 1 */
	double room; /* the same, under the quota */
	double others; /* threads outside the job that its gains are to be shared with; 0: none counted */
	bool beside; /* others counts; false: it is 0 */
	double least_cost; /* what costs less is not said */
	size_t lead; /* the process the others are judged by: the first main one */
};

void speedview_of(const struct speedfacts *f, struct speedview *ret);
/* Appends to ret and sorts it. */
void speed_judge(const struct speedfacts *f, struct findings *ret);
