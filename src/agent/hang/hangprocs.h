/*
 * Samples of the processes of a watched job: which are alive, their rank, role
 * and counters, and which came and went. For a process that does little, the
 * work of its service threads is summed apart, so that it does not look like
 * work of the program; only of such processes are threads read.
 */
#pragma once

#include "agent/hang/hangshm.h"
#include "agent/jobs/jobpids.h"
#include "agent/inspect/spawnrank.h"
#include "model/jobs/role.h"
#include "sense/proc/procstats.h"

struct hangprocs_member {
	pid_t pid, ppid;
	uint64_t start_ticks;
	char comm[16];
	char state;
	struct role_info who;
	bool named; /* who is valid */
	uint8_t n_read; /* how often its names were read, until they are settled; 0: they are */
	bool main; /* the main process of its rank */
	bool young; /* not in the sample before */
	bool has_schedule, has_io, has_status;
	int32_t wait_status;
	uint32_t threads;
	uint64_t cpu_ns, reaped_ns, main_queued_ns;
	uint64_t main_run_ns; /* of the main thread on a processor, to the nanosecond; has_schedule */
	struct procstats_io io;
	uint64_t major_faults;
	uint64_t at_ns; /* time of the sample with these numbers */
	/* sums of its service threads, which cpu_ns and io include; 0 until threads were read */
	uint64_t service_cpu_ns;
	struct procstats_io service_io;
};

struct hangprocs_gone {
	int32_t rank;
	pid_t pid;
	uint64_t start_ticks;
	bool main;
	char role[16], name[32];
	bool has_status;
	int32_t wait_status;
	int64_t ended_unix_ms; /* 0: unknown */
};

#define HANGPROCS_GONE 64
#define HANGPROCS_EVER 8192 /* power of two */

struct hangprocs {
	struct hangprocs_member *was, *now; /* the sample before and this one, by pid; JOBPIDS_MAX rows each */
	size_t n_was, n_now;
	struct hangprocs_gone gone[HANGPROCS_GONE]; /* since the sample before */
	size_t n_gone;
	struct jobpids pids;
	struct procstats *procstats; /* borrowed */
	uint64_t samples;
	uint64_t stirred_ns; /* the last sample before which some thread may have run; 0: none since the first */
	struct spawnranks *spawned;
	struct ownranks_process *own; /* now[0..n_now) in the form of model/jobs/ownranks; JOBPIDS_MAX rows */
	bool others; /* a role was read in this sample */
	pid_t ever[HANGPROCS_EVER]; /* pids of the attempt, at pid modulo HANGPROCS_EVER; the last one wins */
	char environ[128 * 1024];
};

/* NULL without memory. procstats is shared by all jobs of a watcher. */
struct hangprocs *hangprocs_new(struct procstats *procstats);
struct hangprocs *hangprocs_free(struct hangprocs *c);
/* Drops all that is known of the attempt before. */
void hangprocs_forget(struct hangprocs *c);
/* Takes a sample. *thread_ns: time that may be spent on reading threads; what was spent is subtracted. */
void hangprocs_sample(struct hangprocs *c, const struct world *w, const struct hang_job *job, uint64_t now_ns,
		      uint64_t *thread_ns);
/*
 * True if any thread of the job may have run within this time. Not of a job that has only slept since the first sample:
 * processes of one thread each, none of which came, went or had a processor.
 */
bool hangprocs_stirred(const struct hangprocs *c, uint64_t now_ns, uint64_t within_ns);
const struct hangprocs_member *hangprocs_find(const struct hangprocs *c, pid_t pid);
struct hang_own;
/* Publishes ranks that the program started itself, so that the owner can keep their sizes by rank. */
void hangprocs_own_publish(const struct hangprocs *c, struct hang_own *own);
/* The same process in the sample before; NULL: it was not there. */
const struct hangprocs_member *hangprocs_before(const struct hangprocs *c, const struct hangprocs_member *m);
/* True if it is, or was in this attempt, a process of the job; may be false for an early one of very many. */
bool hangprocs_knows(const struct hangprocs *c, pid_t pid);
/* The main process of a rank; NULL: none. */
const struct hangprocs_member *hangprocs_main(const struct hangprocs *c, int32_t rank);
/* True if this thread sleeps now; *ret_until_ns: until when, 0 if that is not known. */
bool hangprocs_sleeps(const struct world *w, pid_t pid, pid_t tid, uint64_t *ret_until_ns);
