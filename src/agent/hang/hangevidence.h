/*
 * The evidence of one suspicion, gathered over some seconds without delaying
 * the samples: stacks of all processes, several times; the source lines at
 * which ranks stand; quick samples of how much each rank waits; the rule book
 * over logs, environments and counters; the collective library's state. What
 * cannot be read is listed in hcase.unavailable.
 */
#pragma once

#include "agent/hang/hangrules.h"
#include "agent/hang/hangcollective.h"
#include "agent/hang/hangsample.h"
#include "agent/hang/hanggo.h"
#include "agent/hang/hangray.h"
#include "agent/hang/hangwaits.h"
#include "judge/hang/hang.h"

struct hangevidence {
	struct hang_step step; /* what is to be gathered */
	bool busy;
	uint64_t next_ns; /* when the next part is due */
	uint64_t dump_ns; /* when the next stacks are due */
	struct stackdump dump[HANG_DUMPS];
	size_t n_dumps;
	bool dumps_over; /* no more stacks are taken */
	struct hanggo go; /* where main goroutines stand, likewise; compared when all else is there */
	struct raystand *ray; /* what waits for a place in its Ray node; owned; NULL: nothing */
	struct hangwaits waits; /* who waits for whom, looked at between the first two dumps */
	bool counts_lookups; /* what it looks for in vain is counted, or cannot be */
	bool complete; /* all is gathered; stays true until hangevidence_end */
	struct waitshare *shares; /* owned; NULL: not wanted, or no memory */
	struct hangshares *sampler; /* takes the samples of shares; NULL: none are taken */
	struct natives *natives; /* borrowed; NULL: each dump reads symbols anew */
	struct hangrules *rules; /* the rule book; borrowed; NULL: not used */
	struct hangcollective asks; /* reads the collective library */
	bool asked; /* asks was started */
	struct hangcollective_said said; /* what that found */
	struct hang_source source[HANG_RANKS];
	size_t n_source;
	const struct rulegather_result *book; /* borrowed; NULL: the rule book was not used, or has no answer */
	struct hang_case hcase;
};

/* What it reads with; borrowed until hangevidence_end. */
struct hangevidence_tools {
	struct hangrules *rules; /* of the attempt; NULL: there are none */
	struct natives *natives; /* symbols, of all jobs: jobs mostly have the same libraries; NULL: none are kept */
	struct hanglookups *lookups; /* of all jobs, counts already; NULL: none are counted */
	struct waitalarms *alarms; /* of all jobs; NULL: none are looked for */
	const struct filehist *files; /* who has made this job's files; NULL: unknown */
};

/* Drops what g holds and begins. */
void hangevidence_begin(struct hangevidence *g, const struct hang_step *step, const struct hangsample *e,
			const struct liveness_set *p, const struct hangevidence_tools *tools, uint64_t now_ns);
/*
 * Gathers the next part, if it is due. True: all is gathered, also in further calls; g->hcase then lacks only its
 * liveness.
 */
bool hangevidence_step(struct hangevidence *g, const struct world *w, const struct hangsample *e);
/* What is gathered so far, as a case without its liveness. False: no stacks yet. Borrows from g. */
bool hangevidence_early(struct hangevidence *g, const struct world *w, struct hang_case *ret);
void hangevidence_end(struct hangevidence *g);
/*
 * The newest dump as JSON of at most cap bytes: main threads, then others as far as they fit, with whom they wait for
 * once all is gathered. 0: there is none.
 */
size_t hangevidence_stacks(const struct hangevidence *g, char *dst, size_t cap);
