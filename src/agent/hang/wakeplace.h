/*
 * Where threads that wait for a lock stand in their Python program, as a number: the same for the same stack of lines,
 * in every process that runs the same program. It tells waits apart that use one lock's address after another, as those
 * of queues and conditions in Python do. Nothing is stopped.
 */
#pragma once

#include "agent/inspect/procview.h"
#include "model/hang/wakehint.h"

/* The number of a thread's place; 0: it could not be read, or the thread runs no Python. */
uint64_t wakeplace_of(struct procview *v, const struct pythread *t);
/*
 * Those of all threads that wait for a lock, of processes with Python: *ret is malloc'ed. A thread of such a process
 * whose place cannot be read has the number 0. What the time until until_ns does not suffice for has it as well.
 */
int must_check wakeplaces_read(const struct world *w, const struct waitfacts *facts, uint64_t until_ns,
			       struct wakeplace **ret, size_t *ret_n);
