/*
 * Activity counters of processes and of their threads, for callers that read the same ones repeatedly: processor time,
 * waiting for a processor, IO. From stat and io of /proc/PID, and stat, schedstat and io of /proc/PID/task/TID (kernel:
 * filesystems/proc.rst, scheduler/sched-stats.rst).
 *
 * Files are kept open between reads, within the given number of descriptors: a read is then one pread per file. A kept
 * file stays that of the process it was opened for: when its number is used again, it answers WORLD_GONE.
 *
 * IO counts read, write and similar calls on any descriptor, but not send and recv on sockets, poll, futex, memory maps
 * and RDMA. A call that fails with EAGAIN counts as a call and as no bytes. A child that was waited for has its sums
 * added to its parent's process (not to a thread).
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

struct procstats_io {
	uint64_t read_bytes, write_bytes; /* through calls: rchar, wchar */
	uint64_t read_calls, write_calls;
	uint64_t disk_read_bytes, disk_write_bytes;
};

struct procstats_process {
	pid_t pid, ppid;
	uint64_t start_ticks;
	char comm[16];
	char state; /* of the main thread: R S D T t Z X */
	uint32_t threads;
	uint64_t user_ns, system_ns; /* of all threads, also of those that ended */
	uint64_t reaped_ns; /* of children that were waited for */
	uint64_t major_faults;
	bool has_schedule; /* of the main thread alone */
	uint64_t main_run_ns, main_queued_ns; /* on a processor, and waiting for one */
	bool has_status; /* it has ended (state Z) and its status may be read */
	int32_t wait_status; /* as wait(2) says */
	bool has_io; /* reading it takes the rights of a tracer */
	struct procstats_io io;
};

struct procstats_thread {
	pid_t tid;
	uint64_t start_ticks;
	char comm[16];
	char state;
	uint64_t run_ns, queued_ns; /* on a processor, and waiting for one */
	uint64_t slices; /* number of times that it was put on a processor */
	bool has_schedule; /* the three above; else run_ns is from stat, in clock ticks */
	bool has_io;
	struct procstats_io io;
};

/* Parses /proc/PID/io. -EBADMSG. Pure. */
int must_check procstats_io_parse(struct span text, struct procstats_io *ret);
int must_check procstats_schedstat_parse(struct span text, struct procstats_thread *ret);

struct procstats;

/* most_fds: number of files kept open. NULL without memory. */
struct procstats *procstats_new(const struct world *w, size_t most_fds);
struct procstats *procstats_free(struct procstats *v);
/* Starts a round of reads: closes the files that the round before did not read. */
void procstats_round(struct procstats *v);
/* WORLD_GONE (also for zombies without stat), WORLD_DENIED. */
int must_check procstats_process_read(struct procstats *v, pid_t pid, struct procstats_process *ret);
/* Reads at most cap threads in the order of the kernel; *ret_n, the number of threads, may be larger. WORLD_GONE. */
int must_check procstats_threads_read(struct procstats *v, pid_t pid, struct procstats_thread *ret, size_t cap,
				      size_t *ret_n);
