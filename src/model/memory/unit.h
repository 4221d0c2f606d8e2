/*
 * Units: the processes of the guarded jobs, grouped into sets that live and
 * die together. A rank and its loader workers are one unit: ending a worker
 * alone would only break its rank. A shell or launcher is no part of the
 * units it started, and is ended only when nothing else is left. A Ray worker
 * is a unit of its own; Ray's daemons go last, and the raylet's agents with it.
 *
 * Built from a sweep of all tasks. No allocation: tables have fixed places,
 * processes beyond them join their parent's unit uncounted (n_dropped).
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "model/jobs/role.h"
#include "sense/proc/tasks.h"

#define UNIT_MAX 1024
#define UNIT_MEMBERS_MAX 16384
#define UNIT_JOBS_MAX 64
#define UNIT_ROOTS_MAX 64
#define UNIT_NOT_OURS 32

/* A job as the guard sees it. */
struct unit_job {
	bool active;
	bool protected_; /* never a victim */
	bool retriable; /* a death costs a retry, not the job */
	pid_t roots[UNIT_ROOTS_MAX]; /* main processes (ranks), started by us or adopted */
	uint64_t root_start_ticks[UNIT_ROOTS_MAX]; /* a rank may end early and its pid go to a stranger; 0: not known */
	int32_t ranks[UNIT_ROOTS_MAX];
	size_t n_roots;
	pid_t reaper; /* its children, but for `not_ours`, belong to the job (double forks end up there); 0: none */
	pid_t not_ours[UNIT_NOT_OURS];
	size_t n_not_ours;
};

struct unit {
	uint16_t job;
	uint16_t group; /* units of one group are alike: same job and role */
	uint16_t group_size;
	pid_t pid; /* the unit's main process */
	uint64_t start_ticks;
	int32_t rank; /* NO_RANK */
	enum role role;
	bool launcher; /* shell or launcher: ended last */
	bool retriable, protected_;
	uint32_t processes;
	uint64_t own_bytes, rss_bytes, swap_bytes;
	uint64_t shmem_bytes; /* the most shared memory that one of its processes maps, where the sweep tells it */
	int64_t growth_bytes_per_s;
	char comm[16];
};

/* What ending the unit is expected to free: shared memory goes with its last user. */
static inline uint64_t unit_weight(const struct unit *u)
{
	return u->own_bytes + u->shmem_bytes;
}

/* A process that belongs to a unit: row index in the sweep. */
struct unit_member {
	uint32_t row;
	uint16_t unit;
	uint8_t role; /* enum role of the process itself */
};

struct unit_table {
	struct unit unit[UNIT_MAX];
	size_t n;
	struct unit_member member[UNIT_MEMBERS_MAX]; /* in order of rows */
	size_t n_members;
	size_t n_dropped;
};

/*
 * What is known of each process, remembered between sweeps so that its
 * environment is read once for each name. Found by (pid, start_ticks).
 */
struct unit_known {
	pid_t pid;
	uint64_t start_ticks;
	struct role_info role;
	char comm[16]; /* when the role was read: exec and a new title change it, and then it is read again */
	uint64_t last_own_bytes, last_mono_ns;
	int64_t growth_bytes_per_s;
	uint32_t seen; /* sweep number: stale places are reused */
};

#define UNIT_KNOWN_MAX 16384 /* power of two; also the most processes of a sweep */

struct unit_memory {
	struct unit_known known[UNIT_KNOWN_MAX];
	int32_t unit_of_row[UNIT_KNOWN_MAX]; /* of the sweep being built */
	uint32_t sweep;
	uint64_t last_sweep_ns;
};

/* Asks for the role of a process not seen before, or under another name; may leave it ROLE_OTHER. Called at most `budget` times a sweep. */
typedef void unit_role_fn(void *ctx, const struct task_row *row, const struct role_info *parent, struct role_info *ret);

/* extra: pids known to be in job i's own cgroup, sorted; may be empty. */
struct unit_extra {
	const pid_t *pids;
	size_t n;
};

/* How fast a process grew up to the last sweep; 0 also where that is not known. */
int64_t unit_growth(const struct unit_memory *mem, const struct task_row *row);

void unit_build(struct unit_memory *mem, const struct tasks *tasks, const struct unit_job *jobs, size_t n_jobs,
		const struct unit_extra *extra, uint64_t mono_ns, unit_role_fn *role, void *role_ctx, size_t budget,
		struct unit_table *ret);
