/*
 * What the guard and its supervisor share: one locked anonymous mapping. The supervisor writes settings and jobs, the
 * guard writes cases and history. If either dies, the other can read everything it knew; a report is completed from
 * here when the guard itself is killed (agent/guard/guardrecover).
 *
 * Each side wakes the other by an eventfd. Jobs are changed under a sequence number that is odd while they are being
 * written.
 */
#pragma once

#include <stdatomic.h>

#include "act/jobgroup.h"
#include "act/lend.h"
#include "act/target.h"
#include "agent/guard/guardnames.h"
#include "agent/host/helper.h"
#include "judge/memory/guard.h"
#include "judge/memory/victim.h"
#include "judge/memory/warning.h"
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
	uint64_t adopted_number; /* of that group, not of a later one at its path (cgroup_number) */
	struct cgroup_place place; /* the group whose limits apply: ours, or that of the adopted process */
	uint32_t attempt;
	struct unit_job unit;
	bool has_group;
	struct jobgroup group; /* descriptors are valid in both: the guard is a fork */
	uint64_t limit_bytes; /* --memory-limit; CGROUP_NO_LIMIT */
};

/* Which process was of which job when last seen, by pid; kept when it is gone, to know whose death it was. */
#define GUARD_FORMER 2048 /* power of two */

struct guard_former {
	pid_t pid;
	uint16_t job;
	uint32_t attempt;
	int32_t rank;
	char role[16];
	char name[16];
};

#define GUARD_LENT 2 /* the supervisor, and the helper by which it asks for memory locks */
#define GUARD_LIKELY 16 /* number of processes that the supervisor opens beforehand */

enum case_phase {
	CASE_EMPTY,
	CASE_BEGUN, /* victims chosen; signals may be on their way */
	CASE_DECIDED, /* frozen if freezing is on; the victims' stacks are wanted */
	CASE_KILLED, /* signals sent */
	CASE_DONE, /* the victims' memory is free, all numbers are known */
	CASE_CANCELLED, /* memory was freed by other means; everything was resumed */
	CASE_TOO_LATE, /* the victims had ended by themselves before a signal hit them */
	CASE_DENIED, /* we may not send signals to the victims: none was ended */
};

enum { CASE_SEEN_NOT, CASE_SEEN_BEGUN /* the stacks are being read */, CASE_SEEN_ALL /* the guard need not wait */ };

struct guard_case {
	_Atomic uint32_t phase;
	_Atomic uint32_t described; /* the incident's tables are filled: shortly after CASE_DECIDED */
	_Atomic uint32_t seen; /* CASE_SEEN_…: how far the supervisor is */
	_Atomic uint32_t progress; /* grows while it reads the stacks */
	bool frozen; /* the victims are frozen while the phase is CASE_DECIDED */
	uint64_t until_ns; /* the guard waits for the stacks until then at most */
	uint32_t number; /* counts from 1 */
	uint16_t job; /* index of guard_job; its id is in incident.job */
	uint32_t n_victims;
	_Atomic uint32_t stored; /* its report is in the store */
	struct proc_id victim[GUARD_CASE_PIDS]; /* largest first */
	struct incident incident;
};

/*
 * Who shares pages with its forks. The guard names them with each sweep; a thread of the supervisor reads how much
 * (agent/memory/sharing), which the guard must not do, as it takes their memory locks. Each sequence number is odd
 * while its table is being written.
 */
struct guard_sharing {
	_Atomic uint32_t want_seq, seen_seq;
	uint32_t n_want, n_seen;
	struct unit_share want[UNIT_SHARES], seen[UNIT_SHARES];
};

#define GUARD_SAMPLE_LEVELS 4

struct guard_sample {
	int64_t time_unix_ms;
	uint64_t job_bytes;
	/* the tightest level first, then others; total_bytes 0: no more */
	struct {
		uint64_t used_bytes, total_bytes;
	} level[GUARD_SAMPLE_LEVELS];
};

/* How far the job of a dead supervisor has been cleared up: not begun, limits lifted and thawed, all of it. */
enum { GUARD_ORPHAN_NOT, GUARD_ORPHAN_BEGUN, GUARD_ORPHAN_DONE };

