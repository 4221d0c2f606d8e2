/*
 * Ends a case of the guard: adds what the guard itself could not know (names,
 * the retry, shared memory, advice), keeps the report and shows it, also in
 * the job's own log, because that is where people look first.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "agent/incident/keeper.h"
#include "agent/inspect/warmlens.h"
#include "judge/death/retry.h"
#include "sense/world.h"

struct caseend {
	const struct world *w;
	struct keeper *keeper;
	struct job *job;
	uint32_t nproc;          /* ranks whose logs we keep; 0: none (adopted) */
	bool quiet;
	const struct retry_decision *retry; /* NULL: not decided, or not ours to retry */
	uint32_t retry_max;
	struct warmlens *warm;   /* who was looked into beforehand; NULL: nobody */
	const char *heap_folder; /* of the attempt's heap profiles; NULL or "": none */
	bool has_status;         /* of the victim */
	int wait_status;
};

/* Node, address, log directory. */
void caseend_common(const struct caseend *e, struct incident *in);
void caseend_retry(const struct caseend *e, struct incident *in);
/* Memory is short, and a case may come: what the look writes to is made beforehand. */
void caseend_prepare(struct guard_shm *shm);
/*
 * The victim's stacks are read while it is frozen; the guard is to be woken afterwards. What the guard and this found then
 * goes to disk (caseend_skeleton): until there is a whole report, or in case there never is one.
 */
void caseend_look(const struct caseend *e, struct guard_case *c);
void caseend_skeleton(const struct caseend *e);
/* The kernel's memory numbers were clamped: an event of the job; loud: said to the user as well. */
void caseend_absurd(struct keeper *k, const struct job *job, bool loud);
/* The victims belong to somebody else: nobody was ended, and that is said. */
void caseend_denied(struct keeper *k, const struct job *job, const struct guard_case *c);
void caseend_finish(const struct caseend *e, struct guard_case *c);
/* The message on stderr and in the ranks' logs. */
void caseend_show(const struct caseend *e, const struct incident *in);
