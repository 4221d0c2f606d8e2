/*
 * What `vigil why JOB` has to choose from: the incident that leads (judge/death/story), and what became of the job
 * after a hang that nothing resolved.
 */
#pragma once

#include "model/incident/incident.h"
#include "model/jobs/job.h"
#include "tell/store/store.h"

struct job_story {
	char *json; /* the incident that leads, as it was stored; owned; NULL: there is none */
	bool leads_hang; /* it is a hang that nothing resolved */
	struct incident_end end; /* leads_hang: how the job ended; empty text: it has not, or nothing is known */
	int64_t stands_since_unix_ms; /* leads_hang, of the job's newest attempt; 0: unknown */
	char before[64], before_text[400]; /* a hang that nothing resolved came before what leads; empty: none */
};

/* j: brought up to date by its caller. 0 or a negative errno. */
int must_check job_story_read(struct store *store, const struct job *j, struct job_story *ret);
/*
 * True if the stored incident is what to tell first. False: there is none, or the job is lost: its loss is newer than
 * its last incident, and says less than a hang.
 */
bool job_story_leads(const struct job *j, const struct job_story *s);
/* Sets stopped of a job that has failed, before its row is stored, by the incident that leads, which is stored. */
void job_stopped_look(struct store *store, struct job *j);
/* Of a job that is open: that it goes on, or how long it has stood by now, which its report cannot say. A sentence. */
void job_story_goes_on(const struct job *j, const struct job_story *s, int64_t now_unix_ms, char *dst, size_t cap);
void job_story_done(struct job_story *s);
