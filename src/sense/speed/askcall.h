/*
 * System calls that ask whether something has come and do not wait for it: a poll with a time of zero, a receive that
 * may not block. A thread that makes hardly any other call waits, and uses a processor for that. Not sched_yield, by
 * which the threads of numeric libraries spin between two pieces of work.
 */
#pragma once

#include "sense/proc/remote.h"

/* arg: its first four arguments. Times are read from the memory of the process, which runs on meanwhile. */
bool askcall_is(struct remote *r, uint32_t nr, const uint64_t arg[static 4]);
