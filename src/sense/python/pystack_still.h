/*
 * Most threads of a job wait. The stack of one that has not run since it was
 * proved is the same; that it has not run, the kernel says for less than a
 * third of the price of reading it: the third number of
 * /proc/PID/task/TID/schedstat counts the times that the thread was given a
 * processor (kernel: scheduler/sched-stats.rst).
 *
 * The count alone proves nothing, since a thread can stay on its processor
 * while the count stands. So: the count is read, then the thread is seen off
 * its processor (/proc/PID/task/TID/syscall names a call: the kernel shows it
 * only of a thread that has been switched out), then its stack is read and
 * proved. As long as the count is the same afterwards, the thread has not run
 * since it was seen, and nobody else changes its frames.
 */
#pragma once

#include "sense/python/pystack.h"

struct plan;

/* One for each thread; the reader's, like all that it points to. */
struct still {
	int fd; /* of its schedstat, kept open; -1 */
	pid_t tid; /* whose */
	bool holds; /* stack is the thread's as long as it had so many turns on a processor */
	uint64_t turns;
	uint64_t last; /* the stack of the last look, hashed */
	uint32_t repeats; /* looks that found the same one */
	uint32_t gains; /* looks that were saved since the last attempt */
	uint32_t rest, rest_next; /* looks until the next attempt, and after it if it fails */
	struct pyframe *frames;
	size_t cap;
	struct pystack stack;
};

/* It has not run since its stack was proved: *ret is that. */
bool still_same(struct pystacks *s, struct plan *p, const struct pythread *t, struct pystack *ret);
/* Before a look: worth remembering, and off the processor at this moment? */
bool still_begin(struct pystacks *s, struct plan *p, const struct pythread *t);
/* After it. began: what still_begin said; whole: no frame is missing. */
void still_end(struct plan *p, bool began, bool whole, const struct pystack *k);
void still_done(struct still *t);
