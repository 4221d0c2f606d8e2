/*
 * Finds what JOB, PID or "last" on the command line names: a job of the store, or a process of this machine. A number
 * is a process if there is one, else a job's name. A name that is no job's is looked for among the Ray workers of the
 * running jobs, then of this machine, by the name of their task or actor (agent/jobs/rayfind).
 */
#pragma once

#include "agent/jobs/members.h"
#include "agent/jobs/rayfind.h"
#include "base/fault.h"
#include "model/jobs/job.h"
#include "sense/world.h"

struct subject {
	bool is_job;
	struct job job; /* if is_job */
	pid_t pid; /* the process, or the job's main process (0: none) */
	pid_t also[RAYFIND_MOST - 1]; /* further workers of Ray of the name */
	size_t n_also;
	char text[160]; /* "job train-3f2a", "process 812 and its descendants" */
	char key[96]; /* for the store and for file names: the job's id, or "pid-812" */
};

enum { SUBJECT_NONE = 4 }; /* no such job or process; also the exit status */

/*
 * state: the state directory. SUBJECT_NONE, or -errno; *ret is then unchanged. Of several workers of Ray none is
 * chosen: -EINVAL with a sentence that lists them.
 */
int must_check subject_find(const struct world *w, const char *state, const char *what, struct subject *ret,
			    struct fault *f);
/* The same for commands that can show several: all workers of the name. */
int must_check subject_find_all(const struct world *w, const char *state, const char *what, struct subject *ret,
				struct fault *f);
/* Its processes; borrows from s. */
struct members_want subject_members(const struct subject *s);
/*
 * What commands about one subject begin with: opens the world, finds the state directory (given: --state, or NULL) and
 * in it the subject (subject_find_all). what: NULL, if none was named: the newest job that runs, which is said if a
 * later one has ended, else the last one. Returns an exit status; what is wrong has then been said.
 */
int must_check subject_open(const char *given, const char *what, struct world *ret_w, char *state, size_t cap,
			    struct subject *ret);
