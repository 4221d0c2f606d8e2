/*
 * What the guard and its supervisor share: one locked anonymous mapping.
 * The supervisor writes the settings and the jobs; the guard writes its cases
 * and its history. Whoever survives the other can read everything the other
 * knew: this is the ring that is replayed into a report when the guard itself
 * is killed.
 *
 * Each side wakes the other by an eventfd. Jobs are changed under a sequence
 * number that is odd while they are being written.
 */
#pragma once

#include <stdatomic.h>

#include "act/jobgroup.h"
#include "act/target.h"
#include "agent/host/helper.h"
#include "judge/memory/guard.h"
#include "judge/memory/victim.h"
#include "model/incident/incident.h"
#include "model/memory/unit.h"

#define GUARD_CASES 4
#define GUARD_CASE_PIDS 1024
#define GUARD_FROZEN 8192
#define GUARD_HISTORY 512

struct guard_job {
	char id[64];
	char name[64];
	char adopted_cgroup[CGROUP_PATH_MAX]; /* watch --cgroup: everything in there; relative to world->cgroup_fd */
	struct cgroup_place place; /* whose limits hold for it: ours, or those of the adopted process */
	uint32_t attempt;
	struct unit_job unit;
	bool has_group;
	struct jobgroup group;    /* descriptors are valid in both: the guard is a fork */
	uint64_t limit_bytes;     /* --memory-limit; CGROUP_NO_LIMIT */
};

/*
 * Who was of which job when last seen, by pid: kept after the process is gone,
 * so that a death of it can still be told from a stranger's.
 */
#define GUARD_FORMER 2048 /* power of two */

struct guard_former {
	pid_t pid;
	uint16_t job;
	uint32_t attempt;
	int32_t rank;
	char role[16];
	char name[16];
};

#define GUARD_LIKELY 16 /* processes that the supervisor looks into beforehand */

enum case_phase {
	CASE_EMPTY,
	CASE_BEGUN,   /* victims chosen; signals may be on their way */
	CASE_DECIDED, /* frozen if freezing is on; the victims' stacks are wanted */
	CASE_KILLED,  /* signals sent */
	CASE_DONE,    /* memory is back, numbers complete */
	CASE_CANCELLED, /* the memory came back by itself; everything was thawed */
	CASE_TOO_LATE, /* the victims had ended by themselves before a signal hit them */
	CASE_DENIED, /* we may not send them signals: nobody was ended */
};

enum { CASE_SEEN_NOT, CASE_SEEN_BEGUN /* the stacks are being read */, CASE_SEEN_ALL /* nothing to wait for */ };

struct guard_case {
	_Atomic uint32_t phase;
	_Atomic uint32_t described; /* the incident's tables are filled: shortly after CASE_DECIDED */
	_Atomic uint32_t seen;    /* CASE_SEEN_… : how far the supervisor is */
	bool frozen;              /* the victims stand still while the phase is CASE_DECIDED */
	uint32_t number;          /* counts from 1 */
	uint16_t job;             /* index of guard_job; its id is in incident.job */
	uint32_t n_victims;
	struct proc_id victim[GUARD_CASE_PIDS]; /* largest first */
	struct incident incident;
};

struct guard_sample {
	int64_t time_unix_ms;
	uint64_t used_bytes, total_bytes, job_bytes;
};

struct guard_shm {
	/* supervisor -> guard */
	struct guard_settings settings;
	enum victim_policy policy;
	bool freeze;
	pid_t supervisor;
	int iter_link_fd;         /* BPF task iterator, as numbered in the supervisor; -1: none to fetch */
	_Atomic uint32_t jobs_seq;
	uint32_t n_jobs;
	struct guard_job jobs[UNIT_JOBS_MAX];
	/*
	 * Ranks of job 0 that are being started: no part of jobs yet, but not to be left behind if the supervisor dies
	 * now.
	 */
	struct proc_id starting[UNIT_ROOTS_MAX];
	_Atomic uint32_t n_starting;
	struct helpers own; /* the supervisor's, beside the job */
	_Atomic uint32_t stop;    /* leave quietly */
	/* guard -> supervisor */
	_Atomic uint64_t beat_ns; /* last time round the loop */
	_Atomic uint32_t ready;
	int start_error;          /* -errno: it could not start at all, and would not the next time */
	_Atomic uint32_t history_n;
	struct guard_sample history[GUARD_HISTORY];
	struct guard_former former[GUARD_FORMER]; /* place: pid modulo GUARD_FORMER */
	_Atomic uint32_t cases_n; /* cases begun so far */
	struct guard_case cases[GUARD_CASES];
	/* stopped with SIGSTOP, victims or not: whoever survives the guard continues them */
	struct target frozen[GUARD_FROZEN];
	_Atomic uint32_t n_frozen;
	struct {
		uint64_t used_bytes, total_bytes; /* of the tightest level, last look */
		uint64_t node_used_bytes, node_total_bytes;
		uint64_t job_bytes[UNIT_JOBS_MAX], job_peak_bytes[UNIT_JOBS_MAX];
		enum guard_state state;
		char level[200];
		pid_t likely[GUARD_LIKELY]; /* who would be ended, while memory is short (GUARD_WARN and on); 0: free */
	} now;
	_Atomic uint32_t
		/* the supervisor looks into the likely ones just now: a case waits a little longer for it */
		preloading;
	_Atomic uint32_t clamped; /* the kernel's numbers cannot be: clamped */
	char notes[8][200];       /* what is degraded, for doctor and the start-up line */
	uint32_t n_notes;
	bool locked;              /* memory is locked */
};

/* Somebody stands frozen or is about to: whatever takes milliseconds has to wait. */
static inline bool guard_case_pending(const struct guard_shm *shm)
{
	uint32_t n = atomic_load(&shm->cases_n);
	return n > 0 && atomic_load(&shm->cases[(n - 1) % GUARD_CASES].phase) < CASE_KILLED;
}
