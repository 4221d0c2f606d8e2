/*
 * Handles the messages of the hang watcher in the supervisor: stores the incident with its stacks and groups, notifies,
 * prints the report. A hang that is over keeps its incident's id and is marked as resolved.
 */
#pragma once

#include "agent/hang/hangshm.h"
#include "agent/incident/autopsy.h"
#include "agent/incident/recorder.h"

struct hangreport {
	const struct world *w;
	struct recorder *recorder;
	struct job *job;
	bool quiet;
	uint32_t nproc; /* number of ranks whose logs are kept apart */
	struct autopsy *autopsy; /* knows how processes have ended; may be NULL */
	const char *next; /* the next action as one sentence for people; "": none */
	const char *ends; /* vigil ends the job now, by this setting: "--on-hang kill"; NULL: it does not */
	bool unsure; /* it was to be ended, but the verdict is too weak for that: an event says so */
};

#define HANGREPORT_UNSURE                                                                                              \
	"The job is left alone: --on-hang acts on less than a proof only if --on-hang-needs allows it."

/*
 * Report one hang, straggler or slowdown of a job that may still change. *in is what was stored, *parts (empty before)
 * what belongs to it; both are needed again when it changes.
 */
void hangreport_incident(const struct hangreport *e, const struct hang_message *m, struct incident *in,
			 struct attachments *parts);
/* Write the incident in its new state (a retry was decided), without another notice. */
void hangreport_update(const struct hangreport *e, struct incident *in, const struct attachments *parts);
/* Attach what the first look at a suspicion saw to the report of its job's end. */
void hangreport_early(const struct hang_message *m, struct attachments *parts);
/* The job moves again: mark the incident as over. */
void hangreport_resolved(const struct hangreport *e, const struct hang_message *m, struct incident *in,
			 struct attachments *parts);
/* The rank that was slow by itself is no more: likewise. */
void hangreport_fast(const struct hangreport *e, const struct hang_message *m, struct incident *in,
		     struct attachments *parts);
/* A rank is slow by its own work: an event, as nothing is known to be wrong. */
void hangreport_pace(const struct hangreport *e, const struct hang_message *m);
/*
 * A loss that is no number (NaN) stops nothing: an event, no incident. first: the first one of the attempt, which is
 * told on stderr and by a notice as well.
 */
void hangreport_loss(const struct hangreport *e, const struct hang_message *m, bool first);
/* Keep who usually ends the waits of the job's threads, for vigil waits. */
void hangreport_wakers(const struct hangreport *e, const struct hang_message *m);
void hangreport_suspect(const struct hangreport *e, const struct hang_message *m);
void hangreport_benign(const struct hangreport *e, const struct hang_message *m);
