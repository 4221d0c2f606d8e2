/*
 * What was seen when the guard or the kernel ended a process for memory, as looks of a job's series. The sampler looks
 * once a second, so the peak before a kill lies between two of its looks, and without these a picture of memory falls
 * before the kill. Pure, but for killpoints_read.
 */
#pragma once

#include "model/incident/incident.h"
#include "tell/store/series.h"
#include "tell/store/store.h"

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

/* The newest kills of a job, the oldest of them first. */
struct killpoints {
	struct killpoint of[STORE_MEMORY_KILLS];
	size_t n;
};
/* Reports that cannot be read are left out. Or the store's error. */
int must_check killpoints_read(struct store *s, const char *job, struct killpoints *ret);

/* The records of a series one after the other, with the kills that lie between two of its looks. */
struct killwalk {
	const struct killpoints *kills; /* borrowed */
	size_t next;
	struct series_sample last; /* the latest look; n_lanes 0: none yet */
	struct series_bulk bulk; /* that belongs to it */
	struct series_sample at, after; /* of a kill: at the decision, and after the victim's death */
	struct series_bulk bulk_at, bulk_after; /* the large processes of a job without ranks, which belong to these */
	bool has_after; /* false: the next look came first */
};
/* The next kill before a time: its looks are in w. False: there is none. To be asked before killwalk_record. */
bool killwalk_next(struct killwalk *w, int64_t until_unix_ms);
void killwalk_record(struct killwalk *w, const struct series_record *record);
