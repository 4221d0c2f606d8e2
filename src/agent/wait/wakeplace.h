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
/* Python's name of a thread that is no main one, where the kernel does not have it; else "". */
void wakeplace_name(struct procview *v, const struct pythread *t, char *dst, size_t cap);
/*
 * Those of the Python threads of all processes in which a thread waits for something that a habit may tell; *ret is
 * malloc'ed. A thread that waits for a lock and whose place cannot be read has the number 0, which the time until
 * until_ns may not suffice for either.
 */
int must_check wakeplaces_read(const struct world *w, const struct waitfacts *facts, uint64_t until_ns,
			       struct wakeplace **ret, size_t *ret_n);
