/*
 * One output channel of a rank: what the job writes goes to vigil's own stdout or stderr unchanged, and into the rank's
 * log. A log that cannot be written (disk full) stops being written, which is reported once; the output still passes.
 * If our reader goes away (closed pipe), the job's end is closed as well, so that the job sees what it would have seen
 * without vigil.
 */
#pragma once

#include "agent/run/keptlog.h"
#include "agent/run/outbuf.h"
#include "base/base.h"

#define TEE_LAST_LINE 256

struct tee {
	int from_fd;   /* the job's output, non-blocking; -1 when closed */
	struct outbuf *to; /* borrowed; other channels write there too */
	bool polled;   /* used by the owner: from_fd is being polled */
	int log_fd;    /* -1: not kept */
	struct keptlog kept; /* what is in the log; set by the owner */
	uint64_t bytes;
	bool log_failed; /* set when writing the log failed; the caller says so */
	int log_errno;
	char last[TEE_LAST_LINE]; /* the last line that was not empty */
	size_t last_len;
	char line[TEE_LAST_LINE];
	size_t line_len;
};

void tee_open(struct tee *t, int from_fd, struct outbuf *to, int log_fd);
/* Move what is there; nothing while the buffer is full. False at the end of the job's output. */
bool tee_pump(struct tee *t);
/*
 * The last writer has ended: move what is still on its way until the deadline, and close. A full buffer takes it too,
 * since a pipe holds little.
 */
void tee_finish(struct tee *t, uint64_t (*mono_ns)(void), uint64_t until_ns);
void tee_close(struct tee *t);
/* Hash of the last line with its digits; false when nothing was printed. */
bool tee_last_line_hash(const struct tee *t, uint64_t *ret);
