/*
 * Puts the lines of the kernel's OOM report together into kill records, for
 * every form seen from Linux 3.x to 6.18 (mm/oom_kill.c, mm/memcontrol.c):
 * the kill line alone (the report is rate-limited to ten in 5 s), with its
 * summary line (5.0 and later), with "Task in … killed as a result of limit
 * of …" (before), with announcements ("Kill process … or sacrifice child"),
 * group kills, the task table by its header's column names, the reaper.
 *
 * Reports do not overlap in the log (the kernel holds a lock), but other
 * messages stand between their lines, so unknown lines are passed over.
 *
 * Feed lines oldest first. Pure, allocates nothing; the caller owns the
 * records. When they are full the oldest makes room and is counted.
 */
#pragma once

#include "base/text.h"
#include "sense/death/facts.h"

#define OOMLOG_COLUMNS 16

enum oomlog_column { OOMLOG_OTHER, OOMLOG_TGID, OOMLOG_RSS, OOMLOG_ADJ, OOMLOG_NAME };

struct oomlog {
	struct kernel_kill *out;
	size_t cap, n, dropped;
	uint64_t page_bytes;
	/* the report being read */
	struct kernel_kill cur;  /* what is known before its kill line comes */
	bool open;
	bool used;               /* cur has got its first kill line */
	bool announced;          /* "Kill process …" seen: the next kill belongs to cur, whatever its pid */
	pid_t chosen;            /* of the summary or the announcement; 0 unknown */
	bool group;              /* memory.oom.group: further kills belong to cur */
	enum oomlog_column columns[OOMLOG_COLUMNS];
	size_t n_columns;
};

void oomlog_init(struct oomlog *o, uint64_t page_bytes, struct kernel_kill *out, size_t cap);
/* text: one message without its prefix (logprefix, kmsg_unescape). time 0: unknown. */
void oomlog_line(struct oomlog *o, struct span text, int64_t time_unix_ms);
/* The single kill line; false if it is none. */
bool oomlog_kill_parse(struct span text, struct kernel_kill *ret);