struct guard_shm {
	/* supervisor -> guard */
	struct guard_settings settings;
	enum victim_policy policy;
	struct wishes wishes;
	bool dry_run; /* nobody is ended or slowed; whom it would be is told (would) */
	bool freeze;
	pid_t supervisor;
	int iter_link_fd; /* BPF task iterator, as numbered in the supervisor; -1: none to fetch */
	_Atomic uint32_t jobs_seq;
	uint32_t n_jobs;
	struct guard_job jobs[UNIT_JOBS_MAX];
	/*
	 * Ranks of job 0 that are being started: no part of jobs yet, but not to be left behind if the supervisor dies
	 * now.
	 */
	struct proc_id starting[UNIT_ROOTS_MAX];
	_Atomic uint32_t n_starting;
	struct helpers own; /* the supervisor's helper processes, which are no part of a job */
	_Atomic int32_t lock_helper; /* of them the one that the supervisor asks before it reads a victim; 0: none */
	_Atomic uint32_t sweep_wanted; /* a process of a job seems to have left its group: sweep now */
	_Atomic uint32_t stop; /* end without touching the jobs */
	/* guard -> supervisor */
	struct proc_id guard; /* the guard's own process; pid 0: none was started */
	_Atomic uint32_t orphan_phase; /* GUARD_ORPHAN_…, after the supervisor's death */
	_Atomic uint64_t beat_ns; /* time of the last sample */
	_Atomic uint64_t beat_due_ns; /* time at which the next one is planned; 0: none was taken yet */
	_Atomic uint32_t ready;
	int start_error; /* -errno: the guard could not start, and a restart would fail the same way */
	_Atomic uint32_t history_n;
	struct guard_sample history[GUARD_HISTORY];
	/* What was in use before says nothing of growth: an attempt began, or the guard freed memory. Both write. */
	_Atomic int64_t growth_since_unix_ms;
	struct guard_sharing sharing; /* seen: supervisor -> guard */
	struct guard_names names; /* named: supervisor -> guard */
	struct guard_former former[GUARD_FORMER]; /* place: pid modulo GUARD_FORMER */
	/* The last early warning. seq is odd while it is being written. */
	struct {
		_Atomic uint32_t seq;
		uint64_t jobs; /* bit per job that can relieve the level */
		struct warning_facts facts;
	} warning;
	/*
	 * Processes of job `job` that are in another control group than the job: how many, and the one that has lived
	 * longest. seq is odd while it is being written.
	 */
	struct {
		_Atomic uint32_t seq;
		uint16_t job;
		uint32_t n;
		pid_t pid;
		char name[16];
	} away;
	/* With dry_run: whom the guard would end now. seq is odd while it is being written. */
	struct {
		_Atomic uint32_t seq;
		uint16_t job;
		char text[400];
	} would;
	_Atomic uint32_t cases_n; /* cases begun so far */
	struct guard_case cases[GUARD_CASES];
	/* processes stopped with SIGSTOP, victims or not; resumed by the supervisor if the guard dies */
	struct target frozen[GUARD_FROZEN];
	_Atomic uint32_t n_frozen;
	/* while the guard waits for them; taken back by the supervisor if the guard dies */
	struct lent lent[GUARD_LENT];
	struct {
		uint64_t used_bytes, total_bytes; /* of the tightest level at the last sample */
		uint64_t node_used_bytes, node_total_bytes;
		uint64_t job_bytes[UNIT_JOBS_MAX], job_peak_bytes[UNIT_JOBS_MAX];
		enum guard_state state;
		/* the processes that would be ended now, while memory is short (from GUARD_WARN on); 0: free */
		pid_t likely[GUARD_LIKELY];
	} now;
	_Atomic uint32_t
		/* the supervisor is opening the likely victims: a case waits a little longer for it */
		preloading;
	_Atomic uint32_t clamped; /* implausible numbers of the kernel were clamped */
	char notes[8][200]; /* what works less well here and why, for doctor and the start-up line */
	uint32_t n_notes;
	bool locked; /* memory is locked */
};

/* True while a victim is frozen or about to be: work that takes milliseconds must wait. */
static inline bool guard_case_pending(const struct guard_shm *shm)
{
	uint32_t n = atomic_load(&shm->cases_n);
	return n > 0 && atomic_load(&shm->cases[(n - 1) % GUARD_CASES].phase) < CASE_KILLED;
}
