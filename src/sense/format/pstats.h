/*
 * A .prof file: what cProfile's dump_stats writes, one object in Python's
 * marshal format (Python/marshal.c, versions 2 to 5; Lib/pstats.py for its
 * meaning). Foreign bytes: depth, counts and references are bounded, and the
 * error names the offset. In caller entries the first two numbers are
 * (calls, primitive calls); in a function's own they are the other way round.
 * Files of Python 2, of `profile` (callers as plain counts) and of CPython
 * 3.15's sampling profiler (marked, and the same otherwise) are read as well.
 */
#pragma once

#include "base/fault.h"
#include "base/text.h"

struct pstats_number {
	uint64_t n_primitive, n_calls;
	double own_s, cumulative_s;
};
struct pstats_key {
	/*
	 * Into the bytes given, so valid as long as they are. A text that the
	 * file holds once has one address, however often it is referred to.
	 */
	struct span file, name;
	int64_t line;
};
struct pstats_sink {
	void *ctx;
	/* A function; then edge() for each of its callers. Non-zero ends the reading and is returned. */
	int (*function)(void *ctx, const struct pstats_key *key, const struct pstats_number *n);
	int (*edge)(void *ctx, const struct pstats_key *caller, const struct pstats_number *n);
	/* The file says that its numbers are samples, not calls. May be NULL. */
	void (*sampled)(void *ctx);
};
/* -EBADMSG with the offset and what was expected in the fault; -EFBIG. Pure. */
int must_check pstats_parse(struct span bytes, const struct pstats_sink *sink, struct fault *f);
