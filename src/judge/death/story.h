/*
 * Which of a job's incidents tells its story. A job that hung and never moved again was ended by that hang, whoever
 * lost patience with it: the hang leads, and the signal that ended the job is told below it. An end that says more
 * than a signal (an error, memory, a crash) leads itself, and the hang before it is named.
 *
 * Pure.
 */
#pragma once

#include "model/incident/incident.h"

struct story_part {
	char id[64];
	enum incident_kind kind;
	uint32_t attempt;
	bool hang_over; /* kind hang: it was resolved, the job moved again */
};

/* Zeroed: no incident so far. */
struct story {
	struct story_part newest; /* id "": none */
	struct story_part hang; /* the last hang that nothing resolved, in the attempt of `newest`; id "": none */
};

/* Incidents in the order of time, oldest first. */
void story_add(struct story *s, const struct story_part *p);
/* True if the hang is the headline: it is the newest incident, or only a signal came after it. */
bool story_hang_leads(const struct story *s);
/* True if the newest incident leads and a hang that nothing resolved came before it. */
bool story_hang_before(const struct story *s);
