/*
 * The processes of a watched job, look by look: who is there, of which rank
 * and for what, what each has used, and who came and went. What service
 * threads do is taken out of the counters of a process that does little else:
 * only there it matters, and only there are its threads read.
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
	bool named; /* who is known */
	bool main; /* of its rank */
	bool young; /* not seen in the look before */
	bool has_schedule, has_io, has_status;
	int32_t wait_status;
	uint32_t threads;
	uint64_t cpu_ns, reaped_ns, main_queued_ns;
	struct procstats_io io;
	uint64_t major_faults;
	uint64_t at_ns; /* the look that the numbers are of */
	/* Sums of its service threads, which are in the above: 0 until they were read. */
	uint64_t service_cpu_ns;
	struct procstats_io service_io;
};

struct hangprocs_gone {
	int32_t rank;
	pid_t pid;
	bool main;
	char role[16], name[32];
	bool has_status;
	int32_t wait_status;
};

#define HANGPROCS_GONE 64
#define HANGPROCS_EVER 8192 /* power of two */

struct hangprocs {
	struct hangprocs_member *was, *now; /* by pid; each of JOBPIDS_MAX */
	size_t n_was, n_now;
	struct hangprocs_gone gone[HANGPROCS_GONE]; /* since the look before */
	size_t n_gone;
	struct jobpids pids;
	struct procstats *procstats; /* borrowed */
	uint64_t samples;
	struct spawnranks *spawned;
	struct ownranks_process *own; /* JOBPIDS_MAX: n_now as model/jobs/ownranks has them */
	bool others; /* roles were read in this look */
	pid_t ever[HANGPROCS_EVER]; /* of the job at some time, by pid modulo HANGPROCS_EVER; the last one wins */
	char environ[128 * 1024];
};

/* NULL without memory. procstats is shared by all crews of a watcher. */
struct hangprocs *hangprocs_new(struct procstats *procstats);
struct hangprocs *hangprocs_free(struct hangprocs *c);
/* All of the attempt before is forgotten. */
void hangprocs_forget(struct hangprocs *c);
/* thread_ns: how much time may be spent on reading threads; what was spent is taken off. */
void hangprocs_sample(struct hangprocs *c, const struct world *w, const struct hang_job *job, uint64_t now_ns,
		    uint64_t *thread_ns);
const struct hangprocs_member *hangprocs_find(const struct hangprocs *c, pid_t pid);
/* The same process in the sample before; NULL: it was not there. */
const struct hangprocs_member *hangprocs_before(const struct hangprocs *c, const struct hangprocs_member *m);
/* Is it, or was it in this attempt, one of the job's? */
bool hangprocs_knows(const struct hangprocs *c, pid_t pid);
/* The main process of a rank; NULL: none is there. */
const struct hangprocs_member *hangprocs_main(const struct hangprocs *c, int32_t rank);
