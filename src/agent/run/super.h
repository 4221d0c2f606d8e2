/* The inside of agent/run/supervise: shared by its files, by nobody else. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "act/launch.h"
#include "agent/run/callrun.h"
#include "agent/guard/guardproc.h"
#include "agent/heap/heaprun.h"
#include "agent/collective/ncclrun.h"
#include "agent/hang/hangproc.h"
#include "agent/incident/recorder.h"
#include "agent/run/outbuf.h"
#include "agent/run/sampler.h"
#include "agent/run/supervise.h"
#include "agent/run/tee.h"
#include "agent/incident/lookahead.h"
#include "model/jobs/job.h"

#define SUPER_RANKS UNIT_ROOTS_MAX
#define SUPER_ATTEMPTS 256
/* What woke us; from 100 on the output of the ranks. */
enum { SUPER_KEY_OUT = 10, SUPER_KEY_ERR = 11 };

struct rank {
	int32_t rank;
	struct launched proc;
	uint64_t start_ticks;
	int64_t started_unix_ms, ended_unix_ms;
	bool running;
	bool ended_by_us;      /* because another rank failed, or leftovers were cleared */
	int wait_status;
	struct tee out, err;
	struct job_process row;
};

enum super_phase { SUPER_RUNNING, SUPER_ENDING, SUPER_LINGERING, SUPER_WAITING, SUPER_OVER };

struct super {
	const struct run_spec *spec;
	const struct world *w;
	struct job job;
	struct recorder recorder;
	struct lookahead ahead; /* the likely victims, while memory is short */
	struct notifier notifier;
	uint64_t started_boot_ns;
	struct sampler *sampler;       /* NULL: nothing is sampled */
	struct callrun calls;
	struct heaprun heap;
	struct ncclrun nccl;
	struct guardproc guard;
	struct hangproc hang;
	bool hung;                     /* this attempt is being ended because it hangs */
	struct incident hang_incident; /* the last hang of this attempt; id empty: none */
	struct hang_message *early; /* the first look at this attempt's last suspicion; NULL: none. Owned */
	uint64_t glance_ns;            /* when it came */
	struct stackdump last_look;    /* of the ranks that were about to be ended; n 0: none */
	struct jobgroup group;
	struct cgroup_place place;
	struct autopsy *autopsy;       /* counters at the start, sources opened (agent/incident/autopsy) */
	struct rank rank[SUPER_RANKS];
	uint32_t nproc;
	struct outbuf out, err; /* our stdout and stderr */
	struct outbuf *err_to; /* &out where both are one */
	bool out_polled, err_polled;
	struct retry_attempt attempt[SUPER_ATTEMPTS];
	uint32_t n_attempts;           /* attempts that have ended */
	uint64_t start_boot_ns; /* of the job, by the clock that counts a suspended machine's time, too */
	uint64_t attempt_start_ns;
	enum super_phase phase;
	int first_failed;              /* index of the rank that failed first; -1 */
	bool stopping;                 /* the user asked us to end */
	int stop_signal;
	uint32_t interrupts;
	uint64_t deadline_ns;          /* of the phase: SIGKILL, or the next attempt */
	bool killed_hard;
	uint32_t cases_seen;           /* cases finished or cancelled */
	bool absurd_told;              /* of the kernel's numbers */
	uint32_t saved_case;           /* number of the last case whose victims were looked at */
	struct guard_case *pending;    /* a finished kill that waits for the attempt's end */
	uint64_t pending_since_ns;
	uint32_t attempt_kills;        /* memory kills in this attempt */
	bool rest_killed;              /* …of what had forked away, after all ranks had ended well: it was the job */
	uint64_t last_kill_ns;
	pid_t last_victim;
	uint32_t period_kills, period_others;
	uint64_t next_summary_ns;
	uint64_t bpf_at_ns;            /* load BPF then; 0: done */
	_Atomic bool bpf_done;         /* the loading thread has finished */
	bool bpf_polled;               /* its signals are polled */
	bool bpf_started;
	pthread_t bpf_thread;
	int iter_link_fd;              /* the BPF iterator, for each new guard; -1 */
	int epoll_fd, signal_fd, timer_fd;
	sigset_t old_mask;
	int exit_status;
	bool said_lingering, said_stuck, left_behind;
	bool asked_leftovers;          /* what the ranks left behind has had its SIGTERM */
	uint64_t lingering_since_ns;
	uint32_t guard_deaths;
	int master_port;
};

/* Wake for fd, with this key; -1 is passed over. */
void super_poll_add(struct super *s, int fd, uint64_t key);

/* super_attempt.c: starting and ending the ranks of one attempt */
int super_attempt_start(struct super *s, int *ret_status);
/* Into the store, once it is open. */
void super_rank_record(struct super *s, struct rank *r);
/* A shell that became a Python (a shim) ended as a Python: what has ended and is not yet reaped still has its last name. */
void super_rank_last_name(struct super *s, struct rank *r);
void super_attempt_signal(struct super *s, int signal);
void super_end_others(struct super *s, const char *why);
/* Descendants that are left when all ranks have ended. */
size_t super_leftovers(struct super *s, pid_t *pids, size_t cap);
void super_rank_ended(struct super *s, struct rank *r, int wait_status);

/* The guard shall not take our helpers for the job's processes. */
void super_not_ours(struct super *s);

/* super_output.c: our own stdout and stderr, and their readers */
void super_output_open(struct super *s);
/* Wait for what can move: the job's output while there is room for it, our readers while something is kept for them. */
void super_output_poll(struct super *s);
/* Our reader can take more. */
void super_output_push(struct super *s, struct outbuf *o);
/* The job is over: until all is read, or a request to end comes. */
void super_output_end(struct super *s);

/* super_sample.c: what the ranks use, for the timeline */
void super_sample_begin(struct super *s);
void super_sample(struct super *s);
/* A rank has ended and is not reaped yet: its last numbers. */
void super_sample_last(struct super *s);
void super_sample_end(struct super *s);

/* super_hang.c: the hang watcher, and what follows from what it says */
int must_check super_hang_open(struct super *s);
/* It is to know the ranks as they are now. */
void super_hang_jobs(struct super *s);
/* Starts it when it is time to; true if it was. */
bool super_hang_tick(struct super *s);
void super_hang_messages(struct super *s);
void super_hang_died(struct super *s, const char *how);
/* A rank has failed, the others are about to be ended: if it has waited for too long, where they stand. */
void super_hang_last_look(struct super *s, const struct rank *failed);
/* Into the report of an end in the midst of a suspicion: what the first look saw. */
void super_hang_ended(struct super *s, struct incident *in);
void super_hang_forget(struct super *s);
/* What becomes of a job that was ended as hung, into its report. */
void super_hang_retry(struct super *s, const struct retry_decision *d);

/* super_end.c: what an attempt's end means */
void super_attempt_ended(struct super *s);
/* A case of the guard moved on. */
void super_guard_cases(struct super *s);
void super_guard_died(struct super *s);
void super_finish_case(struct super *s, struct guard_case *c, const struct retry_decision *retry);
void super_summary(struct super *s, const char *over);
