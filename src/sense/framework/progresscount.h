/*
 * A number that the lines of a program count up by one, whatever the words beside it are: "trial 8 saved", "chunk 5 of
 * 40", "worker 2: file 7". Weaker than a step that is known by its word (sense/framework/progress): a program may count
 * what it does at its start, and be idle after it by design. So the count is told of only while the last line that was
 * printed is one of it, or of a kind that was printed often before: who is done with a loop says so, as a rule.
 *
 * Pure and incremental; constant memory. Numbers of a time, a date, an address or a version do not count.
 */
#pragma once

#include "base/text.h"

#define PROGRESSCOUNT_SHAPES 16

/* Lines that are alike up to a number. */
struct progresscount_shape {
	uint64_t hash; /* 0: none */
	uint32_t lines; /* that had it */
	uint32_t grown, moments; /* how often the number grew by one, and at how many times */
	uint64_t value, total; /* total 0: none */
	uint64_t first_ns, grown_ns, seen_ns; /* its first growth, the last one; the last line */
};

struct progresscount {
	struct progresscount_shape shape[PROGRESSCOUNT_SHAPES];
	bool over; /* a line of another kind came since the last count */
};

/* One line without its prefixes and newline. now_ns: its arrival; never decreases. */
void progresscount_line(struct progresscount *c, struct span line, uint64_t now_ns);

struct progresscount_found {
	uint64_t value, total; /* total 0: none */
	uint64_t at_ns, gap_ns; /* when it last grew, and the mean time between two counts */
};

/* False: nothing is counted, or no more. */
bool progresscount_read(const struct progresscount *c, struct progresscount_found *ret);
