/*
 * What the history of wakes says of the threads that wait now, as hints for the graph of waits: who usually ended such
 * a wait, if that thread lives, or that it has ended. Pure.
 */
#pragma once

#include "model/hang/waitgraph.h"
#include "model/hang/wakehist.h"

/* Where a thread that waits for a lock stands in its program. */
struct wakeplace {
	pid_t pid, tid;
	uint64_t place; /* as in struct wake_wait; 0: in Python, but it could not be read */
};

struct wakehint_in {
	const struct wakehist *hist;
	const struct waitfacts *facts;
	const struct waitgraph_who *who;
	size_t n_who;
	const struct wakeplace *place; /* threads that run Python; a lock's address decides for all others */
	size_t n_places;
};

/* Adds WAITHINT_USUAL hints to an array that base/vec.h lets grow. -ENOMEM. */
int must_check wakehint_add(const struct wakehint_in *in, struct waithint **hint, size_t *n_hints, size_t *cap_hints);
