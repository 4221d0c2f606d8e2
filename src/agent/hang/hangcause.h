/*
 * The cause book in the hang watcher: agent/rules/causegather, asked about one
 * attempt of a job as the crew and the pulses show it. Which processes stand
 * for ranks, where their output lies, who belongs or ever belonged to the job.
 *
 * Made when the attempt is first seen, so that counters have a beginning. Does
 * not wait for anything: hangcause_step is called until it says that all is
 * read, while the looks go on.
 */
#pragma once

#include "agent/rules/causegather.h"
#include "agent/hang/hangcrew.h"
#include "agent/hang/hangdevices.h"
#include "agent/hang/hangeye.h"
#include "model/hang/pulse.h"

#define HANGCAUSE_WHY 200

struct hangcause;

/* NULL without memory. rules: the user's files, with ',' between; job: as it begins. */
struct hangcause *hangcause_new(const struct world *w, const char *rules, const struct progress_patterns *progress,
				const struct hang_job *job,
				int64_t started_unix_ms);
struct hangcause *hangcause_free(struct hangcause *h);
/* A sample of the devices was taken: those that the job uses are followed. */
void hangcause_devices(struct hangcause *h, const struct hangdevices *d, const struct hangeye *eye);
/* Reading begins. All but h is borrowed during the call only, crew until hangcause_finish. */
void hangcause_begin(struct hangcause *h, const struct crew *crew, const struct hang_job *job, const struct pulses *p);
/* The next part of what was begun. True: nothing is left to read. */
bool hangcause_step(struct hangcause *h);
/* Borrowed until the next beginning; NULL with a sentence in why: there is none. stacks NULL: none were taken. */
const struct causegather_result *hangcause_finish(struct hangcause *h, const struct stackdump *stacks,
						  char why[static HANGCAUSE_WHY]);
