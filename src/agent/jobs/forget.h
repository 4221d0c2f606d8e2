/*
 * Removes jobs that ended before a given time: their records in the store and
 * their folders of output and profiles in the state directory
 * (docs/formats/store.md). Running jobs and files of other programs are never
 * touched. Links are removed, not followed.
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"
#include "tell/store/store.h"

struct forgotten {
	size_t jobs, kept; /* removed; kept because they run or ended later */
	size_t folders; /* removed profiles of processes without a job */
	uint64_t bytes; /* disk space of the removed files */
};

struct forget_want {
	int64_t before_unix_ms; /* jobs that ended before this are removed */
	int64_t profiles_before_unix_ms; /* profiles of processes without a job that were changed before this are */
	/* True of a job that is not to be removed, though it seems to have ended before that: it runs. */
	bool (*stays)(void *ctx, const struct job *j);
	void *ctx;
};

/* When the job ended; of a lost one, which has no time of its end, when it started. */
int64_t forget_ended_unix_ms(const struct job *j);
/* Disk space of what forget_jobs would remove of this job, less its kept output (agent/jobs/keptoutput has that). */
uint64_t forget_job_bytes(int state_fd, const struct job *j);
/*
 * A job whose folder cannot be removed keeps its record, so that a second call tries again; the others go, and the call
 * returns the first error.
 */
int must_check forget_jobs(struct store *s, const char *state_dir, const struct forget_want *want,
			   struct forgotten *ret, struct fault *f);
