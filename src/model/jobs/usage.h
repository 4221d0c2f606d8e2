/*
 * What the processes of a job have used, summed by rank: two successive samples of all processes are turned into sums
 * that only grow. Pure.
 *
 * When a parent waits for an ended child, the kernel adds the child's usage to the parent: CPU time to separate
 * counters, IO to the parent's own counters. So the usage of a child that ended between two samples is not lost, and
 * what was already counted of it is not counted twice. A parent that lets the kernel reap its children (SIGCHLD
 * ignored) inherits nothing: what such a child used after its last sample stays unknown.
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
	int32_t rank; /* NO_RANK: none */
	bool young; /* it started after the previous sample: all of its usage is new */
	bool has_io;
	uint64_t cpu_ns; /* its own */
	uint64_t reaped_cpu_ns; /* CPU time of the children it waited for */
	/* page faults of these children; greater than before: at least one child was waited for */
	uint64_t reaped_faults;
	uint64_t own_bytes, rss_bytes;
	uint64_t io_bytes[USAGE_IO_MAX]; /* including the children it waited for */
};

struct usage_lane {
	int32_t rank;
	bool has_io; /* IO of at least one process could be read */
	uint32_t processes;
	uint64_t own_bytes, rss_bytes; /* at the last sample */
	uint64_t cpu_ns, io_bytes[USAGE_IO_MAX]; /* since the first sample; only grow */
};

#define USAGE_LANES 65 /* 64 ranks; lane 0 is for processes without a rank and for further ranks */

struct usage {
	struct usage_lane lane[USAGE_LANES];
	size_t n;
};

/*
 * was, now: two samples, sorted by pid, each pid once. was empty: the first sample, of which only memory is counted
 * and the usage of young processes.
 */
void usage_step(struct usage *u, const struct usage_process *was, size_t n_was, const struct usage_process *now,
		size_t n_now);
/* CPU time of all lanes. */
uint64_t usage_cpu_ns(const struct usage *u);
