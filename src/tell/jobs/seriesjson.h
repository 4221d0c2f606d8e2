/* Points of a job's series as JSON: their times, and what its GPUs did ("vigil.series/1", "vigil.ranks/1"). */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "base/text.h"
#include "tell/store/series.h"

/* The i-th point's time, unix milliseconds. */
typedef int64_t seriesjson_time_fn(const void *ctx, size_t i);
/*
 * "times":[…],"gaps":[…] of so many points, without braces. A gap is a time in which nobody looked: more than a minute,
 * and than four times the distance of the points before.
 */
void seriesjson_times(seriesjson_time_fn *time_of, const void *ctx, size_t n, FILE *to);

struct seriesjson_want {
	int64_t from, to; /* unix milliseconds */
	uint64_t most; /* points */
};

/*
 * "times", "gaps" and "series" of the GPUs, without braces; a "note" where there is nothing. Of each part of the time
 * the mean of what they worked, and the most memory. text: a series file's; empty: there is none. -ENOMEM.
 */
int must_check seriesjson_gpus(struct span text, const struct seriesjson_want *want, FILE *to);
/*
 * Steps a second of a rank at each of n looks, "null,2.5,…" without brackets. Steps come by another process, which may
 * be late: so a look that finds none has the rate up to the next step, and a rate is over 3 s at least; at the begin
 * over what there is, a second at least. null: nobody can tell. -ENOMEM.
 */
int must_check seriesjson_step_rates(const struct series_sample *looks, const struct series_steps *steps, size_t n,
				     int32_t rank, FILE *to);
/* "gpu" of a rank; nothing if it has none. looks: the newest ones. */
void seriesjson_rank_gpus(const struct series_devices *looks, int32_t rank, struct js *o);
