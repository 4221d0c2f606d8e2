/*
 * Ends a case of the guard: adds what the guard itself could not know (names,
 * the retry, shared memory, advice), keeps the report and shows it, also in
 * the job's own log, because that is where people look first.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "agent/incident/recorder.h"
#include "agent/incident/prefetch.h"
#include "agent/inspect/viewcache.h"
#include "judge/death/retry.h"
#include "sense/world.h"

struct killreport {
	const struct world *w;
	struct recorder *recorder;
	struct job *job;
	uint32_t nproc; /* ranks whose logs we keep; 0: none (adopted) */
	bool quiet;
	const struct retry_decision *retry; /* NULL: not decided, or not ours to retry */
	uint32_t retry_max;
	struct viewcache *views; /* opened beforehand; NULL: none */
	struct prefetch *sizes; /* read beforehand; NULL: none */
	const char *heap_folder; /* of the attempt's heap profiles; NULL or "": none */
	bool has_status; /* of the victim */
	int wait_status;
};

/* Node, address, log directory. */
void killreport_common(const struct killreport *e, struct incident *in);
void killreport_retry(const struct killreport *e, struct incident *in);
/* Memory is short, and a case may come: what the look writes to is made beforehand. */
void killreport_prepare(struct guard_shm *shm);
/*
 * The victim's stacks are read while it is frozen; the guard is to be woken afterwards. What the guard and this found
 * then goes to disk (killreport_skeleton): until there is a whole report, or in case there never is one.
 */
void killreport_look(const struct killreport *e, struct guard_case *c);
void killreport_skeleton(const struct killreport *e);
/* The kernel's memory numbers were clamped: an event of the job; loud: said to the user as well. */
void killreport_clamped(struct recorder *k, const struct job *job, bool loud);
/* The victims belong to somebody else: nobody was ended, and that is said. */
void killreport_denied(struct recorder *k, const struct job *job, const struct guard_case *c);
void killreport_finish(const struct killreport *e, struct guard_case *c);
/* The message on stderr and in the ranks' logs. */
void killreport_show(const struct killreport *e, const struct incident *in);
