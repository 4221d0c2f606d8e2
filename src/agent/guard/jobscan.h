/*
 * Which processes have to be read to know what the jobs hold, between two sweeps of the whole machine: those that were
 * of a job, and whoever has begun since. A stranger does not become a job's process: only who is born in a job, or
 * left to its reaper by one, is. So all others keep the row of the last sweep.
 *
 * Who has begun is known by the numbers that were given since (sense/proc/lastpid). Of a process that is older than two
 * seconds the sizes alone are read, and all else once a second: it changes its parent only when that ends, and then it
 * is read again. No allocation.
 */
#pragma once

#include "model/memory/unit.h"
#include "sense/proc/tasks.h"

#define JOBSCAN_MOST 1024 /* of more processes the whole machine is swept */
#define JOBSCAN_NEW 512 /* likewise if more numbers were given */
#define JOBSCAN_UNBORN 512

struct jobscan {
	bool is_ready; /* the last sweep serves; false: a new one is needed */
	pid_t last; /* numbers up to this one were looked at */
	bool has_last;
	pid_t pids[JOBSCAN_MOST]; /* sorted */
	size_t n;
	/* numbers that were given, and have no process: it cannot be seen yet, has ended, or is a thread */
	struct {
		pid_t pid;
		uint64_t until_ns;
	} unborn[JOBSCAN_UNBORN];
	size_t n_unborn;
	uint64_t full_ns; /* when all of them were last read in full */
};

/* Before a sweep of all. */
void jobscan_before(struct jobscan *s, const struct world *w);
/* After it, when its rows have been grouped. */
void jobscan_begin(struct jobscan *s, const struct tasks *tasks, const struct unit_table *units, uint64_t mono_ns);
/*
 * Brings the rows of the jobs' processes up to date; full: not only their sizes. False: a sweep of all is needed.
 * tasks: the rows of the last sweep.
 */
bool must_check jobscan_look(struct jobscan *s, struct tasks *tasks, const struct world *w, bool full);
/* After a look, when the rows have been grouped again. */
void jobscan_keep(struct jobscan *s, const struct tasks *tasks, const struct unit_table *units);
