/*
 * Finds the processes of a job cheaply enough to do it every second: from its
 * control group in one read, else by walking from parents to children
 * (/proc/PID/task/TID/children, kernel: proc_pid_children(5)). The kernel lists
 * children under the thread that made them: the main threads are read each
 * time, all threads on request. Processes found before stay in the list,
 * wherever they have moved.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

#define JOBPIDS_MAX 4096
#define JOBPIDS_NOT_OURS 8
#define JOBPIDS_ALSO 32

struct jobpids_want {
	const char *cgroup; /* relative to world->cgroup_fd; NULL: walk */
	pid_t root; /* start of the walk; 0: none */
	bool root_is_ours; /* true: the root belongs to the job; false: only its descendants do */
	pid_t not_ours[JOBPIDS_NOT_OURS]; /* 0: none */
	pid_t also[JOBPIDS_ALSO]; /* further roots, which belong to the job; 0: none */
};

struct jobpids {
	pid_t pid[JOBPIDS_MAX]; /* sorted after jobpids_find */
	size_t n;
	size_t dropped; /* processes that did not fit */
	pid_t seen[2 * JOBPIDS_MAX]; /* hash set of pid[0..n) */
};

/* p holds what the call before has found; the caller may remove processes that have ended. */
void jobpids_find(struct jobpids *p, const struct world *w, const struct jobpids_want *want, bool all_threads);
