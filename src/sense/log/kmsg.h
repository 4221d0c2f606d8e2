/*
 * Reads the kernel's log from /dev/kmsg (kernel: ABI/testing/dev-kmsg): records "prio,seq,usec,flags[,…];text" with
 * continuation lines that start with a blank, one record for each read().
 *
 * Each struct kmsg has a read position of its own, because it reopens the world's descriptor. If that is refused (the
 * descriptor came through sense/rightsdoor), it borrows that and begins at the oldest record each time, passing
 * over what it has read before; so it may be one of many of its process. For a recorded world, whose kmsg is an
 * ordinary file of records, it borrows the world's descriptor and shares its position. Nothing here allocates or
 * blocks.
 *
 * Times: the kernel's log clock runs with CLOCK_MONOTONIC (neither counts suspend). The unix time of a record is its
 * microseconds plus the present difference between the two clocks, accurate to about 10 ms.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

#define KMSG_RECORD_MAX 8192 /* the kernel's limit for one read */

struct kmsg_record {
	uint32_t priority; /* 0 emergency … 7 debug */
	uint32_t facility; /* 0: the kernel; others: programs */
	uint64_t seq;
	uint64_t mono_us;
	struct span text;  /* first line, still escaped; borrowed */
	struct span more;  /* continuation lines ("\n KEY=value"), may be empty */
};

/* Parses one record. -EBADMSG: it does not begin with the head of a record. Pure. */
int must_check kmsg_parse(struct span raw, struct kmsg_record *ret);
/*
 * Copies text to dst with the kernel's \xHH escapes undone, cut to cap; returns the length. Control bytes other than
 * tab become '?'. Pure.
 */
size_t kmsg_unescape(struct span text, char *dst, size_t cap);
/*
 * "python3[619]: segfault at 0 ip …", "traps: a.out[7] trap divide error ip:…": whose fault it is. A program calls
 * itself as it likes, in 15 bytes, too few for a number in brackets and what follows it: the first such is the
 * kernel's. Pure.
 */
bool kmsg_fault(struct span line, struct span *ret_name, pid_t *ret_pid);
/* The process that was killed, crashed or is blocked according to a line; 0: the line names none. Pure. */
pid_t kmsg_subject(struct span line);
/* The number to add to a record's time in milliseconds to get unix milliseconds. */
int64_t kmsg_unix_offset_ms(const struct world *w);
static inline int64_t kmsg_unix_ms(const struct kmsg_record *r, int64_t offset_ms)
{
	return (int64_t)(r->mono_us / 1000) + offset_ms;
}

/* "2026-11-20T10:04:41.123+00:00 kernel: text", the form of journalctl -o short-iso. Pure. */
void kmsg_line_format(const struct kmsg_record *r, int64_t offset_ms, char *dst, size_t cap);

struct kmsg {
	int fd;
	bool owned;        /* fd is closed by kmsg_close; false: it is borrowed from the world */
	uint64_t next_seq; /* records with a smaller number are skipped */
	uint64_t lost;     /* records the ring dropped before they were read */
	uint64_t first_seq; /* the oldest record that the last drain met */
	size_t len;        /* unread bytes in buf (recorded worlds only) */
	bool whole_reads;  /* each read returns one record (the device; false: a recorded file) */
	bool rewinds;      /* the position is others' as well: each drain begins at the oldest record */
	char buf[KMSG_RECORD_MAX + 1];
};

enum kmsg_from { KMSG_FROM_END, KMSG_FROM_START };

/*
 * WORLD_ABSENT: no kmsg. WORLD_DENIED: opening or reading needs CAP_SYSLOG, which is missing, and there is no
 * sense/rightsdoor, or it has not answered yet: a later call may succeed.
 */
int must_check kmsg_open(const struct world *w, enum kmsg_from from, struct kmsg *ret);
void kmsg_close(struct kmsg *k);

typedef void kmsg_fn(const struct kmsg_record *r, void *data);
/*
 * Calls fn for every available record, at most max of them, so that a flood of records cannot block the caller.
 * Overwritten records are counted in k->lost. WORLD_DENIED.
 */
int must_check kmsg_drain(struct kmsg *k, size_t max, kmsg_fn *fn, void *data, size_t *ret_n);
