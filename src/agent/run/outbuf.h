/*
 * Where output goes to: vigil's own stdout or stderr, whose reader may be slow
 * or stuck (a pager that is not scrolled). Writing never waits: what the
 * reader does not take is kept, in order, and offered again when it can take
 * more. Whoever reads the job's output stops doing so while the outlet is
 * full; the job then waits as it would have without vigil.
 *
 * The file description behind stdout belongs to others too, so it is not made
 * non-blocking: pipes and terminals are opened a second time, sockets have a
 * flag, and where neither works no more is written than is sure to fit.
 */
#pragma once

#include "base/base.h"

/* So much is kept before the outlet calls itself full. */
#define OUTBUF_FULL_BYTES MIB

enum outbuf_kind {
	OUTBUF_PATIENT, /* files: they take everything */
	OUTBUF_OPENED, /* ours alone, non-blocking */
	OUTBUF_SOCKET,
	OUTBUF_SHARED, /* a pipe or terminal that could not be opened again */
};

struct outbuf {
	int fd; /* where it goes */
	bool ours; /* to be closed */
	bool gone; /* nobody reads any more */
	enum outbuf_kind kind;
	char *kept; /* from kept + at on, len bytes */
	size_t at, len, cap;
};

/* fd: borrowed. proc_fd: /proc, -1 without. Never fails: at worst it is patient. */
void outbuf_open(struct outbuf *o, int proc_fd, int fd);
void outbuf_close(struct outbuf *o);
static inline bool outbuf_is_full(const struct outbuf *o)
{
	return o->len >= OUTBUF_FULL_BYTES;
}

enum { OUTBUF_BROKEN = 1 }; /* the reader went away */

/* All of it, now or kept. Also takes it when full: up to the caller. */
int must_check outbuf_put(struct outbuf *o, const char *p, size_t n);
/* Offer again what is kept. */
int must_check outbuf_push(struct outbuf *o);
