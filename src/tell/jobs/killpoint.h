/*
 * What the guard saw when it ended a process, as looks of a job's series. The sampler looks once a second, so the peak
 * before a kill lies between two of its looks, and without these a picture of memory falls before the kill. Pure.
 */
#pragma once

#include "model/incident/incident.h"
#include "tell/store/series.h"

struct killpoint {
	int64_t time_unix_ms, freed_unix_ms; /* of the decision; when the victim's memory was back */
	uint32_t attempt;
	uint64_t job_bytes; /* of the whole job then; 0: not known */
	int32_t victim_rank; /* NO_RANK: none */
	pid_t victim_pid;
	uint64_t victim_bytes; /* of its own */
	uint32_t n;
	struct {
		int32_t rank;
		uint64_t own_bytes;
	} of[INCIDENT_CANDIDATES]; /* what the guard knew of the ranks; several of one rank are summed up */
};

/* False: it is no report of a kill for memory, or it lacks the numbers. */
bool killpoint_of(const struct incident *in, struct killpoint *ret);
/* The look at the decision and the one after the victim's death. last: the sampler's look before. */
void killpoint_looks(const struct killpoint *k, const struct series_sample *last, struct series_sample *ret_at,
		     struct series_sample *ret_after);
/* The same of the large processes of a job without ranks: what they had, the victim what the guard saw. */
void killpoint_large(const struct killpoint *k, const struct series_bulk *last, struct series_bulk *ret_at,
		     struct series_bulk *ret_after);
