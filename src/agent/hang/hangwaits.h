/*
 * Who waits for whom in a job that is suspected: two looks at the waits of all its processes, and the graph of them.
 * The looks must not fall into the taking of stacks, which stops threads and so makes them look as if they had run.
 */
#pragma once

#include "agent/hang/hanglookups.h"
#include "agent/wait/waitalarms.h"
#include "agent/wait/waitgo.h"
#include "model/collective/collective_arrows.h"
#include "model/hang/waitgraph.h"
#include "model/hang/wakehist.h"
#include "model/stacks/stackdump.h"

struct hangwaits {
	struct waitfacts look[2]; /* owned */
	size_t n_looks;
	struct waitgo go[2]; /* of each look; owned */
	bool threads_only; /* goroutines are not asked for */
	struct waitgraph_who *who; /* owned */
	size_t n_who;
	struct hanglookups *lookups; /* which files are looked for; borrowed; NULL: unknown */
	struct waitalarms *alarms; /* whose alarms are set; borrowed; NULL: unknown */
	const struct filehist *files; /* who has made the job's files; borrowed; NULL: unknown */
	const struct collective_arrow *arrow; /* who waits by the collective library; borrowed; NULL: unknown */
	size_t n_arrows;
	struct waithint *hint; /* of Python's locks, and where threads stand; owned */
	size_t n_hints, cap_hints;
	struct waitgraph graph; /* owned; points into the looks */
	bool made;
	char note[120]; /* why there is no graph; "": there is one, or none was asked for */
};

/* Takes a look: the first one, or again the second one. */
void hangwaits_look(struct hangwaits *h, const struct world *w, const struct hangprocs *procs);
/*
 * Makes the graph of the looks, of what Python's locks say, of who usually ended such waits (wakes; may be NULL), and
 * of the places in a dump (may be NULL). All that is read only now. NULL: there is no graph, and note says why.
 * Borrowed until hangwaits_done.
 */
const struct waitgraph *hangwaits_make(struct hangwaits *h, const struct world *w, const struct stackdump *dump,
				       const struct wakehist *wakes);
void hangwaits_done(struct hangwaits *h);
