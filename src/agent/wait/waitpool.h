/*
 * Who has the task for whose result the threads of a process wait, as hints for the graph: of multiprocessing.Pool and
 * concurrent.futures.ProcessPoolExecutor (sense/pylib/pypool.h). The kernel's facts only say that all workers share
 * the pool's pipes.
 *
 * The hint is the worker that has the task; else the thread of the pool that runs the tasks' iterable or a callback;
 * else workers in their initializer or not begun; else those that all have other tasks. Nobody: all workers wait for
 * work and the pool's threads have none to pass on, so that whoever had the task has ended; or workers end before they
 * take one and are made anew again and again. None of this proves: a pool may be given other tasks meanwhile.
 *
 * A main thread that looks for results again and again, and sleeps or asks somebody in between (joblib, datasets), does
 * not wait for one: each worker that has a task is a hint of its own (WAITHINT_TASK).
 */
#pragma once

#include "agent/inspect/procview.h"
#include "model/hang/waithint.h"
#include "sense/wait/waitfacts.h"

struct waitpool_in {
	const struct world *w;
	const struct waitfacts *now;
	const struct waitfacts *before; /* an earlier look, by which workers that are made anew are known; NULL: none */
	uint64_t until_ns; /* no other worker is looked into after this time */
};

/* Adds hints to an array that base/vec.h lets grow. -ENOMEM. */
int must_check waitpool_read(const struct waitpool_in *in, struct procview *v, struct waithint **hint, size_t *n_hints,
			     size_t *cap_hints);
