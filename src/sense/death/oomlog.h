/*
 * Combines the lines of the kernel's OOM report into kill records, in every form seen from Linux 3.x to 6.18
 * (mm/oom_kill.c, mm/memcontrol.c): the kill line alone (the kernel prints at most ten reports in 5 s), the summary
 * line (5.0 and later), "Task in … killed as a result of limit of …" (before 5.0), announcements ("Kill process … or
 * sacrifice child"), kills of whole groups, the task table with the columns that its header names, the reaper.
 *
 * Reports do not overlap in the log (the kernel holds a lock), but other messages may stand between their lines, so
 * unknown lines are skipped.
 *
 * Feed lines oldest first. Pure, allocates nothing; the caller owns the array of records. When the array is full, the
 * oldest record is removed and counted in dropped.
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
	/* State of the report that is being read. */
	struct kernel_kill cur;  /* values from the lines before the kill line */
	bool open;
	bool used;               /* the first kill line of the report has come */
	bool announced;          /* "Kill process …" seen: the next kill belongs to cur, whatever its pid */
	pid_t chosen;            /* pid in the summary or the announcement; 0: unknown */
	bool group;              /* memory.oom.group is set: further kills belong to cur */
	enum oomlog_column columns[OOMLOG_COLUMNS];
	size_t n_columns;
};

void oomlog_init(struct oomlog *o, uint64_t page_bytes, struct kernel_kill *out, size_t cap);
/* text: one message without its prefix (logprefix, kmsg_unescape). time_unix_ms 0: unknown. */
void oomlog_line(struct oomlog *o, struct span text, int64_t time_unix_ms);
/* Parses a kill line alone. False: text is no kill line. Pure. */
bool oomlog_kill_parse(struct span text, struct kernel_kill *ret);
