/*
 * All processes of the machine in one scan: their parents and the memory that
 * each holds. This is the guard's view, so it is made to be cheap and
 * steady: a BPF task iterator when its descriptor is given (0.4 us a process),
 * else /proc (stat and statm, 5 to 20 us a process). No allocation after
 * tasks_init; rows beyond cap are dropped and counted.
 *
 * A row is a process that has memory: kernel threads and zombies are left out. A process whose main thread ended alone
 * is listed from /proc, but not from BPF.
 * Both sources read counters that the kernel keeps apart for each processor
 * and adds up now and then, so a row may be wrong by some hundred KiB on a
 * small machine and by up to 128 MiB on one with 128 processors. A caller
 * that is about to end a process reads its exact size first (proc_status_read).
 */
#pragma once

#include <sys/types.h>

#include "sense/proc/proc.h"
#include "sense/world.h"

struct task_row {
	pid_t pid, ppid; /* thread group leaders only */
	uint64_t start_ticks;
	/* Under /proc shared memory cannot be told from files: it is in rss_file_bytes, and has_split is false. */
	uint64_t rss_anon_bytes, rss_file_bytes, rss_shmem_bytes, swap_bytes;
	uint64_t cpu_ticks; /* user + system, of the leader thread under BPF, of all threads under /proc */
	int16_t oom_score_adj;
	bool has_adj;
	bool alarm_set; /* alarm(2) or setitimer(2) will signal it; false under /proc, which does not tell */
	bool has_split; /* rss_shmem_bytes and swap_bytes are known */
	char comm[16];
	/* Number of pages for which rss_shmem_bytes was read by its user (proc_status_read); 0: it was not. */
	uint32_t apart_pages;
};

static inline uint64_t task_own_bytes(const struct task_row *t)
{
	return t->rss_anon_bytes; /* RSS without shared memory: the memory that ending it would free. */
}
static inline uint64_t task_rss_bytes(const struct task_row *t)
{
	return t->rss_anon_bytes + t->rss_file_bytes + t->rss_shmem_bytes;
}

enum tasks_source { TASKS_PROC, TASKS_BPF };

struct tasks {
	enum tasks_source source; /* source of the last scan; after a BPF scan that fails, /proc is read */
	int iter_link_fd; /* borrowed: bpf link of an iter/task program; -1 without */
	struct task_row *rows; /* sorted by pid after a scan */
	size_t n, cap;
	size_t dropped; /* rows that did not fit in the last scan */
	char *scratch;  /* read buffer */
	size_t scratch_cap;
};

/* Allocates for cap rows once. iter_link_fd -1: read /proc. */
int must_check tasks_init(struct tasks *t, size_t cap, int iter_link_fd);
void tasks_done(struct tasks *t);
/* WORLD_ABSENT without any source. On failure there are no rows. */
int must_check tasks_scan(struct tasks *t, const struct world *w);
/*
 * Reads these processes again from /proc after a scan. A new process gets a row, an ended one loses it; all other rows
 * stay unchanged. Adds no row once all are in use.
 */
void tasks_refresh(struct tasks *t, const struct world *w, const pid_t *pids, size_t n);
/*
 * Reads the sizes alone (statm) of a process that has a row. False: it has none, has ended, or has no memory of its
 * own: tasks_refresh tells. The parts of what is shared stay as they are while their sum does not change.
 */
bool tasks_resize(struct tasks *t, const struct world *w, pid_t pid);
/* Row of a pid, by binary search; NULL if absent. */
const struct task_row *tasks_find(const struct tasks *t, pid_t pid);
