/*
 * Which processes make up a job, and what each is for. A process belongs to a
 * job when its environment says so (VIGIL_JOB_ID), when it is in the job's
 * control group, or when it descends from one that does: the first survives a
 * double fork, the second a cleared environment, the third both.
 */
#pragma once

#include <sys/types.h>

#include "agent/inspect/spawnrank.h"
#include "model/jobs/role.h"
#include "sense/proc/proc.h"
#include "sense/proc/tasks.h"

struct members_want {
	const char *job_id; /* NULL or empty: not by environment */
	pid_t root;         /* 0: not by descent */
	const char *group;  /* as /proc/PID/cgroup says it; NULL, empty or "/": not by group */
	/*
	 * Ranks that a program has started itself are asked for their number. That reads their memory, which may take as long as
	 * a dead disk does: not for processes that nothing may hold up.
	 */
	bool ask;
	struct spawnranks *spawned; /* who was asked before, for callers that read again and again; NULL */
};

struct member {
	const struct task_row *task; /* borrowed from the scan */
	struct role_info who;
	char job[64];       /* VIGIL_JOB_ID it carries */
	char command[512];
};

struct members {
	struct member *row; /* by pid; owned */
	size_t n;
	size_t n_denied;    /* processes whose environment we may not read: they may belong too */
};

/* NULL want: every process (roles then start at each process without a live parent but pid 1). */
int must_check members_read(const struct world *w, const struct tasks *t, const struct members_want *want,
			    struct members *ret);
void members_done(struct members *m);
