/*
 * The processes of a job, each with its role. A process belongs to a job if
 * its environment names the job (VIGIL_JOB_ID), if it is in the job's control
 * group, or if it descends from a process that belongs to it. No single way
 * finds all: a double fork breaks the descent, a program may clear its
 * environment, and a job may have no control group.
 *
 * Anybody can put the name of a job into an environment, and read it off the
 * job's control group: only processes of the job's user are believed, and of
 * users whom the job has processes of by its group or by descent.
 */
#pragma once

#include <sys/types.h>

#include "agent/inspect/spawnrank.h"
#include "model/jobs/role.h"
#include "sense/proc/proc.h"
#include "sense/proc/tasks.h"

struct members_want {
	const char *job_id; /* NULL or empty: not by environment */
	uid_t uid; /* of the job's user; for job_id only */
	pid_t root; /* 0: not by descent */
	const pid_t *also; /* further roots; borrowed */
	size_t n_also;
	const char *group; /* as /proc/PID/cgroup shows it; NULL, empty or "/": not by group */
	/*
	 * Read the numbers of ranks that the program has started itself. That reads their memory and may block on a
	 * dead disk: not for callers that must never wait.
	 */
	bool ask;
	struct spawnranks *spawned; /* results of earlier calls, for callers that repeat; NULL: none are kept */
};

/* True for the root and for the further ones. */
static inline bool members_is_root(const struct members_want *want, pid_t pid)
{
	for (size_t i = 0; i < want->n_also; i++)
		if (want->also[i] == pid)
			return true;
	return pid == want->root;
}

struct member {
	const struct task_row *task; /* borrowed from the scan */
	struct role_info who;
	char job[64]; /* VIGIL_JOB_ID of its environment; "" */
	char command[512];
};

struct members {
	struct member *row; /* by pid; owned */
	size_t n;
	size_t n_denied; /* processes whose environment we may not read: they may belong, too */
};

/* want NULL: every process; a process without a parent other than pid 1 is then the root of its own tree. */
int must_check members_read(const struct world *w, const struct tasks *t, const struct members_want *want,
			    struct members *ret);
/* NULL: it is none. */
const struct member *member_find(const struct members *m, pid_t pid);
void members_done(struct members *m);
