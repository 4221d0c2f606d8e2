/* What the supervisor of a job knows: struct super in parts, each with the file that changes it. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "act/deathsig.h"
#include "act/launch.h"
#include "agent/collective/ncclrun.h"
#include "agent/heap/heaprun.h"
#include "agent/run/callrun.h"
#include "agent/run/jobhang.h"
#include "agent/run/livetell.h"
#include "agent/output/keeper.h"
#include "agent/output/pump.h"
#include "agent/run/sampler.h"
#include "agent/run/services.h"
#include "agent/run/supervise.h"
#include "model/jobs/job.h"

#define SUPER_RANKS UNIT_ROOTS_MAX
#define SUPER_ATTEMPTS 256

/* What an epoll event is of. */
enum super_key {
	SUPER_KEY_SIGNAL = 1,
	SUPER_KEY_GUARD, /* a case moved on */
	SUPER_KEY_GUARD_DIED,
	SUPER_KEY_SENDERS, /* BPF saw a signal being sent */
	SUPER_KEY_HANG, /* a message of the hang watcher */
	SUPER_KEY_LIVE, /* a reader of the live socket came, went or has room again */
	SUPER_KEY_OUTPUT, /* the threads that pass output on and keep it have something to tell */
};

struct rank {
	int32_t rank;
	struct launched proc;
	uint64_t start_ticks;
	int64_t started_unix_ms, ended_unix_ms;
	bool running;
	/* Static text: why vigil asked it to end, as job_process's ended_for; NULL: it did not. */
	const char *asked_for;
	bool ended_by_us; /* because another rank failed, or leftovers were cleared */
	int wait_status;
	bool has_limits, has_cpu; /* at its end */
	uint64_t soft_limit[PROCESS_LIMITS], hard_limit[PROCESS_LIMITS], cpu_ns;
	struct tee out, err;
	struct streamorder order; /* of both; with the pump's lock */
	struct job_process row;
};

/*
 * RUNNING: ranks run. ENDING: they were asked to end; SIGKILL at the deadline. LINGERING: all ranks ended well,
 * processes that they left behind still run. WAITING: until the next attempt, at the deadline. OVER: leave the loop.
 */
enum super_phase { SUPER_RUNNING, SUPER_ENDING, SUPER_LINGERING, SUPER_WAITING, SUPER_OVER };

/* What the ranks' environment asks for, and where it is kept. */
struct super_tools {
	struct callrun calls;
	struct heaprun heap;
	struct ncclrun nccl;
};

/* super_output.c */
struct super_output {
	struct pump pump;
	struct keeper keeper;
	int news_fd;
	bool gap_said;
	struct keptlogs kept; /* how much of it is kept; the keeper's, but where it is idle */
};

/* super_attempt.c, super_end.c */
struct super_attempts {
	struct retry_attempt done[SUPER_ATTEMPTS];
	uint32_t n; /* attempts that have ended; the last place of done is used again and again beyond its size */
	uint64_t start_ns; /* of this attempt, monotonic */
	int first_failed; /* index of the rank of this attempt that failed first; -1: none */
	int master_port;
};

/* super_signal.c, super_ranks.c, super_loop.c: how the job is being ended */
struct super_ending {
	bool stopping; /* the user asked us to end */
	int stop_signal;
	uint32_t interrupts;
	bool killed_hard; /* SIGKILL was sent */
	bool asked_leftovers; /* processes left behind by the ranks have had their SIGTERM */
	bool said_lingering, said_stuck;
	bool left_behind; /* processes stuck in the kernel were given up */
	uint64_t lingering_since_ns;
};

/* super_guard.c: memory kills of this attempt */
struct super_kills {
	struct guard_case *pending; /* a complete kill whose report waits for the attempt's end */
	bool stand; /* its victims were not ended by SIGKILL, and are told of as they stand */
	uint64_t pending_since_ns, last_ns;
	uint32_t n;
	pid_t last_victim;
	bool rest_killed; /* one hit processes left behind after all ranks had ended well */
};

/* super_end.c: what the summaries count */
struct super_tally {
	uint32_t kills, others; /* since the last summary */
	uint64_t next_ns; /* 0: no summaries */
};

/* super_loop.c: BPF programs are loaded by a thread of their own, once the job has lived for a moment */
struct super_bpf {
	uint64_t at_ns; /* load then; 0: done */
	bool started, polled;
	_Atomic bool done; /* the thread has finished */
	pthread_t thread;
};

/* super_hang.c */
struct super_hang {
	struct job_hang kept;
	struct stackdump last_look; /* stacks of ranks that were about to be ended; n 0: none */
};

struct super {
	const struct run_spec *spec;
	const struct world *w;
	struct job job;
	struct recorder recorder;
	struct services services;
	struct sampler *sampler; /* NULL: nothing is sampled */
	uint32_t frameworks; /* noted in the store (sense/framework/frameworks) */
	pid_t stray; /* the last child that was found outside of the job's group */
	struct sigfeed *signals; /* NULL without memory */
	struct autopsy *autopsy; /* counters at the start and opened sources (agent/incident/autopsy) */
	struct jobgroup group;
	struct cgroup_place place;
	struct deathsig death[SUPER_RANKS]; /* SIGTERM for each rank when the last process of vigil is gone */
	int note_fd; /* locked note of this job (agent/incident/leftover); -1: none */
	struct rank rank[SUPER_RANKS];
	uint32_t nproc;
	uint64_t start_boot_ns; /* of the job, by the clock that counts suspended time too */
	uint64_t sample_boot_ns; /* the same when its first rank is started: zero of the series file */
	enum super_phase phase;
	uint64_t deadline_ns; /* of the phase */
	struct super_tools tools;
	struct super_output output;
	struct super_attempts attempts;
	struct super_ending ending;
	struct super_kills kills;
	struct super_tally tally;
	struct super_bpf bpf;
	struct super_hang hang;
	struct livetell *live; /* NULL: there is no live socket */
	int epoll_fd, signal_fd;
	sigset_t old_mask;
	int exit_status;
};
