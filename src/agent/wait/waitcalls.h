/*
 * Which ranks are in calls in which ranks meet, by the stacks of their main processes: for the arrows to the ranks
 * that have not come (model/hang/waitmissing). By a dump of all stacks, as the watcher has one, or by what Python says
 * alone, for who may not stop a thread. Nothing is stopped.
 */
#pragma once

#include "model/hang/waitmissing.h"
#include "model/stacks/stackdump.h"
#include "sense/world.h"

/* By a dump. Its processes that are no main ones of ranks are left out. Pure. -ENOMEM. */
int must_check waitcalls_of_dump(const struct stackdump *d, const struct waitgraph_who *who, size_t n_who,
				 struct waitcall **ret, size_t *ret_n);
/*
 * By Python's stacks. Of a rank that is in no such call by these nothing is said, as native code may be in one. What
 * the time until until_ns does not suffice for is left out. *ret is malloc'ed. -ENOMEM.
 */
int must_check waitcalls_read(const struct world *w, const struct waitfacts *facts, const struct waitgraph_who *who,
			      size_t n_who, uint64_t until_ns, struct waitcall **ret, size_t *ret_n);
