/*
 * Output buffer in front of vigil's own stdout or stderr, whose reader may be slow or stuck (a pager that is not
 * scrolled). Writing never blocks: what the reader does not take is kept, in order, and offered again. While the buffer
 * is full, the job's output is not read; the job then waits as it would have without vigil.
 *
 * The file description behind stdout belongs to other processes too, so it is not made non-blocking: pipes and
 * terminals are opened a second time, sockets have a flag, and where neither works no more is written than certainly
 * fits.
 */
#pragma once

#include "base/base.h"

/* The buffer counts as full from this size on. */
#define OUTBUF_FULL_BYTES MIB

enum outbuf_kind {
	OUTBUF_PATIENT, /* files, which never block */
	OUTBUF_OPENED, /* opened a second time, non-blocking */
	OUTBUF_SOCKET,
	OUTBUF_SHARED, /* a pipe or terminal that could not be opened again */
};

struct outbuf {
	int fd; /* where it goes */
	bool ours; /* fd was opened by us and is closed by us */
	bool gone; /* the reader has gone */
	bool splices; /* splice(2) to it was not refused yet */
	bool terminal;
	bool file; /* a regular one */
	bool mid_line; /* what it was given last did not end a line (a progress bar) */
	bool *line; /* mid_line of what is written there: its own, or that of another buffer with the same target */
	bool blocked; /* it took nothing of what was spliced: wait until it can be written again */
	enum outbuf_kind kind;
	char *kept; /* what is kept: len bytes from kept + at on */
	size_t at, len, cap;
};

/* fd: borrowed. proc_fd: /proc, -1 without. Never fails: at worst writes may block. */
void outbuf_open(struct outbuf *o, int proc_fd, int fd);
void outbuf_close(struct outbuf *o);
/* Two buffers write to the same file: where one left a line unfinished the other knows. first: borrowed. */
void outbuf_same_target(struct outbuf *o, struct outbuf *first);
static inline bool outbuf_is_full(const struct outbuf *o)
{
	return o->len >= OUTBUF_FULL_BYTES || o->blocked;
}

/* True: something waits for the reader. */
static inline bool outbuf_waits(const struct outbuf *o)
{
	return !o->gone && (o->len > 0 || o->blocked);
}
/* True: a pipe's content can be moved there without being copied. */
static inline bool outbuf_splices(const struct outbuf *o)
{
	return o->splices && !o->gone;
}

/* Output is fast: a reader's pipe that is smaller takes 256 KiB from now on, which saves both of us waking up. */
void outbuf_grow(struct outbuf *o);

enum {
	OUTBUF_BROKEN = 1, /* the reader has gone */
	OUTBUF_NO_SPLICE,
};

/* Write all of it, now or later. Takes it even when full: the caller decides. */
int must_check outbuf_put(struct outbuf *o, const char *p, size_t n);
/* The same for whole lines of vigil's own: they begin at the begin of a line. */
int must_check outbuf_put_lines(struct outbuf *o, const char *p, size_t n);
/* Move up to n bytes from a pipe, while nothing is kept; *ret: how many. 0 of them: blocked, or the pipe is empty. */
int must_check outbuf_splice(struct outbuf *o, int pipe_fd, size_t n, size_t *ret);
/* Write what is kept, as far as the reader takes it. */
int must_check outbuf_push(struct outbuf *o);
