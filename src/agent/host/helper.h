/*
 * Processes that vigil forks for itself beside a job: the guard is not to take them for parts of it, not even in the
 * instant between their birth and the telling of it. A fork is announced before it happens: who was born since then to
 * the supervisor is nobody's until the fork is over; by then its number is on the list.
 *
 * The list lies in memory that the guard shares (guard_shm). One thread of the supervisor forks; the guard reads.
 */
#pragma once

#include <stdatomic.h>

#include "sense/proc/tasks.h"

#define HELPERS_MAX 16 /* at the same time; one more is not forked (-EAGAIN) */

struct helpers {
	_Atomic uint64_t since_ticks; /* a fork is under way: of after this time, as /proc tells starts; 0: none */
	_Atomic int32_t pid[HELPERS_MAX]; /* 0: free */
};

/* From now on this process's forks are told there. NULL: nowhere. Borrowed. */
void helper_list_use(struct helpers *list);
/* fork(2), told; forgets the list in the child, whose own children are not the supervisor's. */
pid_t helper_fork(void);
/* It has been waited for. */
void helper_reaped(pid_t pid);
/*
 * Which of these processes are forks of `parent` for itself, at most cap of them; looks at rows read before the call.
 * Returns how many.
 */
size_t helpers_find(struct helpers *list, const struct tasks *tasks, pid_t parent, pid_t *ret, size_t cap);
