/*
 * How the processors of the machine spend their time: /proc/stat and /proc/vmstat (kernel: filesystems/proc.rst), and
 * how often a control group was held back by its quota: cpu.stat and cpu.max, or cpu.cfs_* of version 1 (kernel:
 * admin-guide/cgroup-v2.rst, scheduler/sched-bwc.rst). Counters since boot or since the group was made.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/speed/cputopo.h"
#include "sense/world.h"

struct cpustat {
	/* in clock ticks, over all processors */
	uint64_t busy, idle, iowait, steal;
	uint64_t cpu_idle[CPUTOPO_MAX]; /* of each, idle and iowait */
};
/* -EBADMSG. Pure. */
int must_check cpustat_parse(struct span text, struct cpustat *ret);
int must_check cpustat_read(const struct world *w, struct cpustat *ret);

/* The last words of /proc/loadavg, "3/512 8841". */
struct loadavg {
	uint64_t running; /* threads of the whole machine that run or want to, now */
	pid_t last_pid; /* the number that was given last, to a process or a thread, in the namespace of /proc */
};
/* -EBADMSG. Pure. */
int must_check loadavg_parse(struct span text, struct loadavg *ret);
int must_check loadavg_read(const struct world *w, struct loadavg *ret);

struct swapstat {
	uint64_t in_pages, out_pages;
};
/* WORLD_ABSENT: the kernel does not tell. */
int must_check swapstat_read(const struct world *w, struct swapstat *ret);

struct cpuquota {
	double cores; /* 0: none */
	uint64_t throttled_ns; /* summed over the processors */
	uint64_t periods, throttled; /* throttled: those of periods that the group was held back in */
	char group[256]; /* below the folder of the control groups */
};
/* cpu.max of version 2 ("200000 100000", "max 100000"). -EBADMSG. *ret is 0 without a quota. Pure. */
int must_check cpuquota_max_parse(struct span text, double *ret);
/*
 * The smallest quota over the groups of a process and those above. WORLD_GONE, WORLD_ABSENT: no group here counts
 * processor time, or all are out of sight.
 */
int must_check cpuquota_read(const struct world *w, pid_t pid, struct cpuquota *ret);
