/*
 * Control groups: which one a process is in, and the memory state of a group
 * and all its visible ancestors, for v1, v2 and hybrid layouts.
 * Sources: kernel admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
 *
 * Paths are relative to world->cgroup_fd and contain the hierarchy
 * ("memory/a/b" on v1, "a/b" or "unified/a/b" on v2), without a leading '/';
 * "." is the top itself (a v2 container sees its own group there).
 * All sizes in bytes; CGROUP_NO_LIMIT when there is no limit.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

#define CGROUP_PATH_MAX 512
#define CGROUP_MAX_LEVELS 12
#define CGROUP_TREE_LEVELS 64
#define CGROUP_NO_LIMIT UINT64_MAX

enum cgroup_version { CGROUP_NONE, CGROUP_V1, CGROUP_V2 };

/* Where this process's groups are mounted and named. Empty path: not visible. */
struct cgroup_place {
	enum cgroup_version memory_version;
	char memory[CGROUP_PATH_MAX];  /* group that charges memory */
	char freezer[CGROUP_PATH_MAX]; /* v1 freezer group, or the v2 group */
	char unified[CGROUP_PATH_MAX]; /* v2 group, also on hybrid */
	char pids[CGROUP_PATH_MAX];    /* group that counts processes and threads: of v1, else the v2 group */
	char cpu[CGROUP_PATH_MAX];     /* group that shares out processors: of v1, else the v2 group */
	char name[CGROUP_PATH_MAX];    /* as /proc/PID/cgroup says it, for reports */
};

/* cgroup_text: /proc/PID/cgroup; mountinfo_text: /proc/self/mountinfo. Pure. */
int must_check cgroup_place_parse(struct span cgroup_text, struct span mountinfo_text, struct cgroup_place *ret);
/* pid 0: ourselves. WORLD_GONE, WORLD_DENIED, WORLD_ABSENT (no cgroups at all). */
int must_check cgroup_place_read(const struct world *w, pid_t pid, struct cgroup_place *ret);

/* One sample of the memory of one group. */
struct cgroup_memory {
	uint64_t current_bytes; /* includes page cache */
	uint64_t max_bytes;     /* hard limit of this group, without those above it */
	uint64_t high_bytes;    /* v2 throttle limit; CGROUP_NO_LIMIT on v1 */
	uint64_t low_bytes;     /* protection (v2); 0 on v1 */
	uint64_t hierarchy_max_bytes; /* v1, full reading only: smallest limit from here to the root; 0: unknown */
	uint64_t swap_bytes;
	uint64_t swap_max_bytes;
	uint64_t anon_bytes, file_bytes, shmem_bytes;
	uint64_t active_file_bytes, inactive_file_bytes;
	uint64_t dirty_bytes, writeback_bytes;
	uint64_t slab_reclaimable_bytes, unevictable_bytes;
	uint64_t oom_kills;    /* processes killed in this subtree by an OOM killer */
	uint64_t max_events;   /* v2 memory.events max; v1 failcnt, with and without swap, of this group alone */
	uint64_t high_events;  /* v2 memory.events high */
	uint64_t oom_kills_local; /* v2 memory.events.local; else equal to oom_kills */
	bool has_stat, has_events;
	bool under_oom;        /* v1: tasks are waiting for memory right now */
};

/* memory.stat of either version ("total_" keys win on v1). Pure. */
int must_check cgroup_stat_parse(struct span text, enum cgroup_version v, struct cgroup_memory *m);
/* memory.events (v2) or memory.oom_control (v1). Pure. */
int must_check cgroup_events_parse(struct span text, enum cgroup_version v, struct cgroup_memory *m);
/* A number or "max"; 9223372036854771712 of v1 counts as no limit. Pure. */
int must_check cgroup_limit_parse(struct span text, uint64_t *ret_bytes);

/*
 * A group whose files are kept open, so that a reading costs one pread a
 * file and allocates nothing. Opened once; closed with cgroup_close.
 */
struct cgroup {
	enum cgroup_version version;
	char path[CGROUP_PATH_MAX];
	int dir_fd, current_fd, stat_fd, events_fd, events_local_fd, max_fd, high_fd, low_fd, swap_fd, swap_max_fd;
	int swap_failed_fd; /* v1: memory.memsw.failcnt */
	/* -1: this kernel has no such file. v1: events is memory.oom_control, events_local is memory.failcnt. */
};

/* WORLD_GONE, WORLD_DENIED; WORLD_ABSENT: a group whose memory is not counted (the v2 root). */
int must_check cgroup_open(const struct world *w, enum cgroup_version v, const char *path, struct cgroup *ret);
void cgroup_close(struct cgroup *g);
/*
 * Quick: current, limits, protection; swap_bytes and what is below it stay 0.
 * Full adds stat, swap and events. WORLD_GONE when the group was removed.
 */
int must_check cgroup_read_usage(const struct cgroup *g, struct cgroup_memory *ret);
int must_check cgroup_read_full(const struct cgroup *g, struct cgroup_memory *ret);
/* The most that the group has ever used. WORLD_ABSENT: v2 before Linux 5.19. */
int must_check cgroup_peak_read(const struct cgroup *g, uint64_t *ret_bytes);

/*
 * The group of `place` and every visible ancestor, innermost first. Ancestors
 * without a limit are left out, except the innermost, which is always there.
 * WORLD_ABSENT when no group on the way counts memory.
 */
struct cgroup_chain {
	struct cgroup level[CGROUP_MAX_LEVELS];
	size_t n;
};
int must_check cgroup_chain_open(const struct world *w, const struct cgroup_place *place, struct cgroup_chain *ret);
void cgroup_chain_close(struct cgroup_chain *c);

/* Pids of a group (cgroup.procs), at most cap; *ret_n is the number found, which may exceed cap. */
int must_check cgroup_pids(const struct world *w, const char *path, pid_t *pids, size_t cap, size_t *ret_n);
/*
 * The same of a group and of all groups below it: on v2, and below Slurm, the processes of a job are in the innermost
 * groups only. Groups more than CGROUP_TREE_LEVELS below it are left out. Allocates nothing.
 */
int must_check cgroup_tree_pids(const struct world *w, const char *path, pid_t *pids, size_t cap, size_t *ret_n);
/*
 * What tells a group from a later one at its path, as where it was removed and made anew, or moved away on v1: the
 * number of its folder, which the kernel gives once. 0: there is none.
 */
uint64_t cgroup_number(const struct world *w, const char *path);
/* cgroup_tree_pids of this group alone: WORLD_GONE where another one is at the path by now. number 0: of any. */
int must_check cgroup_tree_pids_of(const struct world *w, const char *path, uint64_t number, pid_t *pids, size_t cap,
				   size_t *ret_n);
