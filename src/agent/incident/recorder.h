/*
 * Keeps what happens to a job: the store, the log folders, the incident files. A full or broken disk is warned of once
 * and never stops the job or the guard; what cannot be kept is still printed.
 *
 * The store is never waited for longer than STORE_HASTE_MS: what a lock keeps out of it goes to a file and is stored
 * later (agent/incident/unstored), as is the row of a job that has just begun.
 *
 *   <state>/vigil.db
 *   <state>/jobs/<id>/attempt-<n>/rank-<r>.out .err
 *   <state>/jobs/<id>/wakers
 *   <state>/jobs/<id>/incidents/<incident>.json .txt
 *   <state>/users/<uid>/jobs/<id>/…     the same of another user's job, kept by root: the user may read it
 *   <state>/users/<uid>/jobs/<id>/rows  its rows of the store, which the user may not read
 */
#pragma once

#include "agent/incident/attachments.h"
#include "agent/incident/unstored.h"
#include "agent/notify/notifier.h"
#include "model/incident/incident.h"
#include "model/jobs/job.h"
#include "tell/store/store.h"

/* Name of the file of rows in the job's folder. */
#define RECORDER_ROWS "rows"

struct recorder {
	char state_dir[200];
	char job_dir[256];
	char job_id[64];
	struct store *store; /* NULL: not kept, or locked */
	const struct recorder *owner; /* the recorder whose store is used; NULL: our own */
	bool locked; /* the store could not be opened because of a lock; it is tried again */
	uint64_t again_ns; /* then */
	struct unstored unstored;
	int rows_fd; /* for the owner of the job; -1: none */
	struct notifier *notifier; /* notified of each report; NULL: no notices */
	bool complained;
	uint32_t incidents;
	const struct recorder_ear *ear; /* is told of all that is kept; NULL: nobody. Borrowed */
	void *ear_ctx;
};

/* Called when a row goes to the store, stored or not. Borrowed until it returns. */
struct recorder_ear {
	void (*row)(void *ctx, const struct rowlog_row *row);
	void (*incident)(void *ctx, const struct incident *i);
};

/* Whether all that was given to the store is there, as far as is known. */
static inline bool recorder_keeps(const struct recorder *k)
{
	return k->store && !k->complained;
}

/* Make the folders only, which is quick. Never fails: a state directory that cannot be used is warned of once. */
void recorder_open(struct recorder *k, const char *state_dir, const char *job_id);
/*
 * The same for a job of this user. A vigil of root keeps it where the user can read it, unless the file system has no
 * access lists.
 */
void recorder_open_for(struct recorder *k, const char *state_dir, const char *job_id, uid_t owner);
/*
 * Note the job before it starts, in a file, which is quick: a vigil that is killed before it has opened the store is
 * told of by the next one.
 */
void recorder_begin(struct recorder *k, const struct job *j);
/* Open the store. It takes some milliseconds, so do it after the job has been started. */
void recorder_open_store(struct recorder *k);
/* Use the store of another recorder, which stays its owner and must live longer. */
void recorder_share_store(struct recorder *k, const struct recorder *owner);
/* The store that rows go to; NULL: none, or locked. Borrowed. */
struct store *recorder_store(const struct recorder *k);
/* Puts what waits into the store, unless it is still locked. */
void recorder_close(struct recorder *k);
void recorder_job(struct recorder *k, const struct job *j);
/*
 * Notes the share of memory above which the job's guard acts, for metrics; 0: it is off. bytes: those of the job's own
 * limit, for pictures; 0: it has none.
 */
void recorder_threshold(struct recorder *k, const struct job *j, double ratio, uint64_t bytes);
/* Notes the frameworks that the job uses, for metrics. */
void recorder_framework(struct recorder *k, const struct job *j, const char *names);
/*
 * The job ends now, lived_ns after its start by a clock that cannot be set. If the wall clock was set meanwhile, the
 * stored start is moved so that start and end are lived_ns apart, and an event "clock_set" says so.
 */
void recorder_ended(struct recorder *k, struct job *j, uint64_t lived_ns);
void recorder_process(struct recorder *k, const struct job_process *p);
void recorder_event(struct recorder *k, const struct job *j, const char *kind, const char *incident, const char *fmt,
		    ...) printf_like(5, 6);
/* An event that people are told of as well, with a notice of its own; kind: see docs/json.md. */
void recorder_warning(struct recorder *k, const struct job *j, const char *kind, const char *text);
/* The next incident's id: "<job>.<n>". */
void recorder_incident_id(struct recorder *k, const char *job_id, char *dst, size_t cap);
/*
 * The first report of a case, written before the kill: the JSON file only, without fsync, which is quick. a may be
 * NULL, here and below.
 */
void recorder_skeleton(struct recorder *k, struct incident *i, const struct attachments *a);
/* The case ended without a kill: remove its first report and reuse its number. */
void recorder_skeleton_drop(struct recorder *k, const char *id);
/*
 * Write the report (store, JSON file, text file), and notify if `notify`. Secrets are masked before, in *i too. An
 * incident that was written before is replaced.
 */
void recorder_incident(struct recorder *k, struct incident *i, const struct attachments *a, bool notify);
/*
 * Read a report that was written, have fn complete it, and write it again with all that belongs to it. fn returns
 * false: nothing is changed. Returns what fn did; false where the report cannot be read.
 */
bool recorder_amend(struct recorder *k, const char *id, bool (*fn)(void *ctx, struct incident *in), void *ctx);
/* Write who usually ends the waits of the job's threads (model/hang/wakehist), without fsync, which is quick. */
void recorder_wakers(struct recorder *k, const char *text, size_t len);
/* Path of the text report; "" if it could not be written. */
void recorder_report_path(const struct recorder *k, const char *incident_id, char *dst, size_t cap);
/* Open a log file for appending; -1 when it cannot be made (warned of once). */
int recorder_log_open(struct recorder *k, uint32_t attempt, int32_t rank, const char *suffix);
/* Open a log file that is there; -1: it is not. */
int recorder_log_again(const struct recorder *k, uint32_t attempt, int32_t rank, const char *suffix);
