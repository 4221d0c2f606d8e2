/*
 * Skips reading stacks of threads that have not run. Most threads of a job wait, and the stack of a thread that has not
 * run since it was proved is the same. The kernel tells this for less than a third of the price of reading the stack:
 * the third number of /proc/PID/task/TID/schedstat counts how often the thread was given a processor (kernel:
 * scheduler/sched-stats.rst).
 *
 * The count alone proves nothing, since a thread can stay on its processor while the count stays the same. So the count
 * is read, then the thread is seen off its processor (/proc/PID/task/TID/syscall names a call: the kernel shows it only
 * for a thread that has been switched out), then its stack is read and proved. As long as the count is the same
 * afterwards, the thread has not run since, and no other thread changes its frames.
 */
#pragma once

#include "sense/python/pystack.h"

struct plan;

/* One per thread; owned by the reader, as all that it points to. */
struct still {
	int fd; /* of its schedstat, kept open; -1: closed */
	pid_t tid; /* the thread of fd */
	bool holds; /* the stack is valid while the thread's count equals turns */
	uint64_t turns;
	uint64_t last; /* hash of the last sample's stack */
	uint32_t repeats; /* samples in a row with the same stack */
	uint32_t gains; /* samples that were saved since the last attempt */
	uint32_t rest, rest_next; /* samples until the next attempt, and after it if it fails */
	struct pyframe *frames;
	size_t cap;
	struct pystack stack;
};

/* True if the thread has not run since its stack was proved: *ret is that stack. */
bool still_same(struct pystacks *s, struct plan *p, const struct pythread *t, struct pystack *ret);
/* Call before a sample. True if the stack should be kept and the thread is off its processor at this moment. */
bool still_begin(struct pystacks *s, struct plan *p, const struct pythread *t);
/* Call after a sample. began: the result of still_begin; whole: no frame is missing. */
void still_end(struct plan *p, bool began, bool whole, const struct pystack *k);
void still_done(struct still *t);
