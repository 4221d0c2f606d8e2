/*
 * The graph of who waits for whom, for people, for programs ("vigil.waits/1", docs/formats/waits.md), and for graphviz.
 * Names that other programs chose lose their control characters in the text and in DOT; JSON escapes them.
 */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/hang/waitgraph.h"
#include "model/jobs/health.h"
#include "model/jobs/role.h" /* NO_RANK */
#include "tell/text/textout.h"

/* What is shown. All is borrowed. */
struct waits_view {
	const struct waitgraph *graph;
	const struct waitfacts *now; /* the facts that the graph was made of */
	const char *title; /* "job train-3f2a" */
	const struct health *health; /* what is told of the job already, for the text alone; NULL: nothing */
	int64_t captured_unix_ms;
	uint64_t apart_ns; /* between the two looks; 0: there was one */
	uint64_t took_ns; /* reading, without the time between the looks */
	bool stopped; /* ended before the second look */
	bool cut; /* processes are missing */
	bool hints_late; /* not every Python could be asked in time about its locks and tasks */
	size_t n_denied; /* processes that may not be looked into */
};

struct waits_how {
	bool all; /* every thread; false: main ones, and those that are in somebody's way */
};

void waits_text(const struct waits_view *v, const struct waits_how *how, const struct textout *p);
void waits_dot(const struct waits_view *v, const struct waits_how *how, FILE *to);
struct js *waits_json(const struct waits_view *v);
