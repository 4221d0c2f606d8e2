/*
 * What the hang watcher and whoever started it share: one anonymous mapping.
 * The owner writes the settings and the jobs, under a sequence number that is
 * odd while they change; the watcher writes messages into a ring and wakes the
 * owner by an eventfd. Each message is complete when it is sent: incident,
 * verdict and stacks. A watcher that dies leaves nothing half said.
 */
#pragma once

#include <stdatomic.h>

#include "agent/hang/ownlog.h"
#include "judge/hang/hang.h"
#include "model/memory/unit.h"
#include "sense/memory/cgroup.h"
#include "sense/framework/progresspattern.h"

#define HANG_JOBS UNIT_JOBS_MAX
#define HANG_RANKS 64
#define HANG_MESSAGES 4
/* JSON of the stacks; what does not fit is left out, ranks' main threads last. */
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
	uint64_t started_ns; /* of the attempt, monotonic; 0: not known, an adopted job may be old */
	char cgroup[CGROUP_PATH_MAX]; /* relative to world->cgroup_fd; "" none */
	char freezer[CGROUP_PATH_MAX]; /* the same, of the group that would be frozen */
	pid_t root; /* descendants of it are the job's */
	bool root_is_ours; /* and itself */
	pid_t not_ours[8];
	struct hang_rank rank[HANG_RANKS]; /* main processes that the owner started */
	size_t n_ranks;
	char log_dir[320]; /* the attempt's: rank-N.out and .err; "" none are kept */
	char own_log[2][OWNLOG_PATH]; /* none are kept, but its main process writes into these; "" */
};

enum hang_message_kind {
	HANG_SAYS_INCIDENT,
	HANG_SAYS_RESOLVED, /* what stood moves again */
	HANG_SAYS_BENIGN, /* stands still, and may: for the events */
	HANG_SAYS_SUSPECT, /* stands still, and is looked at: for the events */
	HANG_SAYS_LOSS, /* a rank's loss is no number any more: for the events */
	/*
	 * The first look at a standstill, for the report of a job that ends before its verdict: stacks, text (what is missing)
	 * and verdict (hang_glance's, not to be told). A later one replaces it.
	 */
	HANG_SAYS_EARLY,
	HANG_SAYS_MOVES, /* what was suspected has made steps since, or gone on for a while: that look is worth nothing */
};

struct hang_message {
	enum hang_message_kind kind;
	uint32_t job, attempt; /* index and attempt as they were when it was judged */
	int64_t time_unix_ms;
	char text[240];
	struct incident incident; /* without id, job, node */
	struct hang_verdict verdict;
	uint64_t suspected_ns, judged_ns; /* since the standstill began */
	size_t stacks_len; /* 0: none */
	char stacks[HANG_STACKS_BYTES]; /* JSON: the array "stacks" of vigil.incident/1 */
};

/* Ranks that a job's program has started itself, as the watcher has found them. They only become more, until n is 0 again. */
struct hang_own {
	_Atomic uint32_t n;
	struct hang_own_rank {
		pid_t pid;
		int32_t rank;
		uint64_t start_ticks;
	} of[HANG_RANKS];
};

struct hang_shm {
	/* owner -> watcher */
	struct hang_settings settings;
	char rules[512]; /* the user's files of rules, with ',' between */
	char progress[PROGRESS_PATTERNS][PROGRESS_PATTERN_TEXT]; /* the user's, checked */
	uint32_t n_progress;
	_Atomic uint32_t jobs_seq;
	uint32_t n_jobs;
	struct hang_job job[HANG_JOBS];
	/* watcher -> owner */
	_Atomic uint32_t sent, taken; /* messages; both count up */
	struct hang_message message[HANG_MESSAGES];
	_Atomic uint64_t cpu_ns; /* what the watcher has used, for who wants to know its cost */
	_Atomic uint64_t looks;
	/* the watcher's own, here so that another one that takes its place says nothing twice */
	struct {
		char id[64];
		int32_t rank[LIVENESS_RANKS];
		uint32_t n;
	} loss_reported[HANG_JOBS];
	struct hang_own own[HANG_JOBS];
};
