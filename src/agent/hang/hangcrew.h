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
#include "sense/proc/vitals.h"

struct crew_member {
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
	struct vitals_io io;
	uint64_t major_faults;
	uint64_t at_ns; /* the look that the numbers are of */
	/* Sums of its service threads, which are in the above: 0 until they were read. */
	uint64_t service_cpu_ns;
	struct vitals_io service_io;
};

struct crew_gone {
	int32_t rank;
	pid_t pid;
	bool main;
	char role[16], name[32];
	bool has_status;
	int32_t wait_status;
};

#define CREW_GONE 64
#define CREW_EVER 8192 /* power of two */

struct crew {
	struct crew_member *was, *now; /* by pid; each of JOBPIDS_MAX */
	size_t n_was, n_now;
	struct crew_gone gone[CREW_GONE]; /* since the look before */
	size_t n_gone;
	struct jobpids pids;
	struct vitals *vitals; /* borrowed */
	uint64_t looks;
	struct spawnranks *spawned;
	struct ownranks_process *own; /* JOBPIDS_MAX: n_now as model/jobs/ownranks has them */
	bool others; /* roles were read in this look */
	pid_t ever[CREW_EVER]; /* of the job at some time, by pid modulo CREW_EVER; the last one wins */
	char environ[128 * 1024];
};

/* NULL without memory. vitals is shared by all crews of a watcher. */
struct crew *crew_new(struct vitals *vitals);
struct crew *crew_free(struct crew *c);
/* All of the attempt before is forgotten. */
void crew_forget(struct crew *c);
/* thread_ns: how much time may be spent on reading threads; what was spent is taken off. */
void crew_look(struct crew *c, const struct world *w, const struct hang_job *job, uint64_t now_ns, uint64_t *thread_ns);
const struct crew_member *crew_find(const struct crew *c, pid_t pid);
/* Is it, or was it in this attempt, one of the job's? */
bool crew_knows(const struct crew *c, pid_t pid);
/* The main process of a rank; NULL: none is there. */
const struct crew_member *crew_main(const struct crew *c, int32_t rank);
