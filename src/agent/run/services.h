/*
 * The helper processes of supervised and adopted jobs, and what they report: the guard with its cases, the hang watcher
 * with its messages, the notifier. One copy for both loops (agent/run/supervise, agent/run/adopt); what differs between
 * them is in struct services_ops.
 *
 * The loops own the structs; everything here runs in the supervisor and does not wait, but for the pause before a guard
 * is started for the fourth time and more.
 */
#pragma once

#include "agent/guard/guardproc.h"
#include "agent/hang/hangproc.h"
#include "agent/incident/killreport.h"
#include "agent/incident/lookahead.h"
#include "agent/notify/notifier.h"
#include "agent/run/jobhang.h"
#include "agent/run/runspec.h"

/* Children that were there before us: the shell that became vigil by exec had begun them. */
#define SERVICES_EARLIER 16
#define SERVICES_HELPERS (8 + SERVICES_EARLIER)
/* After this many deaths the guard is not started again; the jobs go on unguarded. */
#define SERVICES_GUARD_DEATHS 20

struct services;

/* owner is what the loop gave to services_open; job is an index of guard_shm.jobs. */
struct services_ops {
	/* Fill in the context of a kill report. False: the job is no longer watched, and its cases are dropped. */
	bool (*report)(void *owner, uint32_t job, struct killreport *ret);
	/* A kill is complete, or as complete as it will get. */
	void (*killed)(void *owner, uint32_t job, struct guard_case *c);
	/* The guard's process was started: its descriptors are new, and it must be handed the jobs. */
	void (*guard_started)(void *owner);
	/*
	 * Fill in the context of a hang report and what is kept of the job's hangs. False: the job is no longer
	 * watched.
	 */
	bool (*hang)(void *owner, uint32_t job, struct hangreport *ret, struct job_hang **ret_kept);
	/* A hang, straggler or slowdown was judged: report it, and end the job if that was asked for. */
	void (*hang_incident)(void *owner, const struct hang_message *m);
	/* One of the helper processes was started or has ended, so the lists of vigil's own processes have changed. */
	void (*helpers_changed)(void *owner);
};

struct services {
	const struct world *w;
	const struct services_ops *ops;
	void *owner;
	uint32_t n_jobs; /* indices below this may be watched */
	struct guardproc guard;
	pid_t rescue; /* agent/guard/rescue; 0: none */
	uint64_t beat_look_ns; /* look again then whether the guard moves */
	bool beat_missed; /* it had not moved at the last look, and was woken */
	struct hangproc hang;
	struct notifier notifier;
	struct lookahead ahead; /* likely victims, while memory is short */
	pid_t scope_holder; /* keeps a systemd scope open; 0: none */
	pid_t earlier[SERVICES_EARLIER]; /* 0: none, or it has ended */
	bool among_jobs; /* this process may live in a watched group, and is never part of a job */
	int iter_link_fd; /* the BPF task iterator, for each new guard; -1: none */
	uint32_t cases_seen; /* guard cases finished or dropped so far */
	uint32_t saved_case; /* number of the last case whose victims' stacks were taken */
	struct raycases ray[UNIT_JOBS_MAX]; /* of each job */
	uint64_t ray_look_ns; /* look again then into their logs */
	struct attachments parts[GUARD_CASES]; /* of each case, by its place in the ring */
	uint32_t guard_deaths, rescue_deaths;
	bool clamped_reported;
	uint32_t warning_seen, would_seen; /* guard_shm.warning.seq, .would.seq */
	uint64_t away_told; /* bit per job of which it was told that processes have left its group */
};

/* A living worker of Ray in this job (0: none): its node's logs are opened, if they were not. */
void services_ray_learn(struct services *s, uint32_t job, pid_t worker);
/* What Ray's logs say of the victim of this report, which nobody has looked at before its death. */
void services_ray_victim(const struct services *s, uint32_t job, struct incident *in);
/* Used bytes of a job's own limit above which its guard acts; 0: it has none, or the guard is off. */
uint64_t services_acts_at(const struct guard_spec *g, uint64_t limit_bytes);
/* Prepares what needs no process: the guard's shared memory with its settings, the notifier. -ENOMEM. */
int must_check services_open(struct services *s, const struct world *w, const struct watch_spec *spec,
			     const struct services_ops *ops, void *owner);
/*
 * Start the guard (calls ops->guard_started), then prepare the hang watcher, which is started later: the guard is
 * forked first, so that it shares nothing with the watcher. -errno: there is no guard. Without a watcher a warning is
 * printed.
 */
int must_check services_start(struct services *s, const struct watch_spec *spec);
/* Take the last hang messages, then stop the hang watcher and the guard. The guard's shared memory stays readable. */
void services_stop(struct services *s);
/*
 * After services_stop, when the last incident was reported and the job's group is gone: ends the rescue process and
 * gives the notifier a moment to deliver.
 */
void services_close(struct services *s);

/* For who starts the job: after services_open, before any process of it. Fills `earlier`. */
void services_note_earlier(struct services *s);
/* Pids of vigil's own processes, and of `earlier`: never victims, never part of a job. Returns their number. */
size_t services_helpers(const struct services *s, pid_t ret[static SERVICES_HELPERS]);
/* Fill in the context of the report of this case. False: its job is no longer watched. */
bool services_report(struct services *s, const struct guard_case *c, struct killreport *ret);
/* Work through the guard's new cases. Call when guard.from_guard_fd is readable, and in doubt. */
void services_cases(struct services *s);
/* Wait at most wait_ns until every case that has begun is finished. */
void services_cases_wait(struct services *s, uint64_t wait_ns);
/* The guard ended: reap it, recover its record and start it again. Call when guard.pidfd is readable. */
void services_guard_died(struct services *s);
/* Take all messages of the hang watcher. Call when hang.from_fd is readable, and in doubt. */
void services_hang_messages(struct services *s);
/*
 * Start what is due: the hang watcher (if may_fork), the deliverer of notices. Calls ops->helpers_changed if one was.
 */
void services_tick(struct services *s, bool may_fork);
/* services_tick wants to be called at this time, to look whether the guard moves. */
uint64_t services_due_ns(const struct services *s);
/* Note in the store which frameworks a job uses, if that is not what was noted before (0: nothing). */
void services_frameworks(struct services *s, uint32_t job, struct recorder *recorder, const struct job *j,
			 uint32_t *noted);
/* A child was reaped. True if it was the hang watcher, the deliverer or the rescue process, whose end is then noted. */
bool services_reaped(struct services *s, pid_t pid, int wait_status);
/* Reap the guard and the hang watcher if they have ended, for a loop that reaps nothing else. */
void services_reap(struct services *s);
