/*
 * The cause book in the hang watcher: agent/rules/rulegather, asked about one
 * attempt of a job as the procs and the pulses show it. Which processes stand
 * for ranks, where their output lies, who belongs or ever belonged to the job.
 *
 * Made when the attempt is first seen, so that counters have a beginning. Does
 * not wait for anything: hangrules_step is called until it says that all is
 * read, while the looks go on.
 */
#pragma once

#include "agent/rules/rulegather.h"
#include "agent/hang/hangprocs.h"
#include "agent/hang/hangdevices.h"
#include "agent/hang/hangsample.h"
#include "model/hang/liveness.h"

#define HANGRULES_WHY 200

struct hangrules;

/* NULL without memory. rules: the user's files, with ',' between; job: as it begins. */
struct hangrules *hangrules_new(const struct world *w, const char *rules, const struct progress_patterns *progress,
				const struct hang_job *job, int64_t started_unix_ms);
struct hangrules *hangrules_free(struct hangrules *h);
/* A sample of the devices was taken: those that the job uses are followed. */
void hangrules_devices(struct hangrules *h, const struct hangdevices *d, const struct hangsample *sample);
/* Reading begins. All but h is borrowed during the call only, procs until hangrules_finish. */
void hangrules_begin(struct hangrules *h, const struct hangprocs *procs, const struct hang_job *job,
		     const struct liveness_set *p);
/* The next part of what was begun. True: nothing is left to read. */
bool hangrules_step(struct hangrules *h);
/* Borrowed until the next beginning; NULL with a sentence in why: there is none. stacks NULL: none were taken. */
const struct rulegather_result *hangrules_finish(struct hangrules *h, const struct stackdump *stacks,
						 char why[static HANGRULES_WHY]);
