/*
 * A writer of Chrome's trace event format, the JSON object form, which
 * Perfetto (ui.perfetto.dev), chrome://tracing and speedscope open. Events go
 * out as they are told; nothing is kept, so a trace may be of any size.
 *
 * Times are microseconds since the beginning of the trace. A lane ("pid") is
 * a heading, its rows ("tid") lie below it; spans of one row must nest, and
 * it is up to the caller that they do. Text that is not UTF-8 gets U+FFFD for
 * each foreign byte; integers that a double cannot hold are written as text.
 *
 * Format: "Trace Event Format" (Google, 2016).
 */
#pragma once

#include <stdio.h>

#include "base/base.h"

struct trace_json {
	FILE *to; /* borrowed; write errors stay in it (ferror) */
	bool some, args; /* an event was written; the open event has arguments */
	uint64_t events;
};

void trace_json_begin(struct trace_json *t, FILE *to);
/* Closes the list of events and opens "otherData": trace_json_text and the like add to it. */
void trace_json_other(struct trace_json *t);
void trace_json_end(struct trace_json *t);

/* Names a lane and a row; sort gives their order. */
void trace_json_lane(struct trace_json *t, int64_t lane, const char *name, int64_t sort);
void trace_json_row(struct trace_json *t, int64_t lane, int64_t row, const char *name);

/* Begins an event; its arguments follow, then trace_json_close. */
void trace_json_span(struct trace_json *t, int64_t lane, int64_t row, const char *category, const char *name,
		     int64_t at_us, int64_t us);
enum trace_scope { TRACE_ROW = 't', TRACE_LANE = 'p', TRACE_ALL = 'g' };
void trace_json_instant(struct trace_json *t, int64_t lane, int64_t row, const char *category, const char *name,
			int64_t at_us, enum trace_scope scope);
/* Its arguments are the counters of one graph, drawn on top of each other. */
void trace_json_counter(struct trace_json *t, int64_t lane, const char *name, int64_t at_us);
void trace_json_close(struct trace_json *t);

void trace_json_text(struct trace_json *t, const char *key, const char *text);
void trace_json_text_if(struct trace_json *t, const char *key, const char *text); /* left out when empty */
void trace_json_i64(struct trace_json *t, const char *key, int64_t v);
void trace_json_u64(struct trace_json *t, const char *key, uint64_t v);
void trace_json_double(struct trace_json *t, const char *key, double v);
