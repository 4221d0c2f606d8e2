/*
 * Why the threads of a Python process that wait for a lock of Python's do so: who holds it, whether anybody can still
 * release it, and what it is, in words. Read from outside, without stopping the process (sense/python/pylocks.h).
 *
 * A thread counts only if it has not run from before its stack was read to after the last of its frames was looked at
 * (its turns in schedstat and its system call are the same), and only what two such looks agree on is told. Of running
 * threads nothing is told, but that a lock or a join names them. Free-threaded builds are left out.
 */
#pragma once

#include "agent/inspect/procview.h"
#include "model/hang/waithint.h"

/*
 * One hint for each thread that waits so. *ret is malloc'ed; empty where there is no Python, or one whose objects are
 * not known. WORLD_GONE, WORLD_DENIED, -errno.
 */
int must_check pywaits_read(const struct world *w, struct procview *v, struct waithint **ret, size_t *ret_n);

/* A lock that a thread of the process holds by a `with` that has not ended. */
struct pywaits_held {
	pid_t tid;
	uint64_t object; /* address of the lock, of a Condition that of its lock */
	uint64_t word; /* address in this process of what waiters sleep on */
	bool may_release; /* the function may have let it go again */
	char type[32]; /* "lock", "RLock", "Condition", "SemLock": a lock of multiprocessing */
	char text[120]; /* "with lock at train.py:31 in save" */
};
/*
 * All of threads that stand still, of one look. *ret is malloc'ed; empty as of pywaits_read. Errors as pywaits_read.
 */
int must_check pywaits_held_read(const struct world *w, struct procview *v, struct pywaits_held **ret, size_t *ret_n);
