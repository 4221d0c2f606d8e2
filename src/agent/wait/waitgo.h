/*
 * The goroutines of a job's processes as nodes of the graph of waits (sense/go/gowaits): read beside each look, and put
 * into both looks where both could be read. Nothing is stopped.
 */
#pragma once

#include "model/hang/waitgraph.h"
#include "sense/go/goroutine.h"
#include "sense/world.h"

struct waitgo_process;

struct waitgo {
	struct waitgo_process *process; /* that run programs made by Go; owned */
	size_t n;
};

/*
 * Reads the goroutines of those processes of a look that have some, main ones first, until the time is up. last: it is
 * the look that the graph is made of. What cannot be read is left out. -ENOMEM.
 */
int must_check waitgo_look(const struct world *w, const struct waitfacts *f, const struct waitgraph_who *who,
			   size_t n_who, bool last, uint64_t until_ns, struct waitgo *ret);
void waitgo_done(struct waitgo *g);
/* The goroutines of a process; NULL: it was not read. Borrowed. */
const struct goroutines *waitgo_of(const struct waitgo *g, pid_t pid);

/* What is changed by it: the looks, and the hints, an array that base/vec.h lets grow. */
struct waitgo_into {
	struct waitfacts *before, *now; /* before: NULL: there is one look */
	struct waithint **hint;
	size_t *n_hints, *cap_hints;
};

/* before: NULL where into has none. -ENOMEM. */
int must_check waitgo_put(const struct waitgo *before, const struct waitgo *now, const struct waitgo_into *into);
