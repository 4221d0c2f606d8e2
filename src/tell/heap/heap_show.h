/*
 * Which stacks hold memory, for people (a table with error bars, and the rest of the process's memory) and for programs
 * ("vigil.heap/1", docs/json.md). Pure but for the stream. Flame graphs of the same are made by tell/stacks/flame from
 * heapset_view.
 */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/heap/heapset.h"
#include "tell/text/textout.h"

struct heap_show_want {
	struct heapset_want part; /* what, which rank */
	bool compare;
	struct heapset_want before; /* if compare */
	size_t limit; /* rows; 0: all */
	size_t frames; /* of each stack below its row; 0: only the headline */
	const char *title; /* "job train-3f2a" */
	const char *before_title; /* if compare */
	char (*remarks)[300];
	size_t n_remarks;
};

int must_check heap_table(const struct heapset *h, const struct heap_show_want *want, const struct textout *p);
/* Writes one object and a newline. */
int must_check heap_json_write(const struct heapset *h, const struct heap_show_want *want, FILE *to);
/*
 * The `heap` object of an incident: file, what, total, top[]{bytes, frames[]}
 * and a sentence for each. part.what is PEAK where the process has gone, LIVE
 * for a copy of the moment before.
 */
struct js *heap_incident_json(const struct heapset *h, const struct heap_show_want *want, const char *file);
/* "4.10 GiB ± 0.12", or "0.50 GiB (0.09 to 2.8 GiB)" where few samples tell. */
char *heap_amount_text(const struct heap_amount *a, char dst[static 64]);
/* An estimate in bytes as a whole number; 0 for what is negative. */
uint64_t heap_whole(double bytes);
