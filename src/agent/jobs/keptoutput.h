/*
 * The kept output of all jobs of a state directory has a limit as well: the output of those that ended longest ago is
 * removed first. Reports, samples and profiles stay. Links are not followed.
 */
#pragma once

#include "base/base.h"

struct keptoutput_result {
	size_t jobs; /* whose output was removed */
	uint64_t bytes;
};

/* True of the names rank-*.out and rank-*.err. */
bool keptoutput_is(const char *name);
/* Removes the files rank-*.out and .err of an attempt's folder; returns the bytes of disk that they had. */
uint64_t keptoutput_remove(const char *attempt_dir);
/*
 * A job of this state directory ends, whose kept output has this many bytes. Sums up what is kept when an eighth of the
 * limit has come since the last time, and removes what is too much. most_bytes: UINT64_MAX for a tenth of the file
 * system, at most 4 GiB; 0: no limit. job: its id; its own output stays, as does that of jobs that run.
 */
void keptoutput_ended(const char *state_dir, const char *job, uint64_t bytes, uint64_t most_bytes,
		      struct keptoutput_result *ret);
