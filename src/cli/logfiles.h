/*
 * The kept output of one attempt of a job: <log_dir>/attempt-<n>/rank-<r>.out
 * and .err. Finding the files, beginning at their last lines, and handing out
 * what is appended, line by line.
 */
#pragma once

#include "base/base.h"

enum { LOGFILES_OUT = 1, LOGFILES_ERR = 2 };

struct logfile {
	int32_t rank;
	bool err;
	int fd;
	uint64_t at;    /* how far it has been shown */
	char *partial;  /* a line without its end yet */
	size_t n_partial;
};

struct logfiles {
	char dir[320];
	uint32_t attempt;
	struct logfile *files; /* by rank, out before err */
	size_t n;
};

/* The newest attempt below log_dir. -ENOENT: there is none. */
int must_check logfiles_newest(const char *log_dir, uint32_t *ret_attempt);
/*
 * Open what is there: ranks -1 for all, streams a mask. Called again it adds
 * files that have appeared since. Sorted.
 */
int must_check logfiles_open(struct logfiles *l, const char *log_dir, uint32_t attempt, int32_t rank, unsigned streams);
void logfiles_done(struct logfiles *l);
/* Begin at the last `lines` lines. */
int must_check logfiles_tail(struct logfile *f, uint64_t lines);

typedef int logfiles_fn(void *ctx, const struct logfile *f, const char *text, size_t len);
/*
 * Hand out what is new: whole lines (with their newline), or any bytes when
 * raw; with last, also a line that was never ended. fn returns 0 to go on.
 */
int must_check logfiles_read(struct logfile *f, bool raw, bool last, logfiles_fn *fn, void *ctx);
