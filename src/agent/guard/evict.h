/*
 * Eviction: carries the guard's decision to end processes through, one short step for each sample of memory, so that
 * sampling goes on meanwhile. Freeze first, choose after:
 *
 *   idle -> (asked to end) -> frozen -> killing -> settling -> idle
 *
 * One case at a time: no second victim is chosen while memory of the first is still being freed. Runs in the guard:
 * allocates nothing, all tables are static.
 */
#pragma once

#include "act/deathsig.h"
#include "act/reaper.h"
#include "act/target.h"
#include "agent/guard/grouppids.h"
#include "agent/guard/guardshm.h"
#include "agent/guard/jobscan.h"
#include "agent/guard/memwatch.h"

#define EVICT_TARGETS GUARD_FROZEN
#define EVICT_UNKILLABLE 64
#define EVICT_CONTINUED 512 /* the kernel continues this many stopped processes if the guard is killed */
#define EVICT_HELD 512 /* a pidfd is kept of this many of the largest targets */

enum evict_phase { EVICT_IDLE, EVICT_ASKED, EVICT_FROZEN, EVICT_KILLING, EVICT_SETTLING };

struct evict {
	const struct world *w;
	struct guard_shm *shm;
	struct memwatch *memwatch;
	struct tasks *tasks;
	struct unit_memory *known;
	struct unit_table *units;
	struct reaper *reaper;
	int kick_fd; /* eventfd that wakes the supervisor */
	struct grouppids groups;
	struct jobscan scan;
	bool is_pressing; /* a case begins: then the lists of groups are kept for less long */
	struct guard_job *jobs; /* the guard's own copy */
	size_t n_jobs;
	bool orphaned; /* the supervisor died: parents no longer show which processes are the job's */

	enum evict_phase phase;
	struct guard_case *now; /* the open case */
	struct victim_choice choice;
	struct target target[EVICT_TARGETS];
	size_t n_targets, n_held;
	struct guard_wanted want[GUARD_ASKED]; /* processes whose names the last sweep lacked */
	size_t n_want;
	struct deathsig cont[EVICT_CONTINUED]; /* of shm->frozen, by the same place; those beyond n_cont are not open */
	size_t n_cont;
	uint64_t group_frozen; /* bit per job frozen by its group */
	uint64_t named_until_ns; /* a case begins then, though names are missing; 0: it does not wait for names */
	uint64_t progress_ns; /* when the supervisor was last seen to get on with the stacks */
	uint32_t progress_seen;
	uint64_t frozen_ns; /* when the growth was stopped */
	uint64_t crossing_ns, deadline_ns, killed_ns, swept_ns;
	uint32_t shares_seq; /* of the sharing that was last taken over */
	uint64_t sweep_cost_ns; /* duration of the last sweep */
	uint64_t look_cost_ns; /* and of the last look by evict_look; 0: there was none since */
	uint64_t used_at_kill, used_least;
	uint64_t used_frozen; /* at the first sample after the victims were frozen; 0: none yet */
	uint32_t still, reaped_before;
	size_t level;
	bool asked; /* SIGTERM was sent first in the open case */
	/* they survived SIGKILL: stuck in the kernel, or of another user */
	struct proc_id unkillable[EVICT_UNKILLABLE];
	size_t n_unkillable;
	bool would_told; /* dry run: whom it would be was told, and memory has been short since */
	bool no_victim; /* the last sample found no process to end */
	bool brief_freeze; /* a short freeze has just begun: the next sample, taken at once, ends it or opens a case */
};

/* Scan all processes and group them into units. budget: number of unknown processes whose role may be read. */
int must_check evict_sweep(struct evict *h, size_t budget);
/*
 * Scan only the jobs' own processes, new ones included. Works if the last sweep is fresh and each job has a control
 * group. False: nothing was done, and evict_sweep is needed.
 */
bool must_check evict_refresh(struct evict *h, size_t budget);
/*
 * The same where groups do not show who is new, by the numbers of processes (agent/guard/jobscan); full: not only their
 * sizes. False: evict_sweep is needed, as rows may have moved.
 */
bool must_check evict_look(struct evict *h, bool full, size_t budget);
/* False: evict_look would change nothing. */
bool evict_can_look(const struct evict *h);
/* True if the last sweep is recent enough to choose a victim by. */
bool evict_is_fresh(const struct evict *h);
/* The processes that would be ended now, the first choice and its largest processes first; 0 fills up the rest. */
void evict_likely(const struct evict *h, pid_t ret[static GUARD_LIKELY]);
/* Memory gets short: make ready what takes descriptors and memory. */
void evict_prepare(struct evict *h);
/* Wake the supervisor. */
void evict_kick(struct evict *h);
/* A sample was judged: begin, continue or finish a case. *ret_next_ns: time until the next sample. */
void evict_step(struct evict *h, const struct ledger *l, const struct guard_step *step, uint64_t *ret_next_ns);
/* Bytes held by the units of job j at the last sweep. */
uint64_t evict_job_bytes(const struct evict *h, size_t j);
/* Resume everything that is frozen and stop throttling, before the guard ends. */
void evict_let_go(struct evict *h);
