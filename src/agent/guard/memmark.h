/*
 * Marks in the use of a v1 control group at which the kernel wakes the guard. To set one the kernel waits until every
 * processor has rescheduled (synchronize_rcu): 10 to 20 ms on a busy machine, in which the guard would see nothing and
 * end nobody. So a thread sets them. Asking for one neither allocates nor waits.
 */
#pragma once

#include <stdatomic.h>

#include "base/base.h"

#define MEMMARK_QUEUE 64 /* power of two */

struct memmark {
	int control_fd, use_fd, event_fd; /* the thread's own, closed when it is done */
	uint64_t bytes;
	_Atomic uint32_t set; /* the ticket, once the mark is set */
};

struct memmarks {
	struct memmark queue[MEMMARK_QUEUE];
	_Atomic uint32_t pushed, done;
	int wake_fd; /* eventfd, semaphore */
	bool running;
};

/* Starts the thread, which lives as long as the process. */
int must_check memmarks_start(struct memmarks *m);
/*
 * Have event_fd written when the group whose folder is dir_fd uses this much. Both stay the caller's. Returns a ticket;
 * 0: it cannot be had (no such file, or too many are on their way).
 */
uint32_t memmarks_ask(struct memmarks *m, int dir_fd, int event_fd, uint64_t bytes);
/* False while it is on its way, when the kernel has refused it, and for ticket 0. */
bool memmarks_is_set(const struct memmarks *m, uint32_t ticket);
