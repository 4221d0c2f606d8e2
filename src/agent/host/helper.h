/*
 * Processes that vigil forks for itself beside a job. The guard must not take them for a part of the job, not even
 * between the fork and the entry in the list. So a fork is announced before it happens: until it is over, children of
 * the supervisor that started since the announcement are not the job's; after it the child's pid is in the list.
 *
 * The list lies in memory shared with the guard (guard_shm). One thread of the supervisor writes; the guard reads.
 */
#pragma once

#include <stdatomic.h>

#include "sense/proc/tasks.h"

#define HELPERS_MAX 16 /* at the same time; a further fork fails with EAGAIN */

struct helpers {
	_Atomic uint64_t since_ticks; /* announcement of the current fork, as /proc counts starts; 0: none */
	_Atomic int32_t pid[HELPERS_MAX]; /* 0: free */
};

/* Sets the list to which forks of this process are added; NULL: none. Borrowed. */
void helper_list_use(struct helpers *list);
/* fork(2) with an entry in the list. The child has no list: its own children are not the supervisor's. */
pid_t helper_fork(void);
/* Removes a process that was waited for. */
void helper_reaped(pid_t pid);
/*
 * Pids of the processes that `parent` has forked for itself, at most cap; returns their number. tasks must have been
 * read before the call.
 */
size_t helpers_find(struct helpers *list, const struct tasks *tasks, pid_t parent, pid_t *ret, size_t cap);
