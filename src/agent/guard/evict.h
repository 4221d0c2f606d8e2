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

#include "act/reaper.h"
#include "act/target.h"
#include "agent/guard/memwatch.h"
#include "agent/guard/guardshm.h"

#define EVICT_TARGETS GUARD_FROZEN
#define EVICT_COMMANDS 4
#define EVICT_UNKILLABLE 64
#define EVICT_HELD 512 /* of these a pidfd is kept: the largest ones */

enum evict_phase { EVICT_IDLE, EVICT_ASKED, EVICT_FROZEN, EVICT_KILLING, EVICT_SETTLING };

/* A command line read while its process still had one. */
struct evict_command {
	pid_t pid;
	char text[200];
};

struct evict {
	const struct world *w;
	struct guard_shm *shm;
	struct memwatch *memwatch;
	struct tasks *tasks;
	struct unit_memory *known;
	struct unit_table *units;
	struct reaper *reaper;
	int kick_fd; /* tells the supervisor */
	struct guard_job *jobs; /* the guard's own copy */
	size_t n_jobs;
	bool orphaned; /* the supervisor died: parentage no longer shows what is ours */

	enum evict_phase phase;
	struct guard_case *now; /* the case at hand */
	struct victim_choice choice;
	struct target target[EVICT_TARGETS];
	size_t n_targets, n_held;
	struct evict_command command[EVICT_COMMANDS]; /* of the largest targets */
	uint64_t group_frozen; /* bit per job frozen by its group */
	uint64_t crossing_ns, deadline_ns, killed_ns, swept_ns;
	uint64_t sweep_cost_ns; /* what the last sweep took */
	uint64_t used_at_kill, used_least;
	uint64_t used_frozen; /* at the first look after the victims were frozen; 0: not looked yet */
	uint32_t still, reaped_before;
	size_t level;
	bool asked; /* of the case at hand: SIGTERM was sent first */
	struct proc_id unkillable[EVICT_UNKILLABLE]; /* SIGKILL did nothing to them: stuck, or not ours to end */
	size_t n_unkillable;
	bool no_victim; /* the last sample found no process to end */
	bool brief_freeze; /* a short freeze has just begun: the next sample, taken at once, ends it or opens a case */
};

/* Look at all processes again and group them. budget: how many unknown ones may be read up on. */
int must_check evict_sweep(struct evict *h, size_t budget);
/*
 * The same where the last sweep is fresh and each job has a control group: only the jobs' own processes are looked at,
 * new ones included. false: nothing was done, and evict_sweep is needed.
 */
bool must_check evict_refresh(struct evict *h, size_t budget);
/* Is the last sweep young enough to act on? */
bool evict_is_fresh(const struct evict *h);
/* Who would be ended now, the likeliest first, with the largest of its processes; 0 where there are fewer. */
void evict_likely(const struct evict *h, pid_t ret[static GUARD_LIKELY]);
/* One look has been judged: begin, go on with or finish a case. *ret_next_ns: look again that soon. */
void evict_step(struct evict *h, const struct ledger *l, const struct guard_step *step, uint64_t *ret_next_ns);
/* Bytes that job j's units hold, from the last sweep. */
uint64_t evict_job_bytes(const struct evict *h, size_t j);
/* Thaw whatever is frozen: used when the guard leaves. */
void evict_let_go(struct evict *h);
