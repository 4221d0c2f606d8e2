/*
 * Units: the processes of the guarded jobs, grouped into sets that live and die together. A rank and its loader
 * workers are one unit: ending a worker alone would only break its rank. A shell or launcher is not part of the units
 * it started, and is ended only when nothing else is left. A Ray worker is a unit of its own; Ray's daemons are ended
 * last, the raylet together with its agents.
 *
 * Built from a sweep of all tasks. No allocation: tables have a fixed size. A process beyond them adds to the sums of
 * its parent's unit, but is not listed as a member (n_dropped).
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
	bool protected_; /* never chosen as a victim */
	bool retriable; /* a death costs a retry, not the job */
	pid_t roots[UNIT_ROOTS_MAX]; /* main processes (ranks), started by vigil or adopted */
	uint64_t root_start_ticks[UNIT_ROOTS_MAX]; /* guards against a reused pid of an ended rank; 0: unknown */
	int32_t ranks[UNIT_ROOTS_MAX];
	size_t n_roots;
	pid_t reaper; /* its children except `not_ours` belong to the job (double forks end up there); 0: none */
	pid_t not_ours[UNIT_NOT_OURS];
	size_t n_not_ours;
};

struct unit {
	uint16_t job;
	uint16_t group; /* units of one group are alike: same job and role */
	uint16_t group_size;
	pid_t pid; /* main process of the unit */
	uint64_t start_ticks;
	int32_t rank; /* NO_RANK */
	enum role role;
	bool launcher; /* shell or launcher: ended last */
	bool retriable, protected_;
	uint32_t processes;
	uint64_t own_bytes, rss_bytes, swap_bytes;
	uint64_t shmem_bytes; /* the largest shared memory of one of its processes, if the sweep reports it */
	int64_t growth_bytes_per_s;
	char comm[16];
};

/* Bytes that ending the unit is expected to free: shared memory goes with its last user. */
static inline uint64_t unit_weight(const struct unit *u)
{
	return u->own_bytes + u->shmem_bytes;
}

/* A process of a unit. row: its index in the sweep. */
struct unit_member {
	uint32_t row;
	uint16_t unit;
	uint8_t role; /* enum role of the process, not of its unit */
};

struct unit_table {
	struct unit unit[UNIT_MAX];
	size_t n;
	struct unit_member member[UNIT_MEMBERS_MAX]; /* in order of rows */
	size_t n_members;
	size_t n_dropped;
};

/*
 * What is known of each process. It is kept between sweeps, so that the environment is read once for each name. Found
 * by (pid, start_ticks).
 */
struct unit_known {
	pid_t pid;
	uint64_t start_ticks;
	struct role_info role;
	/* name at the time the role was read; exec or a new title changes it, and the role is read again */
	char comm[16];
	uint64_t last_own_bytes, last_mono_ns;
	int64_t growth_bytes_per_s;
	uint32_t seen; /* number of the last sweep that saw it; stale entries are reused */
};

#define UNIT_KNOWN_MAX 16384 /* power of two; also the largest number of processes in a sweep */

struct unit_memory {
	struct unit_known known[UNIT_KNOWN_MAX];
	int32_t unit_of_row[UNIT_KNOWN_MAX]; /* of the sweep being built */
	uint32_t sweep;
	uint64_t last_sweep_ns;
};

/*
 * Reads the role of a process that is new or has another name than before; may leave it ROLE_OTHER. Called at most
 * `budget` times a sweep.
 */
typedef void unit_role_fn(void *ctx, const struct task_row *row, const struct role_info *parent, struct role_info *ret);

/* Pids in the control group of a job, sorted; may be empty. One entry for each job. */
struct unit_extra {
	const pid_t *pids;
	size_t n;
};

/* Growth of a process up to the last sweep, in bytes per second; 0 also if unknown. */
int64_t unit_growth(const struct unit_memory *mem, const struct task_row *row);

void unit_build(struct unit_memory *mem, const struct tasks *tasks, const struct unit_job *jobs, size_t n_jobs,
		const struct unit_extra *extra, uint64_t mono_ns, unit_role_fn *role, void *role_ctx, size_t budget,
		struct unit_table *ret);
