/*
 * What the history of wakes says of the threads that wait now, as hints for the graph of waits: who usually ended such
 * a wait, if that thread lives, or that it has ended. Pure.
 */
#pragma once

#include "model/hang/waitgraph.h"
#include "model/hang/wakehist.h"

/* What Python knows of one of its threads. */
struct wakeplace {
	pid_t pid, tid;
	uint64_t place; /* where it waits for a lock, as in struct wake_wait; 0: it does not, or that is unknown */
	char name[32]; /* ""; or as in struct wake_who */
};

/* Order of places, for qsort. */
int wakeplace_compare(const void *a, const void *b);

struct wakehint_in {
	const struct wakehist *hist;
	const struct waitfacts *facts;
	const struct waitgraph_who *who;
	size_t n_who;
	const struct wakeplace
		*place; /* of threads that run Python, by pid and tid; a lock's address decides for all others */
	size_t n_places;
};

/* Adds WAITHINT_USUAL hints to an array that base/vec.h lets grow. -ENOMEM. */
int must_check wakehint_add(const struct wakehint_in *in, struct waithint **hint, size_t *n_hints, size_t *cap_hints);
