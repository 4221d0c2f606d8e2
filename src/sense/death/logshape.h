/*
 * Whether a program went on after a line of its output: whether lines of the same form as before it, or a series of
 * lines of one form, come after it. Two lines have the same form if they differ in numbers only, as those of a loop do
 * ("step 12 loss 0.31"). Lines that belong to an end (tracebacks, stack frames, messages of launchers) are not fed.
 *
 * Pure; allocates nothing. Forms beyond LOGSHAPE_FORMS are ignored.
 */
#pragma once

#include "base/text.h"

#define LOGSHAPE_FORMS 256
#define LOGSHAPE_LATEST 64

struct logshape {
	struct {
		uint64_t form, numbers; /* hashes of the form, and of the numbers in its latest line */
		uint32_t first, before_last, last; /* numbers of lines; before_last 0: none */
		uint32_t n;
	} each[LOGSHAPE_FORMS];
	size_t n;
	uint32_t latest[LOGSHAPE_LATEST]; /* numbers of the latest lines that were fed, of any form; a ring */
	uint32_t n_lines; /* lines fed */
};

/* line: its number, from 1 on, never decreasing. */
void logshape_add(struct logshape *s, struct span text, uint32_t line);
/* True when at least two lines after this one continue a form from before it, or three make a new one. */
bool logshape_went_on(const struct logshape *s, uint32_t line);
/* The last line for which that is so; 0: none. */
uint32_t logshape_went_on_until(const struct logshape *s);
/* True for a line of a form that came with other numbers as well. */
bool logshape_repeats(const struct logshape *s, struct span text);
/* Number of lines that were fed and come after this one, LOGSHAPE_LATEST at most. */
uint32_t logshape_after(const struct logshape *s, uint32_t line);
