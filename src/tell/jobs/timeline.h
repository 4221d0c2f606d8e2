/*
 * The timeline of a job as a Chrome trace: attempts, events and incidents,
 * the node's memory, and below them a lane for each rank with its processes,
 * what vigil did to it, and counters of CPU, memory and IO.
 *
 * From the store and the series file; either may have only a part. What is
 * kept in memory is bounded by the bound of the series file, whatever the
 * number of events. docs/json.md says what is in it.
 */
#pragma once

#include <stdio.h>

#include "base/base.h"
#include "base/text.h"
#include "model/jobs/job.h"
#include "model/speed/tracefacts.h"
#include "tell/store/store.h"

struct timeline_want {
	struct store *store; /* borrowed */
	const struct job *job;
	struct span series; /* a series file's text; empty: there is none */
	int64_t now_unix_ms; /* where a running job's spans end */
	bool running;
	const struct tracefacts *ray; /* of `ray timeline`, to be shown with it; NULL: none */
	size_t *ret_ray_tasks; /* how many of its tasks were while the job ran; NULL without ray */
	/* Attempts and incidents are told of the whole life, all else of this time; 0: from the begin, to the end. */
	int64_t from_unix_ms, to_unix_ms;
	/*
	 * For a picture of so many parts: of a counter one point a part (the most memory, means of rates), of events of
	 * a kind one in a quarter of a part, no process that lived shorter. What is left out is counted. 0: all.
	 */
	uint32_t points;
};

/* -errno of the store. Write errors stay in the stream (ferror). */
int must_check timeline_write(const struct timeline_want *want, FILE *to);
