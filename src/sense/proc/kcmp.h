/*
 * What two tasks have in common beyond what /proc shows: a process may be made that has its parent's memory
 * (clone(2) with CLONE_VM), and a thread may have descriptors of its own (unshare(2) with CLONE_FILES).
 *
 * Source: kcmp(2), for whoever may read both tasks. Where the kernel may not be asked, nothing is known.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

/* 1: two processes have the same memory, 0: they have not, or one has ended; negative: the kernel may not be asked. */
int must_check tasks_same_memory(const struct world *w, pid_t a, pid_t b);
/*
 * An order of memories, by which processes can be sorted: *ret is 0 of two that have the same, else below or above 0.
 * -EPERM: the kernel may not be asked, and *ret is by pid.
 */
int must_check tasks_memory_order(const struct world *w, pid_t a, pid_t b, int *ret);
/* True if a descriptor of a process may be the same open file as one of another. */
bool tasks_may_share(const struct world *w, pid_t a, int fd_of_a, pid_t b, int fd_of_b);
/*
 * False if the process's epoll descriptor is known to watch, under this number, another file than the one that has the
 * number now, or one more.
 */
bool epoll_may_watch(const struct world *w, pid_t pid, int epoll, int fd);
/* True of two tasks that are known to have tables of descriptors of their own. */
bool tasks_part_files(const struct world *w, pid_t a, pid_t b);
