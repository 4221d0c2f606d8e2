/*
 * Tables that fit the terminal: a row is never wider than the paper. Where there is no room for all columns those that
 * may become narrow do, then the least important ones are left out, and the last column is cut with "…" or goes on
 * in further lines. On paper without a width (no terminal) every column is there and the last one is whole. Widths are
 * columns of the terminal, one a code point.
 */
#pragma once

#include "tell/text/textout.h"

struct textcol {
	const char *head;
	unsigned width; /* of the last column: the least that it should get */
	unsigned gap;   /* blanks before it; 0: one */
	unsigned most;  /* of the last column without a terminal: cut there; 0: whole */
	bool left;      /* aligned to the left */
	unsigned least; /* it may become as narrow as this before one is left out; 0: it may not */
	bool wrap;      /* of the last column: what does not fit goes on below it */
	bool cut;       /* too long a cell is cut; else it takes more room */
	unsigned spare; /* the column with the highest number is left out first; 0: it stays */
};

#define TEXTCOLS_MOST 16

struct textcells {
	const char *text[TEXTCOLS_MOST];
	enum textout_ink ink[TEXTCOLS_MOST];
};

/* A row with its newline. */
void textcols_row(const struct textout *p, const struct textcol *cols, size_t n, size_t indent,
		  const struct textcells *cells);
/* The same with the heads, dim if `dim`. */
void textcols_head(const struct textout *p, const struct textcol *cols, size_t n, size_t indent, bool dim);
