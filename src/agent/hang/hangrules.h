/*
 * The rule book in the hang watcher: runs agent/rules/rulegather for one
 * attempt of a job. Finds for it the main processes of the ranks, the paths of
 * their output, and the processes that belong or belonged to the job.
 *
 * It is made when the attempt is first seen, so that counters have a first
 * reading. No function waits: hangrules_step is called until all is read,
 * between the samples.
 */
#pragma once

#include "agent/rules/rulegather.h"
#include "agent/hang/hangprocs.h"
#include "agent/hang/hangdevices.h"
#include "agent/hang/hangsample.h"
#include "model/hang/liveness.h"

#define HANGRULES_WHY 200

struct hangrules;

/* NULL without memory. rules: the user's files with ',' between, may be ""; job: at its beginning. */
struct hangrules *hangrules_new(const struct world *w, const char *rules, const struct progress_patterns *progress,
				const struct hang_job *job, int64_t started_unix_ms);
struct hangrules *hangrules_free(struct hangrules *h);
/* Takes a sample of the devices that the job uses; call it after each sample. */
void hangrules_devices(struct hangrules *h, const struct hangdevices *d, const struct hangsample *sample);
/* Begins to read. procs is borrowed until hangrules_finish, the others during the call only. */
void hangrules_begin(struct hangrules *h, const struct hangprocs *procs, const struct hang_job *job,
		     const struct liveness_set *p);
/* Does the next part of what was begun. True: all is read. */
bool hangrules_step(struct hangrules *h);
/* One of its child processes reads, or was not taken in yet. */
bool hangrules_reads(const struct hangrules *h);
/* The result, borrowed until hangrules_end. NULL: why is a sentence. stacks NULL: none were taken. */
const struct rulegather_result *hangrules_finish(struct hangrules *h, const struct stackdump *stacks,
						 char why[static HANGRULES_WHY]);
/* Frees the result, and drops what is not read yet. */
void hangrules_end(struct hangrules *h);
