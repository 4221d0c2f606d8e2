/*
 * Keeps what happens to a job: the store, the log directories, the incident
 * files. A full or broken disk is said once and never stops the job or the
 * guard: what cannot be kept is still shown.
 *
 *   <state>/vigil.db
 *   <state>/jobs/<id>/attempt-<n>/rank-<r>.out .err
 *   <state>/jobs/<id>/incidents/<incident>.json .txt
 */
#pragma once

#include "agent/notify/notifier.h"
#include "base/json.h"
#include "model/incident/incident.h"
#include "model/jobs/job.h"
#include "model/stacks/stackdump.h"
#include "tell/store/store.h"

struct recorder {
	char state_dir[200];
	char job_dir[256];
	struct store *store; /* NULL: not kept */
	struct notifier *notifier; /* is told of each report; NULL: nobody is */
	bool borrowed; /* the store belongs to another recorder */
	bool complained;
	uint32_t incidents;
	char stacks_of[64]; /* the incident that `stacks` belong to; "" none */
	struct stackdump stacks; /* taken while the victim was frozen; go into its report */
	char heap_of[64]; /* the incident that `heap` belongs to; "" none */
	struct js *heap; /* what its victim's heap profile says; owned */
	char hang_of[64]; /* the incident that the two below belong to; "" none */
	char *hang_stacks, *hang_json; /* JSON: its stacks, and its object "hang"; owned */
};

/* Directories only: quick. Never fails: a state directory that cannot be used is said on stderr once. */
void recorder_open(struct recorder *k, const char *state_dir, const char *job_id);
/* The store: some milliseconds, so after the job has been started. */
void recorder_open_store(struct recorder *k);
/* Keep into a store that is open already. */
void recorder_share_store(struct recorder *k, const struct recorder *owner);
void recorder_close(struct recorder *k);
void recorder_job(struct recorder *k, const struct job *j);
/*
 * Now is its end, `lived_ns` after its start by a clock that nobody sets. Where the wall clock was set meanwhile, the
 * start is moved to it, so that what lies between the two is how long the job ran; that is told as an event.
 */
void recorder_ended(struct recorder *k, struct job *j, uint64_t lived_ns);
void recorder_process(struct recorder *k, const struct job_process *p);
void recorder_event(struct recorder *k, const struct job *j, const char *kind, const char *incident, const char *fmt,
		    ...) printf_like(5, 6);
/* The next incident's id: "<job>.<n>". */
void recorder_incident_id(struct recorder *k, const char *job_id, char *dst, size_t cap);
/* Quick and early: the JSON file only, no fsync, so that it lies there before the kill. */
void recorder_skeleton(struct recorder *k, const struct incident *i);
/*
 * The stacks of the incident's victim, for its skeleton and its report; *d is taken over. Those of one incident are
 * kept.
 */
void recorder_stacks(struct recorder *k, const char *incident_id, struct stackdump *d);
/* What the heap profile of the incident's victim says, for its report; taken over. NULL: it has none. */
void recorder_heap(struct recorder *k, const char *incident_id, struct js *heap);
/* Stacks and the object "hang" of an incident, both as JSON text; copied. Those of one incident are kept. */
void recorder_hang(struct recorder *k, const char *incident_id, struct span stacks, const char *hang);
/* In its next writing it is marked as over. */
void recorder_hang_resolved(struct recorder *k, const char *incident_id, int64_t time_unix_ms);
/* The case came to nothing: no report follows. */
void recorder_skeleton_drop(struct recorder *k, const char *id);
/* Store, JSON and text; then who is to be told. */
void recorder_incident(struct recorder *k, const struct incident *i);
/* Path of the text report; "" if it could not be written. */
void recorder_report_path(const struct recorder *k, const char *incident_id, char *dst, size_t cap);
/* A log file for appending; -1 when it cannot be made (said once). */
int recorder_log_open(struct recorder *k, uint32_t attempt, int32_t rank, const char *suffix);
