/*
 * The report of a memory kill: adds what the guard itself could not know (names, the retry, shared memory, advice),
 * writes the report and prints it. The kept copy of the job's output stays the job's: no line of vigil's comes into it.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "agent/incident/recorder.h"
#include "agent/incident/lookahead.h"
#include "agent/incident/raycase.h"
#include "judge/death/retry.h"
#include "sense/world.h"

struct killreport {
	const struct world *w;
	struct recorder *recorder;
	struct job *job;
	uint32_t nproc; /* number of ranks whose logs we keep; 0: none (adopted) */
	bool quiet;
	const struct retry_decision *retry; /* NULL: not decided, or the job cannot be retried by us */
	bool victims_stand; /* SIGKILL has not ended them, so what follows is not decided */
	uint32_t retry_max;
	struct raycases *ray; /* of the job; NULL: nothing is kept */
	struct lookahead *ahead; /* what was read of likely victims beforehand */
	struct attachments *parts; /* of this case: killreport_look fills it, killreport_finish frees it */
	const struct jobgroup *group; /* the job's own; NULL: it has none */
	const char *heap_folder; /* folder of the attempt's heap profiles; NULL or "": none */
	bool has_status; /* of the victim */
	int wait_status;
};

/* Fill in job, node, its address and the log directory. */
void killreport_common(const struct killreport *e, struct incident *in);
void killreport_retry(const struct killreport *e, struct incident *in);
/* Read the victims' stacks while they are frozen. Wake the guard afterwards. */
void killreport_look(const struct killreport *e, struct guard_case *c);
/* Then write what is known to disk, until the whole report replaces it, or in case there never is one. */
void killreport_skeleton(const struct killreport *e);
/* The kernel's memory numbers were clamped: an event of the job; loud: a warning on stderr too. */
void killreport_clamped(struct recorder *k, const struct job *job, bool loud);
/* The victims belong to another user, so none was ended: a warning and an event. */
void killreport_denied(struct recorder *k, const struct job *job, const struct guard_case *c);
/* Complete the report of a kill, write it, notify, and print the message. */
void killreport_finish(const struct killreport *e, struct guard_case *c);
/* Print the message on stderr. */
void killreport_show(const struct killreport *e, const struct incident *in);
