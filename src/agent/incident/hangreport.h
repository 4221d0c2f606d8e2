/*
 * What an owner (agent/run/supervise, agent/run/adopt) does with a message of the hang
 * watcher: stores the incident with its stacks and its groups, tells who is to
 * be told, prints the report. An incident of kind hang that is over keeps its
 * id and is marked as resolved.
 */
#pragma once

#include "agent/hang/hangshm.h"
#include "agent/incident/recorder.h"

struct hangreport {
	const struct world *w;
	struct recorder *recorder;
	struct job *job;
	bool quiet;
	uint32_t nproc; /* ranks whose logs are kept apart */
	const char *next; /* what will be done now, one clause for people; "" nothing */
};

#define HANGREPORT_UNSURE "The job is left alone: for a verdict of low confidence --on-hang ends nothing."

/* One hang, straggler or slowdown of a job that may still change: *in is what was stored. */
void hangreport_incident(const struct hangreport *e, const struct hang_message *m, struct incident *in);
/* The incident in its new state (a retry was decided); nobody is told again. */
void hangreport_update(const struct hangreport *e, const struct incident *in);
/*
 * What the first look at a suspicion saw, for the report of its job's end, which is about to be stored under this id.
 */
void hangreport_early(const struct hangreport *e, const struct hang_message *m, const char *incident_id);
/* It moves again. */
void hangreport_resolved(const struct hangreport *e, const struct hang_message *m, struct incident *in);
/* A loss that is no number stops nothing: an event, and no incident. */
void hangreport_loss(const struct hangreport *e, const struct hang_message *m);
void hangreport_suspect(const struct hangreport *e, const struct hang_message *m);
void hangreport_benign(const struct hangreport *e, const struct hang_message *m);
