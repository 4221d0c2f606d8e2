/*
 * Whether a job is well, in one sentence for a tired person: the first line of the page. Judged by judge/health, told
 * as "vigil.health/1" by tell/jobs/health_json.
 */
#pragma once

#include "model/incident/incident.h"
#include "model/jobs/job.h"

enum health_level {
	HEALTH_UNKNOWN,
	HEALTH_WELL,
	HEALTH_QUIET, /* it runs, and nothing is told of its steps, or none for a while */
	HEALTH_SUSPECTED, /* vigil looks whether it hangs */
	HEALTH_HUNG,
	HEALTH_SLOW,
	HEALTH_MEMORY, /* memory runs out */
	HEALTH_DIED,
	HEALTH_ENDED, /* as it should */
	HEALTH_LOST,
	HEALTH_LEVEL_MAX,
};

#define HEALTH_ADVICE 4
#define HEALTH_EVIDENCE 6

/* What is known of a job's last trouble and of its steps, as the store and the series tell it. */
struct health_facts {
	const struct job *job; /* with a state that is up to date */
	int64_t now_unix_ms;
	char ran[24]; /* how long, in words; "-": unknown */
	int64_t attempt_unix_ms; /* when the running attempt began; 0: it is the first, or that is not known */
	/* The incident that leads (judge/death/story), or what its end is told as; kind INCIDENT_NONE: none */
	struct {
		enum incident_kind kind;
		char id[64]; /* empty: it is not stored */
		char summary[400];
		char why[1024]; /* the cause in whole sentences; empty: it is not known */
		char advice[HEALTH_ADVICE][320];
		size_t n_advice;
		int32_t culprit[INCIDENT_CULPRITS];
		size_t n_culprits;
		char evidence[HEALTH_EVIDENCE][200];
		size_t n_evidence;
		int64_t time_unix_ms;
		uint64_t retry_ms; /* how long after its report the next attempt was to begin; 0: there is none */
		uint64_t stood_ms; /* a hang: how long the job had stood then; 0: unknown */
		uint32_t attempt;
		bool resolved; /* a hang, a slow rank: it is over */
		char ended_by[48]; /* a hang: the setting by which vigil ended the job; empty: it did not */
		bool lasts; /* a slow rank: until it is told to be over */
		bool asked; /* a death: the user asked for it (incident_asked) */
	} trouble;
	/* Events of the running attempt; time 0: there was none, or it is over */
	char suspicion[512], warning[512];
	char standing[512]; /* why it stood still and may; it takes the place of the suspicion */
	int64_t suspicion_unix_ms, warning_unix_ms, standing_unix_ms;
	int64_t retry_unix_ms; /* when another attempt was announced; 0: it has begun, or there is none */
	char steps[160]; /* in words; empty: none are printed */
	int64_t steps_unix_ms; /* of the last one */
	bool has_rate;
	double per_s; /* of the rank that is behind, now */
	double usual_per_s; /* model/jobs/steppace; 0: too little is known */
};

struct health {
	enum health_level level;
	bool stopped; /* with HEALTH_DIED: its user stopped it */
	bool nobody_waits; /* with HEALTH_SLOW: its ranks go at paces of their own, the culprits hold nobody up */
	char sentence[600];
	char why[1024]; /* what the sentence leaves out, whole sentences; empty: nothing */
	int32_t culprit[INCIDENT_CULPRITS];
	size_t n_culprits;
	char advice[HEALTH_ADVICE][320];
	size_t n_advice;
	char evidence[HEALTH_EVIDENCE][200];
	size_t n_evidence;
	char incident[64]; /* empty: none */
	int64_t since_unix_ms; /* 0: unknown */
	int64_t next_unix_ms; /* when the next attempt begins; 0: none is to begin, or that is not known */
};

const char *health_level_name(enum health_level l);
