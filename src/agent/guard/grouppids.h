/*
 * The processes in the jobs' control groups. Who may make groups below one of them can make any number, and each is
 * opened to list it. So a list that took long is kept for a multiple of the processor time that all of them took; a
 * number that has passed to a later process is taken out meanwhile. What a job's known processes start is found by its
 * parents at once, whatever the age of the list.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "sense/proc/tasks.h"

#define GROUPPIDS_MAX 16384
#define GROUPPIDS_REST 24      /* so that listing takes at most 1/24 of a processor */
#define GROUPPIDS_REST_SHORT 3 /* while memory is short */

struct grouppids_job {
	char path[CGROUP_PATH_MAX]; /* "": none is looked at */
	const pid_t *pids;          /* sorted */
	size_t n;
	bool is_whole; /* it could be read, and there was room for all */
	uint64_t listed_ns, cost_ns, born_ticks;
};

/* All zero: nothing was listed yet. */
struct grouppids {
	pid_t pool[2][GROUPPIDS_MAX]; /* one for all jobs, in their order; what does not fit is left out */
	size_t at;                    /* the pool in use */
	struct grouppids_job of[UNIT_JOBS_MAX];
	size_t n_jobs;
	uint64_t n_listed; /* lists that were made */
};

/*
 * Brings the lists of the jobs up to date as far as rest allows; valid until the next call. tasks: as last scanned.
 * Allocates nothing.
 */
void grouppids_list(struct grouppids *g, const struct world *w, const struct tasks *tasks,
		    const struct guard_job *jobs, size_t n_jobs, uint64_t rest);
/* Ascending. Allocates nothing, as qsort(3) may. */
void grouppids_sort(pid_t *pids, size_t n);
