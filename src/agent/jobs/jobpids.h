/*
 * Finds the processes of a job cheaply enough to do it every second: from its
 * control group in one read and from parents to children
 * (/proc/PID/task/TID/children, kernel: proc_pid_children(5)): a process may
 * leave its group, and its children then begin outside. Without a group from
 * the root's children on. The kernel lists children under the thread that made
 * them: the main threads are read each time, all threads on request. Processes found before stay in the list,
 * wherever they have moved, for as long as they live: a process is a number and
 * the time of its start, and a stranger who gets the number is none of the job.
 */
#pragma once

#include <sys/types.h>

#include "sense/proc/proc.h"
#include "sense/world.h"

#define JOBPIDS_MAX 4096
#define JOBPIDS_NOT_OURS 24
#define JOBPIDS_ALSO 32

struct jobpids_want {
	const char *cgroup; /* relative to world->cgroup_fd; NULL: by the root's children */
	pid_t root; /* start of the walk where there is no group; 0: none */
	uint64_t root_start_ticks; /* 0: unknown; a root with another start is a stranger, and nobody is found */
	bool root_is_ours; /* true: the root belongs to the job; false: only its descendants do */
	pid_t not_ours[JOBPIDS_NOT_OURS]; /* 0: none */
	struct proc_id also[JOBPIDS_ALSO]; /* further roots, which belong to the job; pid 0: none */
};

struct jobpid {
	pid_t pid;
	bool found; /* in the last jobpids_find, by group or by walk */
	bool outside; /* there is a group, and it is not in it */
	uint64_t start_ticks; /* as the caller read it when it was of the job; 0: it is new */
};

struct jobpids {
	struct jobpid of[JOBPIDS_MAX]; /* by pid after jobpids_find */
	size_t n;
	size_t dropped; /* processes that did not fit */
	uint64_t found_ticks; /* time of the last jobpids_find */
	pid_t root;
	pid_t seen[2 * JOBPIDS_MAX]; /* hash set of what the last jobpids_find has found */
	uint16_t taken[JOBPIDS_MAX]; /* the places in it that are taken */
	size_t n_taken;
	struct jobpid before[JOBPIDS_MAX]; /* scratch of jobpids_find, as is listed */
	pid_t listed[JOBPIDS_MAX];
};

/* p holds what the call before has found and the caller has kept. */
void jobpids_find(struct jobpids *p, const struct world *w, const struct jobpids_want *want, bool all_threads);
/*
 * True if the process that now has the number of p->of[i] is the one that was found. A process that started within the
 * clock tick of the search counts if its parent is of the job, else from the next search on.
 */
bool jobpids_is(const struct jobpids *p, size_t i, pid_t ppid, uint64_t start_ticks);
/*
 * One to keep for the next search, at a place from 0 on that the caller has read already; in the end it sets p->n to
 * how many it keeps.
 */
void jobpids_keep(struct jobpids *p, size_t at, pid_t pid, uint64_t start_ticks);
