/*
 * The processes of a job, found cheaply enough to look every second: from its
 * control group in one read, else by walking from parents to children
 * (/proc/PID/task/TID/children, kernel: proc_pid_children(5)). Children are
 * listed under the thread that made them: the main threads are asked each
 * time, all threads when told to. Processes found before are asked for again,
 * wherever they have moved to.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

#define JOBPIDS_MAX 4096
#define JOBPIDS_NOT_OURS 8

struct jobpids_want {
	const char *cgroup; /* relative to world->cgroup_fd; NULL: walk */
	pid_t root; /* the walk begins here */
	bool root_is_ours; /* the root belongs to the job; else only what descends from it */
	pid_t not_ours[JOBPIDS_NOT_OURS]; /* 0: none */
};

struct jobpids {
	pid_t pid[JOBPIDS_MAX]; /* sorted after jobpids_find */
	size_t n;
	size_t dropped; /* that did not fit */
	pid_t seen[2 * JOBPIDS_MAX]; /* a hash set of them */
};

/* p holds what was found before; only what still exists need stay in it. */
void jobpids_find(struct jobpids *p, const struct world *w, const struct jobpids_want *want, bool all_threads);
