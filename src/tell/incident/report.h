/*
 * The report of an incident, for people and for programs. Pure but for the
 * stream it writes to. Text from outside loses its control characters.
 *
 * What the wording expects of an incident: summary and cause.text are whole
 * sentences; policy.reason and policy.next are clauses without a full stop
 * ("it was the most recently started worker"); retry.attempt counts the
 * retries already used; evidence of kind "not_read" is listed apart.
 */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/incident/incident.h"

/* "vigil.incident/1"; owned by the caller. */
struct js *report_json(const struct incident *i);
/* Adds "ended", how the job ended after this hang, to a report as it was stored. Nothing if that is not known. */
void report_ended_put(struct js *report, const struct incident *i);
/* Adds "ray_retry", if it is known, to a report as it was stored. */
void report_ray_put(struct js *report, const struct incident *i);
/* The inverse, for reading commands; unknown keys are ignored. -EBADMSG. */
int must_check report_from_json(const struct js *j, struct incident *ret);

enum report_style { REPORT_PLAIN, REPORT_COLOUR };
/* What `vigil why` prints: what happened, why, evidence, advice. */
void report_text(const struct incident *i, enum report_style style, FILE *to);
/*
 * The "stacks" of an incident's JSON, as a section behind report_text. Of a hang, whose ranks report_hang_text shows,
 * only other threads that are waited for, by proof. Nothing when there are none.
 */
void report_stacks_text(const struct js *incident, enum report_style style, FILE *to);
/* The same of its "heap" object: "4.1 GiB of 5.0 GiB came from loader.py:88 load -> numpy". */
void report_heap_text(const struct js *heap, enum report_style style, FILE *to);
/* The object "hang" of an incident's JSON: how the ranks stand, each stack once with its ranks. Nothing when NULL. */
void report_hang_text(const struct js *hang, enum report_style style, FILE *to);
/*
 * What the job's own stderr gets: Ray's wording for a memory kill (node, IP,
 * ID, task, pid, memory used, used / total (ratio), threshold, reason, top 10
 * table, what to change), a short paragraph for other deaths. kept: vigil why
 * has the report.
 */
void report_kill_message(const struct incident *i, bool kept, FILE *to);
/* "3 workers killed due to memory pressure (OOM), 1 …", Ray's summary. over: "the last 10 minutes" or "in all". */
void report_summary(const char *job, const char *node, uint32_t memory_kills, uint32_t other_deaths, const char *over,
		    FILE *to);
