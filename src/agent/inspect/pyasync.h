/*
 * The asyncio tasks of a process, with the threads whose loops run them, and what each awaits in words: for `vigil
 * stack`, and as hints for the graph of waits. Read from outside, without stopping the process
 * (sense/asyncio/pytasks.h).
 *
 * A thread in an event loop waits for everything at once; which of its tasks matters is told by the future that the
 * loop runs for (asyncio.run: the main task), and by who awaits whom from there on. Where these chains end is what the
 * thread waits for. Threads that have run meanwhile get no hint.
 */
#pragma once

#include "agent/inspect/procview.h"
#include "agent/inspect/standstill.h"
#include "model/hang/waithint.h"
#include "sense/asyncio/pytasks.h"

struct pyasync_loop {
	pid_t tid; /* thread that runs it */
	struct pytasks_loop at;
	char token[STANDSTILL_TOKEN]; /* of the thread, before the tasks were read; "": it ran */
};

struct pyasync {
	struct pytasks tasks;
	struct pyasync_loop *loop; /* owned */
	size_t n_loops;
};

/* Nothing (n 0) where no thread runs a loop of asyncio's. WORLD_GONE, WORLD_DENIED, -errno. */
int must_check pyasync_read(const struct world *w, struct procview *v, struct pyasync *ret);
void pyasync_done(struct pyasync *a);
/* The loop whose task it is; NULL: unknown. */
const struct pyasync_loop *pyasync_loop_of(const struct pyasync *a, const struct pytask *t);
/* "Queue.get", "recv of descriptor 7", "task 'b'", "tasks 'b', 'c'", "a future"; "": it awaits nothing. */
void pyasync_awaits_text(const struct pyasync *a, size_t task, char *dst, size_t cap);
/* The hints of the threads that stand in a loop; an array that base/vec.h lets grow. Errors as above. */
int must_check pyasync_hints(const struct world *w, struct procview *v, struct waithint **hint, size_t *n_hints,
			     size_t *cap_hints);
