/*
 * The kept output of one attempt of a job: <log_dir>/attempt-<n>/rank-<r>.out and .err. Finds the files, begins at
 * their last lines, and hands out what is appended, line by line. Errors are -errno.
 */
#pragma once

#include "base/base.h"

enum { LOGFILES_OUT = 1, LOGFILES_ERR = 2 };

struct logfile {
	int32_t rank;
	bool err;
	int fd;
	uint64_t at;    /* offset of the first byte that was not handed out or kept in partial */
	char *partial;  /* a line whose end has not been read yet */
	size_t n_partial;
};

struct logfiles {
	char dir[320];
	uint32_t attempt;
	struct logfile *files; /* by rank, out before err */
	size_t n, cap;
};

/* The highest number of an attempt below log_dir. -ENOENT: there is none. */
int must_check logfiles_newest(const char *log_dir, uint32_t *ret_attempt);
/*
 * Open the files of an attempt: of one rank, or of all if rank is -1; streams: LOGFILES_… bits. A second call adds the
 * files that have appeared since.
 */
int must_check logfiles_open(struct logfiles *l, const char *log_dir, uint32_t attempt, int32_t rank, unsigned streams);
void logfiles_done(struct logfiles *l);
/* Hand out only the last `lines` lines of what the file has now, and all that follows. */
int must_check logfiles_tail(struct logfile *f, uint64_t lines);

typedef int logfiles_fn(void *ctx, const struct logfile *f, const char *text, size_t len);
/*
 * Hand out what is new: whole lines (with their newline), or any bytes when raw; with last, also a line that was never
 * ended. fn returns 0 to go on; otherwise the result is -ECANCELED.
 */
int must_check logfiles_read(struct logfile *f, bool raw, bool last, logfiles_fn *fn, void *ctx);
