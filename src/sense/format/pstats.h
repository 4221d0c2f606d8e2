/*
 * Reads a .prof file as cProfile's dump_stats writes it: one object in Python's marshal format (Python/marshal.c,
 * versions 2 to 5; Lib/pstats.py for its meaning). The bytes are not trusted: depth, counts and references are
 * bounded, and the error names the offset. In an entry of a caller the first two numbers are (calls, primitive
 * calls); in that of a function they are (primitive calls, calls). Files of Python 2, of `profile` (callers as plain
 * counts) and of CPython 3.15's sampling profiler (equal but for a marker) are read as well.
 */
#pragma once

#include "base/fault.h"
#include "base/text.h"

struct pstats_number {
	uint64_t n_primitive, n_calls;
	double own_s, cumulative_s;
};
struct pstats_key {
	/* Point into the given bytes. A text that the file holds once has one address for all references to it. */
	struct span file, name;
	int64_t line;
};
struct pstats_sink {
	void *ctx;
	/*
	 * Called for a function, then edge for each of its callers. A non-zero result ends the reading and is
	 * returned.
	 */
	int (*function)(void *ctx, const struct pstats_key *key, const struct pstats_number *n);
	int (*edge)(void *ctx, const struct pstats_key *caller, const struct pstats_number *n);
	/* Called if the numbers are samples, not calls. May be NULL. */
	void (*sampled)(void *ctx);
};
/* 0; -EBADMSG with the offset and what was expected in the fault; -EFBIG; -ENOMEM; the sink's result. Pure. */
int must_check pstats_parse(struct span bytes, const struct pstats_sink *sink, struct fault *f);
