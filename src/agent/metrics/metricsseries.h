/*
 * What a job's series file says of its ranks: their last use, their steps, how long steps took. Read piece by piece: a
 * second call reads what was added since. When the file was thinned and replaced, it begins with the times of all steps
 * until then.
 */
#pragma once

#include "tell/metrics/metrics.h"
#include "tell/store/series.h"

struct metrics_series {
	char job[64];
	bool seen; /* in the present round */
	uint64_t device, inode, position; /* of the file, and how far it was read */
	uint32_t attempt;
	uint64_t last_sample_ns, last_steps_ns; /* what is not younger was counted */
	int64_t sampled_unix_ms;
	uint64_t group_bytes;
	struct metrics_rank rank[METRICS_RANKS];
	uint32_t n_ranks;
	struct step_times times;
};

/* dir: the job's folder. A file that is absent or cannot be read leaves everything as it was. */
void metricsseries_read(struct metrics_series *m, const char *dir);
/* When the file was last written; 0: unknown. */
int64_t metricsseries_changed_unix_ms(const char *dir);
/* The same of bytes: "text" as of series_reader_init. Pure. */
void metricsseries_take(struct metrics_series *m, struct span text);
