/*
 * The anonymous mapping that the hang watcher and its owner share. The owner
 * writes the settings and the jobs, under a sequence number that is odd while
 * they change; the watcher writes messages into a ring and wakes the owner by
 * an eventfd. A message is complete when it is sent: incident, verdict and
 * stacks. So a watcher that dies leaves no half message.
 */
#pragma once

#include <stdatomic.h>
#include <string.h>

#include "agent/hang/ownlog.h"
#include "agent/jobs/jobpids.h"
#include "base/hash.h"
#include "judge/hang/hang.h"
#include "model/memory/unit.h"
#include "sense/memory/cgroup.h"
#include "sense/framework/progresspattern.h"
#include "tell/store/series.h"

#define HANG_JOBS UNIT_JOBS_MAX
#define HANG_RANKS 64
#define HANG_MESSAGES 4
/* Limit of the stacks' JSON. Threads that do not fit are left out, main threads last. */
#define HANG_STACKS_BYTES (1024 * 1024)

struct hang_rank {
	pid_t pid;
	uint64_t start_ticks;
	int32_t rank; /* NO_RANK */
	bool ended, has_status;
	int32_t wait_status;
};

struct hang_job {
	bool active;
	char id[64];
	uint32_t attempt;
	uid_t uid; /* whose job it is */
	uint64_t started_ns; /* start of the attempt, monotonic; 0: unknown, for an adopted job */
	char cgroup[CGROUP_PATH_MAX]; /* relative to world->cgroup_fd; "": none */
	char freezer[CGROUP_PATH_MAX]; /* the same, of the group whose freezer shows that the job is frozen */
	pid_t root; /* its descendants belong to the job */
	uint64_t root_start_ticks; /* 0: unknown */
	bool root_is_ours; /* root itself belongs to the job, too */
	struct proc_id also[JOBPIDS_ALSO]; /* further roots that belong to the job; pid 0: none */
	pid_t not_ours[JOBPIDS_NOT_OURS]; /* descendants that do not belong to it; 0: none */
	struct hang_rank rank[HANG_RANKS]; /* main processes that the owner started */
	size_t n_ranks;
	char log_dir[320]; /* of the attempt, with rank-N.out and .err; "": no output is kept */
	char own_log[2][OWNLOG_PATH]; /* without log_dir: files that its main process writes into; "": none */
};

enum hang_message_kind {
	HANG_SAYS_INCIDENT,
	HANG_SAYS_RESOLVED, /* a job that stood still moves again */
	HANG_SAYS_FAST, /* a rank that was slow by itself is no more */
	HANG_SAYS_BENIGN, /* it stands still for a harmless reason: for the events */
	HANG_SAYS_SUSPECT, /* it stands still, and evidence is gathered: for the events */
	HANG_SAYS_PACE, /* a rank is slow by its own work: for the events */
	HANG_SAYS_LOSS, /* a rank's loss became NaN or infinite: for the events */
	/*
	 * Early evidence of a standstill, for the report of a job that ends before its verdict: stacks, text (what is
	 * missing) and an early verdict that is not reported by itself. A later message replaces it.
	 */
	HANG_SAYS_EARLY,
	HANG_SAYS_WAKERS, /* who usually ends its threads' waits, as text in `stacks`: to be kept beside the job */
	HANG_SAYS_MOVES, /* the suspected job has moved since: the early evidence does not count any more */
};

struct hang_message {
	enum hang_message_kind kind;
	uint32_t job, attempt; /* index and attempt at the time of the verdict */
	int64_t time_unix_ms;
	char text[240];
	struct incident incident; /* without id, job, node */
	struct hang_verdict verdict;
	uint64_t suspected_ns, judged_ns; /* from the begin of the standstill to the suspicion and to the verdict */
	size_t stacks_len; /* 0: none */
	char stacks[HANG_STACKS_BYTES]; /* JSON: the array "stacks" of vigil.incident/1 */
};

/*
 * Ranks that a job's program has started itself, as the watcher finds them. n only grows, until a new attempt sets it
 * to 0.
 */
