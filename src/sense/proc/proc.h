/*
 * One process, read from /proc/PID (kernel: filesystems/proc.rst).
 * Reading functions answer WORLD_GONE for a process that ended meanwhile and
 * WORLD_DENIED for one that vigil may not read; both are normal.
 *
 * Identity: a pid may be reused, so a process is (pid, start_ticks), the
 * start time in clock ticks since boot, field 22 of stat.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

#define PROC_COMM_MAX 32 /* 15 bytes for user tasks; kernel threads show more */

struct proc_id {
	pid_t pid;
	uint64_t start_ticks;
};

struct proc_stat {
	pid_t pid, ppid, pgrp, session;
	char state; /* R S D T t Z X I */
	char comm[PROC_COMM_MAX];
	uint64_t utime_ticks, stime_ticks, start_ticks;
	uint32_t threads;
	uint64_t minor_faults, major_faults;
	uint64_t reaped_ticks, reaped_faults; /* CPU time and minor faults of reaped children and their children */
	uint64_t size_bytes; /* of its address space; 0: none, or unknown */
	bool kernel_thread; /* PF_KTHREAD in flags */
};
/*
 * True if the process has ended. A process whose main thread ended alone (pthread_exit in main) is a zombie in stat,
 * but lives as long as its other threads, and its memory can be read through one of them only.
 */
static inline bool proc_is_over(const struct proc_stat *s)
{
	return s->state == 'X' || (s->state == 'Z' && s->threads <= 1);
}
/* The tid of a living thread of pid: pid itself unless that has ended; 0: none. Allocates nothing. */
pid_t proc_living_thread(const struct world *w, pid_t pid);
int must_check proc_stat_parse(struct span text, struct proc_stat *ret);
int must_check proc_stat_read(const struct world *w, pid_t pid, struct proc_stat *ret);
/* True while the process lives and its pid was not reused; ret is then its stat. Allocates nothing. */
bool proc_is_same(const struct world *w, struct proc_id id, struct proc_stat *ret);
/*
 * True once it was seen that it has ended: it is gone, a zombie, or another one has its pid. One that cannot be read
 * now, for want of descriptors or memory, has not.
 */
bool proc_has_ended(const struct world *w, struct proc_id id);
/* False: there is no such process here, or the thread is none of its: the number of one that ended may be another's. */
bool proc_has_thread(pid_t pid, pid_t tid);
/* The processor that a thread runs on, or last did. WORLD_GONE. */
int must_check proc_processor_read(const struct world *w, pid_t pid, pid_t tid, uint32_t *ret);

/*
 * How a zombie ended, as waitpid(2) tells it to its parent, which has not asked: the last column of its stat, which is
 * 0 for whoever may not trace it. -EBADMSG. Pure. proc_exit_read: WORLD_GONE.
 */
int must_check proc_exit_parse(struct span text, int *ret_status);
int must_check proc_exit_read(const struct world *w, pid_t pid, int *ret_status);

/* IO of the process, its ended threads and the children it waited for; reading it takes the rights of a tracer. */
struct proc_io {
	uint64_t read_call_bytes, write_call_bytes; /* rchar, wchar: through calls, cache and pipes included */
	uint64_t read_bytes, written_bytes; /* from and towards disks */
};
int must_check proc_io_read(const struct world *w, pid_t pid, struct proc_io *ret);

struct proc_statm {
	uint64_t size_pages, resident_pages, shared_pages;
};
int must_check proc_statm_parse(struct span text, struct proc_statm *ret);
int must_check proc_statm_read(const struct world *w, pid_t pid, struct proc_statm *ret);

struct proc_status {
	uid_t uid, euid;
	pid_t ns_pid; /* innermost pid namespace; equal to pid outside one */
	pid_t tracer;
	uint64_t rss_bytes, rss_anon_bytes, rss_file_bytes, rss_shmem_bytes;
	uint64_t swap_bytes, hugetlb_bytes, peak_rss_bytes, locked_bytes;
	uint64_t cap_effective;
	uint64_t handled; /* signals with a handler: bit n - 1 of signal n */
	bool has_memory; /* kernel threads and zombies have none */
};
int must_check proc_status_parse(struct span text, struct proc_status *ret);
int must_check proc_status_read(const struct world *w, pid_t pid, struct proc_status *ret);

struct proc_rollup {
	uint64_t rss_bytes, pss_bytes, pss_anon_bytes, pss_file_bytes, pss_shmem_bytes;
	uint64_t private_bytes; /* USS: Private_Clean + Private_Dirty + Private_Hugetlb */
	uint64_t shared_bytes, swap_bytes, swap_pss_bytes;
	uint64_t shared_dirty_bytes; /* of shared_bytes */
};
/* Walks page tables: 20 ms for 2 GiB of small pages. Never on the guard's path. */
int must_check proc_rollup_parse(struct span text, struct proc_rollup *ret);
int must_check proc_rollup_read(const struct world *w, pid_t pid, struct proc_rollup *ret);

/*
 * The name by which people know a program that gives its main thread another: torchrun calls itself "pt_elastic".
 * Others are returned as they are.
 */
const char *proc_known_as(const char *comm);
/* Arguments joined by blanks; "[comm]" if there are none. Cut to cap. */
int must_check proc_command_read(const struct world *w, pid_t pid, char *dst, size_t cap);
/* The same as they are: each with its NUL, nothing masked. For values that vigil looks up, never to be shown whole. */
int must_check proc_arguments_read(const struct world *w, pid_t pid, char *dst, size_t cap, size_t *ret_len);
/*
 * One value of the auxiliary vector (getauxval(3)) of a 64-bit process; reading it takes the rights of a
 * tracer. WORLD_ABSENT: it has none of that type.
 */
int must_check proc_auxv_read(const struct world *w, pid_t pid, uint64_t type, uint64_t *ret);
/* environ as it was at exec: NUL-separated, cut to cap; *ret_len without a final NUL. */
int must_check proc_environ_read(const struct world *w, pid_t pid, char *dst, size_t cap, size_t *ret_len);
/* Value of NAME in such a block; empty p when absent. Pure. */
struct span environ_get(struct span block, const char *name);
int must_check proc_oom_score_adj_read(const struct world *w, pid_t pid, int *ret);
