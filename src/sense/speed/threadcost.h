/*
 * What one thread has cost so far: processor time, waiting for a processor, switches, page faults. From stat, schedstat
 * and status of /proc/PID/task/TID (kernel: filesystems/proc.rst, scheduler/sched-stats.rst). And what decides how many
 * threads a process starts: the numeric libraries that it has loaded and the variables that it was started with.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/proc/maps.h"
#include "sense/speed/cputopo.h"
#include "sense/world.h"

struct threadcost {
	uint64_t run_ns, queued_ns; /* on a processor, and waiting for one */
	uint64_t slices; /* times that it was put on a processor */
	bool has_schedule; /* the three above; else run_ns is in clock ticks */
	uint64_t system_ns;
	uint64_t minor_faults, major_faults;
	uint64_t voluntary, involuntary; /* switches: it waited, or was taken off the processor */
	uint64_t block_ns; /* waiting for disks; stays 0 where the kernel does not count it (kernel.task_delayacct) */
	uint64_t start_ticks;
	uint32_t processor; /* where it last ran */
	char comm[16];
};

/* The parts of a thread's files. -EBADMSG. Pure. */
int must_check threadcost_stat_parse(struct span text, uint64_t ns_per_tick, struct threadcost *ret);
int must_check threadcost_status_parse(struct span text, struct threadcost *ret);
/* allowed: the processors that it may use, by the same file; may be NULL. WORLD_GONE. */
int must_check threadcost_read(const struct world *w, pid_t pid, pid_t tid, struct threadcost *ret,
			       struct cpuset_bits *allowed);
/*
 * The same, later, by one file where the thread has not run since: all that it cost is then what it was (but block_ns).
 * fd: its schedstat, where that is kept open, else -1. WORLD_GONE, also for another thread of that number.
 */
int must_check threadcost_again(const struct world *w, pid_t pid, pid_t tid, int fd, const struct threadcost *before,
				struct threadcost *ret);
/* The processors that a thread may use. WORLD_GONE, WORLD_ABSENT. */
int must_check threadcost_allowed_read(const struct world *w, pid_t pid, pid_t tid, struct cpuset_bits *ret);

/* Calls that read and write, of a process; reading them takes the rights of a tracer. WORLD_GONE, WORLD_DENIED. */
struct iocalls {
	uint64_t reads, writes;
	uint64_t read_bytes, write_bytes;
};
int must_check iocalls_read(const struct world *w, pid_t pid, struct iocalls *ret);

/* Libraries that start threads of their own. The value is a bit. */
enum threadlib {
	THREADLIB_OPENBLAS = 1,
	THREADLIB_MKL = 2,
	THREADLIB_GOMP = 4,
	THREADLIB_IOMP = 8, /* of Intel and LLVM */
	THREADLIB_TBB = 16,
	THREADLIB_TORCH = 32,
	THREADLIB_NUMBA = 64,
	THREADLIB_NUMEXPR = 128,
	THREADLIB_BLIS = 256,
};
/* The library that a mapped file is; 0: none of them. Pure. */
unsigned threadlib_of(const char *path);
/* Those that are mapped. Pure. */
unsigned threadlibs_of(const struct maps *m);
/* From its mapped files; reading them takes the memory lock of the process. WORLD_GONE, WORLD_DENIED. */
int must_check threadlibs_read(const struct world *w, pid_t pid, unsigned *ret);
