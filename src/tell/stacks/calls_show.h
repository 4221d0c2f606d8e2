/*
 * Call counts for people and programs: cProfile's own table, JSON
 * ("vigil.calls/1"), one HTML page that needs no network, and the .prof file
 * that pstats and its viewers load. Names come from foreign files: control
 * characters are taken out or escaped, whatever the form.
 */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/stacks/call_source.h"
#include "model/stacks/calls.h"

struct calls_want {
	enum calls_sort sort;
	size_t limit; /* rows; 0: all */
	bool ranks; /* columns over ranks (processes, where there are no ranks) */
	const char *title; /* "job train-3f2a", "a.prof"; for HTML and JSON */
	const struct call_sources *sources; /* NULL: not told */
};

/* As pstats.Stats.print_stats writes it. -ENOMEM. */
int must_check calls_table(const struct calls *c, const struct calls_want *want, FILE *to);
/* "vigil.calls/1"; NULL on lack of memory. Owned by the caller. */
struct js *calls_json(const struct calls *c, const struct calls_want *want);
/* Reads that back, as one part: the spread over ranks is lost. -EBADMSG with a fault, -ENOMEM. */
int must_check calls_json_read(const char *text, size_t len, struct calls **ret, struct fault *f);
int must_check calls_html(const struct calls *c, const struct calls_want *want, FILE *to);
/* marshal, as cProfile's dump_stats; loaded by every Python 3. All functions, whatever the limit. */
int must_check calls_pstats(const struct calls *c, FILE *to);
/* Notes for stderr on what makes the numbers less than exact, one a line; returns their number. */
size_t calls_remarks(const struct calls *c, const struct call_sources *s, char (*ret)[400], size_t cap);
