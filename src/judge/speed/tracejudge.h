/*
 * What a trace says of why a program is not faster: tasks that are too small, of unequal length, one after another or
 * all with one worker, and times in which nobody works. Pure.
 */
#pragma once

#include "model/host/finding.h"
#include "model/speed/tracefacts.h"

/* Sums that were judged, for showing what was looked at. */
struct tracesum {
	size_t rows, workers; /* rows with events; those of them that do the main work */
	size_t tasks; /* of the workers */
	double span_s; /* from the first begin to the last end */
	double any_s; /* in which at least one worker works */
	double busy_s; /* summed over the workers */
	double longest_s, median_s; /* of a task */
	double gap_s; /* median time between two tasks of a worker */
	double short_s; /* in which at least one worker is among short tasks, pauses of the usual length included */
	double best_s; /* the same tasks handed out to the workers, the longest first, without a pause */
	bool device; /* the workers are streams of GPUs */
};

/* facts: sealed. Findings are appended to ret and sorted. -ENOMEM. */
int must_check trace_judge(const struct tracefacts *facts, struct tracesum *ret_sum, struct findings *ret);
