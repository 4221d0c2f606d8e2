/*
 * How much of a job's output is kept: all of it up to a limit, then each file's beginning and its end. What lies
 * between is taken out of the file as a hole (fallocate(2)): the file keeps its length and the end its place, so that
 * who reads the end sees nothing of it. On a file system without holes the file is cut back to its beginning and goes
 * on there.
 *
 * A job has one limit for all its ranks, streams and attempts; the fullest file gives first. Of the limit a quarter is
 * for beginnings. Sizes are bytes.
 */
#pragma once

#include "base/base.h"

/* Of a job. */
struct keptlogs {
	uint64_t most_bytes; /* 0: no limit */
	uint64_t kept_bytes;
	uint64_t former_bytes; /* of them, of earlier attempts */
	uint64_t quiet_bytes; /* nothing could be taken out: not tried again before there is as much as this */
	uint64_t left_out_bytes;
	bool said;
};

/* Of one file. job NULL: nothing is counted. */
struct keptlog {
	struct keptlogs *job; /* borrowed */
	uint64_t size_bytes;
	uint64_t hole_from, hole_to; /* equal: no hole */
};

/* So many bytes were appended to the file. */
void keptlog_wrote(struct keptlog *k, size_t n);
uint64_t keptlog_bytes(const struct keptlog *k);
/* True: something must be taken out. */
bool keptlogs_over(const struct keptlogs *job);
/* Takes a part out of this file, the fullest of its job. False: there was none to take, or it failed. */
bool keptlog_trim(struct keptlog *k, int fd);
/*
 * The attempt has ended and another begins. dir: the job's folder, in which the output of attempts before the last
 * one is removed, oldest first, until the new one has half of the limit.
 */
void keptlogs_next_attempt(struct keptlogs *job, const char *dir, uint32_t next);
