/*
 * Recognises what other killers and supervisors write when they end a process: systemd-oomd (the wordings of 252 and
 * 260), PID 1, earlyoom, nohang, Meta's oomd, Ray (to 2.55, and the blocks of 2.56 to 2.60), Slurm, the kubelet and
 * container run-times. A line that does not have exactly one of their forms is ignored.
 *
 * Some reports take several lines, so lines are fed in order into a state. Pure, allocates nothing; the caller owns
 * the array of results. When the array is full, the oldest result is removed and counted in dropped.
 */
#pragma once

#include "base/text.h"
#include "sense/death/facts.h"

struct killerlog {
	struct killer_line *out;
	size_t cap, n, dropped;
	const char *source; /* copied into each result */
	/* Values from earlier lines of the same report. */
	pid_t nohang_pid;
	char nohang_name[32];
	bool ray_block;
	uint64_t ray_used_bytes, ray_total_bytes;
	double ray_ratio, ray_limit_ratio;
};

void killerlog_init(struct killerlog *k, const char *source, struct killer_line *out, size_t cap);
/*
 * ident: the writer as the log names it, empty if unknown; text: its message, one line; time_unix_ms: when it was
 * written, 0 if unknown.
 */
void killerlog_line(struct killerlog *k, struct span ident, struct span text, int64_t time_unix_ms);
