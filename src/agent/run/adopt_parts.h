/* The inside of agent/run/adopt, shared by its files only. */
#pragma once

#include "agent/incident/autopsy.h"
#include "agent/incident/sigfeed.h"
#include "agent/jobs/unguarded.h"
#include "agent/run/adopt.h"
#include "agent/run/jobhang.h"
#include "agent/run/livetell.h"
#include "agent/run/sampler.h"
#include "agent/run/services.h"
#include "model/incident/reportroom.h"
#include "model/jobs/job.h"

/* A worker of Ray that was sent a signal which may end it. */
struct adopt_dying {
	struct sampler_gone worker; /* name: as it was at the signal, where that could still be read */
	struct signal_sent sent;
	uint64_t since_ns; /* monotonic */
};
#define ADOPT_DYING 16

struct adopted {
	bool active;
	bool by_command; /* it matched a text, and may have to give its place to another that does */
	struct job job;
	uint64_t start_boot_ns;
	struct recorder recorder;
	struct autopsy *autopsy;
	struct sampler *sampler; /* NULL: nothing is sampled */
	struct livetell *live; /* NULL: there is no live socket */
	uint32_t frameworks; /* noted in the store */
	struct proc_id id; /* pid 0: by group */
	struct proc_id also[JOBPIDS_ALSO]; /* further roots of a job of Slurm's without a group */
	size_t n_also;
	uint32_t slurm; /* the job's number in Slurm; 0: it is none */
	int pidfd;
	char cgroup[CGROUP_PATH_MAX];
	uint64_t cgroup_number; /* of that group, not of a later one at its path; 0: not known */
	char cgroup_name[CGROUP_PATH_MAX]; /* as /proc/PID/cgroup has it; "": not known */
	struct cgroup_place place;
	uint32_t kills;
	bool has_oom_kills;
	uint64_t oom_kills; /* of the kernel on this machine, at the last sample */
	uint64_t oom_until_ns; /* a worker that is gone until then may have been one of them */
	uint64_t signals_at; /* looked at up to here */
	struct adopt_dying dying[ADOPT_DYING];
	size_t n_dying;
	uint64_t stops_until_ns; /* its raylet was told to end: its workers end with it */
	struct reportroom worker_reports;
	struct job_hang hang;
	uint64_t hard_ns; /* it is being ended, by SIGKILL from then on; 0: it is not */
};

struct adopt {
	const struct adopt_spec *spec;
	const struct world *w;
	struct recorder recorder; /* owns the store */
	struct services services;
	struct adopted job[UNIT_JOBS_MAX]; /* same index as in guard_shm.jobs */
	uint32_t n;
	int signal_fd;
	struct reportrooms worker_reports; /* of users, root left out */
	struct sigfeed *signals; /* of all jobs; NULL: none was watched yet */
	uint64_t rescan_ns;
	uint64_t newcomers_ns; /* when they are looked for next */
	pid_t numbers[2]; /* of processes: the last one that was given at the look before the last, and at the last */
	struct unguarded crowd; /* of the last look */
	bool crowd_told;
	bool stop;
};

/* ---- adopt_find.c: which processes and groups are meant ---- */

/* 0 also when it is watched already, or nothing matches now; WORLD_GONE: there is no such process or group; -ENOSPC. */
int must_check adopt_target(struct adopt *a, const struct adopt_target *t);
/*
 * True if a process matches that has begun between the look before the last one and the last: by now it has started the
 * program that is meant, and most others that came then have gone. Of very many at once the next whole look finds it.
 */
bool adopt_newcomer(struct adopt *a);
/* Before all processes are looked at for the first time. */
void adopt_newcomers_begin(struct adopt *a);
/* Around the calls for all targets: how many match and cannot be guarded is counted, and told of once. */
void adopt_crowd_begin(struct adopt *a);
void adopt_crowd_tell(struct adopt *a);

/* Look for further roots of a job of Slurm's without a group, which come with its next steps. */
void adopt_slurm_again(struct adopt *a, struct adopted *j);

/* ---- adopt_job.c: one job's beginning and end ---- */

/* A free place for a job, cleared by the caller; NULL: all are taken. */
struct adopted *adopt_slot(struct adopt *a);
/* j->id or j->cgroup say what it is. */
void adopt_begin(struct adopt *a, struct adopted *j, const char *name, const char *command);
/* Which processes belong to the job, for jobpids_find. */
struct jobpids_want adopt_pids_want(const struct adopt *a, const struct adopted *j);
bool adopt_still_alive(const struct adopt *a, const struct adopted *j);
void adopt_ended(struct adopt *a, struct adopted *j);
/* It goes on without us; its place is free. */
void adopt_release(struct adopt *a, struct adopted *j, const char *why);
/* The context of a kill report of this job. */
struct killreport adopt_killreport(struct adopt *a, struct adopted *j);
/* We were told to stop watching; the jobs go on. */
void adopt_leave(struct adopt *a);
/* Sample what is due. */
void adopt_samples(struct adopt *a);
/* Tells readers of live sockets what is new, where there are any and it is time. */
void adopt_live(struct adopt *a);
/* When adopt_live wants to be called; UINT64_MAX: not by time. */
uint64_t adopt_live_due_ns(const struct adopt *a);

/* ---- adopt_workers.c: workers of Ray that somebody kills while their node goes on ---- */

/* Call it after each sample: tells of those that the sample before still had. */
void adopt_workers(struct adopt *a, struct adopted *j);
/* Call it after the feed of signals has been taken: tells of workers that a signal has ended. */
void adopt_workers_signalled(struct adopt *a);
/* Pass a job on to the guard and to the hang watcher, as it is now. */
void adopt_pass_on(struct adopt *a, uint32_t i);

/* ---- adopt_services.c: what follows from the services' reports ---- */

extern const struct services_ops adopt_ops;
/* SIGKILL for jobs that hang and did not end in time. */
void adopt_hang_deadlines(struct adopt *a);
