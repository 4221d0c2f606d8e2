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
