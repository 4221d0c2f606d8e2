/*
 * Recognises what other killers and supervisors write when they end a
 * process: systemd-oomd (252's wording and 260's), PID 1, earlyoom, nohang,
 * Meta's oomd, Ray (to 2.55, and the blocks of 2.56 to 2.60), Slurm, the kubelet and
 * container run-times. A line that is not exactly one of theirs is nobody's.
 *
 * Some reports take several lines, so lines are fed in order into a state.
 * Pure, allocates nothing; the caller owns the results. When they are full
 * the oldest makes room and is counted.
 */
#pragma once

#include "base/text.h"
#include "sense/death/facts.h"

struct killerlog {
	struct killer_line *out;
	size_t cap, n, dropped;
	const char *source; /* copied into each result */
	/* what earlier lines of a block said */
	pid_t nohang_pid;
	char nohang_name[32];
	bool ray_block;
	uint64_t ray_used_bytes, ray_total_bytes;
	double ray_ratio, ray_limit_ratio;
};

void killerlog_init(struct killerlog *k, const char *source, struct killer_line *out, size_t cap);
/* ident: the writer as the log names it, empty if unknown; text: its message, one line. */
void killerlog_line(struct killerlog *k, struct span ident, struct span text, int64_t time_unix_ms);
