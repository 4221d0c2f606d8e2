/*
 * The lines of `vigil top`, as plain text of at most so many columns. A terminal that is too narrow for the whole table
 * leaves out its least important columns. Text of processes has no control characters. Pure.
 */
#pragma once

#include "model/memory/toplist.h"

#define TOP_SHOW_LINE 1024 /* bytes of the longest line, its end included */
#define TOP_SHOW_NARROWEST 40 /* what is narrower is written as if it had this many columns */

struct top_show {
	size_t width; /* columns of the terminal; 0: no limit */
	bool gpu; /* some process uses a GPU */
	bool users; /* the processes are of more than one user */
	bool base; /* programs without their folder */
	size_t skipped; /* columns of the commands that are left of the screen */
	unsigned columns; /* bit for each column of the table that is shown */
};

void top_show_begin(struct top_show *s, size_t width, const struct toplist *l);
/* The levels that can run out, one a line: "node  [####      ] 40.1 % of 23.5 GiB, 14.1 GiB left". */
size_t top_show_levels(const struct footprint *f);
void top_show_level(const struct top_show *s, const struct footprint *f, size_t i, char dst[static TOP_SHOW_LINE]);
/* How a job is, as its supervisor says: "train-k3x9: step 812 of 5000, 1.9/s". */
void top_show_job(const struct top_show *s, const char *job, const char *sentence, char dst[static TOP_SHOW_LINE]);
/* "12 processes, 3.1 GiB of their own; 2 jobs; 94 of no job are hidden (a)" */
void top_show_sum(const struct top_show *s, const struct footprint *f, const struct toplist *l,
		  char dst[static TOP_SHOW_LINE]);
void top_show_titles(const struct top_show *s, char dst[static TOP_SHOW_LINE]);
void top_show_row(const struct top_show *s, const struct toplist_row *r, char dst[static TOP_SHOW_LINE]);
