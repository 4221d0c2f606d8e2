/*
 * The evidence of one suspicion, gathered over some seconds without holding up
 * the looks: stacks of all processes, several times; the source lines at which
 * ranks stand, quick looks for who waits least, the cause book over logs,
 * environments and counters, the collective library's own counters. What cannot be had is said in `blind`.
 */
#pragma once

#include "agent/hang/hangcause.h"
#include "agent/hang/hangcollective.h"
#include "agent/hang/hangeye.h"
#include "judge/hang/hang.h"

struct hanggather {
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
	struct hangcause *cause; /* the book; borrowed, NULL: not asked */
	struct hangcollective asks; /* the collective library */
	bool asked;
	struct hang_collective collective;
	struct hang_source source[HANG_RANKS];
	size_t n_source;
	const struct causegather_result *book; /* borrowed; NULL: it was not asked, or had no answer */
	struct hang_case hcase;
};

/* cause: of the attempt; NULL: there is none. Borrowed until hanggather_end. */
void hanggather_begin(struct hanggather *g, const struct hang_step *step, const struct hangeye *e,
		      const struct pulses *p, struct hangcause *cause, uint64_t now_ns);
/* The next part, if it is due. True when all is there, also when asked again: g->hcase is then complete but for its pulses. */
bool hanggather_step(struct hanggather *g, const struct world *w, const struct hangeye *e);
/* What is there by now, as a case without its pulses. False: no stacks yet. Borrows from g. */
bool hanggather_glance(struct hanggather *g, const struct world *w, struct hang_case *ret);
void hanggather_end(struct hanggather *g);
/* The newest dump as JSON, in at most cap bytes: all main threads, then others as far as they go; 0: there is none. */
size_t hanggather_stacks(const struct hanggather *g, char *dst, size_t cap);
