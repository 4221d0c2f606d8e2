/*
 * What the processes of a job have used, added up by rank: from two looks at
 * all processes to sums that only grow. Pure.
 *
 * The kernel hands what a process used on to its parent when the parent waits
 * for it: CPU time into counters of their own, IO into the parent's counters.
 * So a child that ended between two looks is not lost, and what of it was
 * counted already is not counted twice. A parent that lets the kernel reap its
 * children (SIGCHLD ignored) inherits nothing: what such a child used after
 * the last look before its end stays unknown.
 *
 * Source: proc_pid_stat(5), proc_pid_io(5); kernel/exit.c, wait_task_zombie.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "sense/rank.h"

enum usage_io { USAGE_READ, USAGE_WRITTEN, USAGE_READ_CALLS, USAGE_WRITE_CALLS, USAGE_IO_MAX };

struct usage_process {
	pid_t pid, ppid;
	uint64_t start_ticks;
	int32_t rank; /* NO_RANK */
	bool young; /* it started after the look before: all it used is new */
	bool has_io;
	uint64_t cpu_ns; /* its own */
	uint64_t reaped_cpu_ns; /* of the children it waited for */
	uint64_t reaped_faults; /* their page faults: a child that was waited for had some */
	uint64_t own_bytes, rss_bytes;
	uint64_t io_bytes[USAGE_IO_MAX]; /* children that were waited for included */
};

struct usage_lane {
	int32_t rank;
	bool has_io; /* of at least one process IO could be read */
	uint32_t processes;
	uint64_t own_bytes, rss_bytes; /* as of the last look */
	uint64_t cpu_ns, io_bytes[USAGE_IO_MAX]; /* since the first look; only grow */
};

#define USAGE_LANES 65 /* 64 ranks, and one for what has no rank or a 65th; that one comes first */

struct usage {
	struct usage_lane lane[USAGE_LANES];
	size_t n;
};

/* was, now: sorted by pid, each pid once. was empty: the first look, nothing but memory is counted. */
void usage_step(struct usage *u, const struct usage_process *was, size_t n_was, const struct usage_process *now,
		size_t n_now);
/* CPU time of all lanes. */
uint64_t usage_cpu_ns(const struct usage *u);