struct hang_own {
	_Atomic uint32_t n;
	struct hang_own_rank {
		pid_t pid;
		int32_t rank;
		uint64_t start_ticks;
	} of[HANG_RANKS];
};

/*
 * How far the ranks of a job are, as the watcher reads it from their output. seq is odd while it changes; a reader that
 * meets that, or another seq afterwards, tries again later.
 */
struct hang_steps {
	_Atomic uint32_t seq;
	uint32_t attempt;
	uint32_t n;
	struct hang_rank_step {
		int32_t rank; /* NO_RANK: the job has no ranks */
		bool has_total;
		uint64_t step, total;
	} of[HANG_RANKS];
};

/* A copy that was not changed meanwhile. n is 0 if there is none, from is NULL, or the steps are of another attempt. */
static inline void hang_steps_copy(const struct hang_steps *from, uint32_t attempt, struct hang_steps *ret)
{
	uint32_t seq = from ? atomic_load(&from->seq) : 1;
	if (from)
		memcpy(ret, from, sizeof(*ret));
	if (seq % 2 || atomic_load(&from->seq) != seq || ret->attempt != attempt)
		ret->n = 0;
	atomic_store(&ret->seq, 0);
	ret->attempt = attempt;
}

#define HANG_ENDS 64
/* How a process of the job ended. */
struct hang_end {
	pid_t pid;
	uint64_t start_ticks;
	int32_t wait_status;
	int64_t time_unix_ms;
};

/*
 * Children that fail again and again, as the owner counts them from the ends that it is told of, and the last of these
 * ends; of job 0 alone. seq: as above, but the owner writes.
 */
struct hang_respawns {
	_Atomic uint32_t seq;
	uint32_t attempt;
	struct respawns rows;
	struct hang_end end[HANG_ENDS]; /* the newest at (n_ends - 1) % HANG_ENDS */
	uint64_t n_ends;
};

/* The devices that a job uses, at the watcher's last look at them. seq: as above. */
struct hang_devices {
	_Atomic uint32_t seq;
	uint32_t attempt;
	int64_t time_unix_ms; /* of the look */
	uint64_t mono_ns; /* 0: none yet */
	uint32_t n;
	struct series_device of[SERIES_DEVICES_MAX];
};

/* The frameworks that a job's main processes have loaded (sense/framework/frameworks), as far as was looked. */
struct hang_frameworks {
	_Atomic uint64_t whose; /* hang_whose of the job and attempt that set is of */
	_Atomic uint32_t set; /* 0 while whose changes */
};

/* A place is used by one job after the other: a number for a job and an attempt. */
static inline uint64_t hang_whose(const char *id, uint32_t attempt)
{
	return hash_bytes(hash_bytes(HASH_START, id, strlen(id)), &attempt, sizeof(attempt));
}

/* The ranks of a job of which something was reported. */
struct hang_reported {
	char id[64];
	int32_t rank[LIVENESS_RANKS];
	uint32_t n;
};

struct hang_shm {
	/* owner -> watcher */
	struct hang_settings settings;
	char rules[512]; /* paths of the user's rule files with ',' between; "": none */
	char progress[PROGRESS_PATTERNS][PROGRESS_PATTERN_TEXT]; /* the user's patterns, checked before */
	uint32_t n_progress;
	_Atomic uint32_t jobs_seq;
	uint32_t n_jobs;
	struct hang_job job[HANG_JOBS];
	struct hang_respawns respawns;
	/* watcher -> owner */
	_Atomic uint32_t sent, taken; /* numbers of messages; both only grow */
	struct hang_message message[HANG_MESSAGES];
	_Atomic uint64_t cpu_ns; /* processor time of the watcher: its cost */
	_Atomic uint64_t samples;
	_Atomic uint64_t beats; /* grows with each job that it looks at, and with each round: it goes on */
	/* the watcher's own state, kept here so that its successor reports no loss twice */
	struct hang_reported loss_reported[HANG_JOBS], norm_reported[HANG_JOBS];
	struct hang_own own[HANG_JOBS];
	struct hang_steps steps[HANG_JOBS];
	struct hang_devices devices[HANG_JOBS];
	struct hang_frameworks frameworks[HANG_JOBS];
};
