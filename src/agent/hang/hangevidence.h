/*
 * The evidence of one suspicion, gathered over some seconds without holding up
 * the looks: stacks of all processes, several times; the source lines at which
 * ranks stand, quick looks for who waits least, the cause book over logs,
 * environments and counters, the collective library's own counters. What cannot be had is said in `blind`.
 */
#pragma once

#include "agent/hang/hangrules.h"
#include "agent/hang/hangcollective.h"
#include "agent/hang/hangsample.h"
#include "judge/hang/hang.h"

struct hangevidence {
	struct hang_step step; /* what was asked for */
	bool busy;
	uint64_t next_ns; /* when the next part is due */
	uint64_t dump_ns; /* when the next stacks are */
	struct stackdump dump[HANG_DUMPS];
	size_t n_dumps;
	bool dumps_over; /* there will be no more */
	bool complete; /* all is there; it stays so until it has been judged */
	struct waitshare *shares; /* owned; NULL: not asked for, or no memory */
	struct hangshares *sampler; /* of the shares; NULL: not sampling */
	struct natives *natives; /* symbols, kept over the dumps of one suspicion */
	struct hangrules *rules; /* the book; borrowed, NULL: not asked */
	struct hangcollective asks; /* the collective library */
	bool asked;
	struct hang_collective collective;
	struct hang_source source[HANG_RANKS];
	size_t n_source;
	const struct rulegather_result *book; /* borrowed; NULL: it was not asked, or had no answer */
	struct hang_case hcase;
};

/* cause: of the attempt; NULL: there is none. Borrowed until hangevidence_end. */
void hangevidence_begin(struct hangevidence *g, const struct hang_step *step, const struct hangsample *e,
			const struct liveness_set *p, struct hangrules *rules, uint64_t now_ns);
/* The next part, if it is due. True when all is there, also when asked again: g->hcase is then complete but for its liveness. */
bool hangevidence_step(struct hangevidence *g, const struct world *w, const struct hangsample *e);
/* What is there by now, as a case without its liveness. False: no stacks yet. Borrows from g. */
bool hangevidence_early(struct hangevidence *g, const struct world *w, struct hang_case *ret);
void hangevidence_end(struct hangevidence *g);
/* The newest dump as JSON, in at most cap bytes: all main threads, then others as far as they go; 0: there is none. */
size_t hangevidence_stacks(const struct hangevidence *g, char *dst, size_t cap);
