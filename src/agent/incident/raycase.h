/*
 * What Ray's own logs add to the reports of a job, written down at the time, as a node that has ended says nothing
 * more: who a worker was that died without a look of ours, and whether Ray has submitted its task again.
 */
#pragma once

#include "agent/incident/recorder.h"
#include "sense/framework/raylogs.h"
#include "sense/framework/rayoom.h"
#include "sense/framework/rayretry.h"

#define RAYCASES 8

/* Of one job. The logs are known from the first look that finds a worker; RAYCASE_NONE before. */
struct raycases {
	struct raylogs logs;
	struct rayoom oom;
	uint64_t look_ns; /* not before then, monotonic */
	struct raycase {
		char incident[96]; /* "": free */
		uint64_t until_ns;
	} wait[RAYCASES]; /* reports that may still be told of a retry */
};
#define RAYCASES_NONE ((struct raycases){.logs = RAYLOGS_NONE, .oom = RAYOOM_NONE})

void raycases_done(struct raycases *r);
/* Learn where the node of this living worker logs. Quick; nothing where that is known. */
void raycases_learn(struct raycases *r, const struct world *w, pid_t worker);
/* Fill in the victim's name and ids where it is a worker that nobody has looked at before its death. */
void raycases_victim(const struct raycases *r, struct incident *in);
/* This report was written: look for a minute whether Ray tries again. Nothing if its victim is no worker. */
void raycases_expect(struct raycases *r, const struct incident *in, uint64_t now_ns);
/* True if a report waits. */
bool raycases_waits(const struct raycases *r);
/* Look into the logs for the reports that wait, at most once a second, and complete those that are found. */
void raycases_tick(struct raycases *r, struct recorder *k, const struct job *job, uint64_t now_ns);

/* What Ray did, as a field and a line of evidence of the report. */
void raycase_tell(struct incident *in, const struct rayretry *again);
/* The task's name as Ray's logs have it: the victim's without "ray::". False: it is no worker. */
bool raycase_name(const struct incident *in, char *dst, size_t cap);
