/*
 * Units: the processes of the guarded jobs, grouped into sets that live and die together. A rank and its loader
 * workers are one unit: ending a worker alone would only break its rank. A shell or launcher is not part of the units
 * it started, and is ended only when nothing else is left. A Ray worker is a unit of its own; Ray's daemons are ended
 * last, the raylet together with its agents.
 *
 * What ending a process frees is not what is resident in it: a fork shares its parent's pages until one of them writes.
 * Pages that a fork came with are counted once, with the process that they come from, until somebody has read how they
 * are shared (struct unit_share, from agent/memory/sharing); from then on each process counts its part of them.
 *
 * Built from a sweep of all tasks. No allocation: tables have a fixed size. A process beyond them adds to the sums of
 * its parent's unit, but is not listed as a member (n_dropped).
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "model/jobs/role.h"
#include "model/memory/growth.h"
#include "model/memory/wish.h"
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
	enum wish wish; /* of its main process, or a preferred one among the others */
	bool launcher; /* shell, launcher or daemon that may be one: ended last */
	bool believed; /* what its main process is called is proven, or it is small */
	bool retriable, protected_;
	uint32_t processes;
	uint64_t own_bytes; /* what ending all its processes frees; shared pages count once */
	uint64_t rss_bytes, swap_bytes;
	uint64_t shmem_bytes; /* the largest shared memory of one of its processes, if the sweep reports it */
	int64_t growth_bytes_per_s; /* of its processes, over minutes where there are minutes */
	int64_t burst_bytes_per_s; /* since the sweep before: whom to freeze first */
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
	size_t n_unnamed; /* members whose roles are not known yet */
};

struct unit_origin {
	pid_t pid;
	uint64_t start_ticks;
};

/* How the pages of a process are shared, read at one time for all processes that have pages of the same origin. */
struct unit_share {
	pid_t pid;
	uint64_t start_ticks;
	struct unit_origin origin;
	uint64_t mono_ns; /* when it was read */
	uint64_t anon_bytes; /* resident at that time; the rest are parts of it */
	uint64_t pss_bytes; /* its part of them */
	uint64_t private_bytes; /* which no other process maps */
	uint64_t faulted_bytes; /* pages that it has faulted in since its begin: it has written to no more than these */
};

#define UNIT_SHARES 64 /* also the largest number of processes with pages of the same origin whose sharing is read */

/* Processes with pages of one origin, as they were when their sharing was read. */
struct unit_family {
	struct unit_origin origin;
	uint32_t read; /* number of processes then */
	uint32_t alive; /* of them, in the sweep being built */
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
	int64_t burst_bytes_per_s; /* between the last two sweeps */
	uint32_t seen; /* number of the last sweep that saw it; stale entries are reused */
	bool named; /* the role was read */
};

/*
 * The past of a process, of as many as a table holds that the guard can lock in memory. Found by (pid, start_ticks); of
 * the processes beyond that nothing is said.
 */
struct unit_past {
	pid_t pid;
	uint32_t seen; /* number of the last sweep that saw it; 0: a place that was never used */
	uint64_t start_ticks;
	/*
	 * Of what it has asked for: resident private memory, and pages of others that it has made its own by writing to
	 * them, which does not make it larger.
	 */
	struct growth growth;
	struct growth_said grown;
	uint64_t copied_bytes;
	uint64_t inherited_bytes; /* pages that a fork came with; role unknown: all that it was first seen with */
	/* when it was first seen, with how much, and the sweep before that */
	uint64_t first_ns, first_own_bytes, before_ns;
	struct unit_origin origin; /* whose pages they are; itself if it is no fork */
	bool has_share;
	struct unit_share share; /* as last read */
};

#define UNIT_PAST_MAX 2048 /* power of two */
#define UNIT_KNOWN_MAX 16384 /* power of two; also the largest number of processes in a sweep */

struct unit_memory {
	struct unit_known known[UNIT_KNOWN_MAX];
	int32_t unit_of_row[UNIT_KNOWN_MAX]; /* of the sweep being built */
	struct unit_past past[UNIT_PAST_MAX];
	struct unit_family family[UNIT_SHARES];
	size_t n_families;
	uint32_t sweep;
	uint64_t last_sweep_ns;
	/* How starts of processes are told in the time of sweeps. tick_ns 0: they are not. Set by the owner. */
	uint64_t tick_ns, boot_ahead_ns; /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */
};

/*
 * The role of a process that is new or has another name than before; may leave it ROLE_OTHER. Called at most `budget`
 * times a sweep. False: it is not known yet, and is asked for again in the next sweep. Until then a process is taken
 * for a fork of its parent, as it would count twice if it is one.
 */
typedef bool unit_role_fn(void *ctx, const struct task_row *row, const struct role_info *parent, struct role_info *ret);

/* Pids in the control group of a job, sorted; may be empty. One entry for each job. */
struct unit_extra {
	const pid_t *pids;
	size_t n;
};

/* Growth of a process up to the last sweep. */
struct growth_said unit_grown(const struct unit_memory *mem, const struct task_row *row);
/* What ending this process would free, by the last sweep: its part of what it shares with forks. */
uint64_t unit_own(const struct unit_memory *mem, const struct task_row *row);
/* How pages are shared was read: replaces what was known of it. For the next sweep. */
void unit_shares(struct unit_memory *mem, const struct unit_share *share, size_t n);
/*
 * Names the processes whose sharing is worth reading: forks that came with at least least_bytes, and whoever these
 * pages are of. Fills pid, start_ticks, origin, anon_bytes as it is now and pss_bytes as it is counted now. Returns
 * their number; 0 also when they are too many.
 */
size_t unit_sharers(const struct unit_memory *mem, const struct tasks *tasks, const struct unit_table *units,
		    uint64_t least_bytes, struct unit_share ret[static UNIT_SHARES]);

void unit_build(struct unit_memory *mem, const struct tasks *tasks, const struct unit_job *jobs, size_t n_jobs,
		const struct unit_extra *extra, uint64_t mono_ns, unit_role_fn *role, void *role_ctx, size_t budget,
		struct unit_table *ret);
