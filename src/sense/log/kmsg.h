/*
 * The kernel's log as /dev/kmsg gives it (kernel: ABI/testing/dev-kmsg):
 * records "prio,seq,usec,flags[,…];text" with continuation lines that start
 * with a blank, one record a read().
 *
 * Each struct kmsg reads at a position of its own: it opens the world's
 * descriptor anew. Where that is refused (and for a recorded world, whose kmsg
 * is an ordinary file of records) it borrows the world's, with its one
 * position. Nothing here allocates and nothing blocks.
 *
 * Times: the kernel's log clock runs with CLOCK_MONOTONIC (neither counts
 * suspend), so the unix time of a record is its microseconds plus today's
 * difference between the two clocks, good to some ten milliseconds.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

#define KMSG_RECORD_MAX 8192 /* the kernel's own bound on one read */

struct kmsg_record {
	uint32_t priority; /* 0 emergency … 7 debug */
	uint32_t facility; /* 0: the kernel; others were written by programs */
	uint64_t seq;
	uint64_t mono_us;
	struct span text;  /* first line, still escaped; borrowed */
	struct span more;  /* continuation lines ("\n KEY=value"), may be empty */
};

/* One record. -EBADMSG if the head is not that of a record. Pure. */
int must_check kmsg_parse(struct span raw, struct kmsg_record *ret);
/* Undo the kernel's \xHH escapes into dst, cut to cap; returns the length. Control bytes become '?'. Pure. */
size_t kmsg_unescape(struct span text, char *dst, size_t cap);
/* The process that a line says was killed, crashed or is blocked; 0: none in particular. Pure. */
pid_t kmsg_subject(struct span line);
/* What to add to a record's time to get unix milliseconds. */
int64_t kmsg_unix_offset_ms(const struct world *w);
static inline int64_t kmsg_unix_ms(const struct kmsg_record *r, int64_t offset_ms)
{
	return (int64_t)(r->mono_us / 1000) + offset_ms;
}

/* "2026-11-20T10:04:41.123+00:00 kernel: text", as journalctl -o short-iso writes it: for those who want times. Pure. */
void kmsg_line_format(const struct kmsg_record *r, int64_t offset_ms, char *dst, size_t cap);

struct kmsg {
	int fd;
	bool owned;        /* fd is ours; else the world's */
	uint64_t next_seq; /* records below are skipped */
	uint64_t lost;     /* records the ring dropped before they were read */
	size_t len;        /* unread bytes in buf (recorded worlds only) */
	bool whole_reads;  /* the device: one record a read */
	char buf[KMSG_RECORD_MAX + 1];
};

enum kmsg_from { KMSG_FROM_END, KMSG_FROM_START };

/* WORLD_ABSENT (no kmsg), WORLD_DENIED (it answers EPERM: CAP_SYSLOG is missing). */
int must_check kmsg_open(const struct world *w, enum kmsg_from from, struct kmsg *ret);
void kmsg_close(struct kmsg *k);

typedef void kmsg_fn(const struct kmsg_record *r, void *data);
/*
 * Hand every record that is there to fn, at most max of them (a flood must not
 * keep us). Overwritten records are counted in k->lost. WORLD_DENIED.
 */
int must_check kmsg_drain(struct kmsg *k, size_t max, kmsg_fn *fn, void *data, size_t *ret_n);
