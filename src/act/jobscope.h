/*
 * A systemd scope for a job, used where the group of vigil belongs to systemd and vigil may not divide it. systemd
 * starts a scope around an existing process, so a small one is forked first: the holder. It stays in the leaf "keeper"
 * of the scope and does nothing; the processes of the job go into the leaf "job". The holder dies with vigil. The scope
 * ends when both leaves are empty, and systemd then removes it.
 *
 *   vigil-ID.scope/keeper   the holder
 *   vigil-ID.scope/job      the job: memory.high, cgroup.freeze, cgroup.kill
 *
 * The root user asks the system manager, other users their own manager. A call takes at most 300 ms where systemd does
 * not answer, and no time without systemd.
 *
 * Sources: systemd.scope(5), org.freedesktop.systemd1(5), systemd's CGROUP_DELEGATION document, kernel cgroup-v2.rst
 * ("Delegation").
 */
#pragma once

#include "act/systemd_bus.h"
#include "sense/memory/cgroup.h"

struct jobscope {
	pid_t holder;                 /* a child of ours; 0: there is no scope */
	enum systemd_manager manager;
	char unit[128];
};

#define JOBSCOPE_NONE ((struct jobscope){.holder = 0})

/* True if the group is a unit of systemd without Delegate=, which vigil must not divide. */
bool jobscope_kept_by_systemd(const struct world *w, const struct cgroup_place *ours);
/* True if the group sets no limit; only then may a job be moved out of it. */
bool jobscope_bare(const struct world *w, const struct cgroup_place *ours);
/*
 * Makes the scope; path, name: the job's group, as in struct jobgroup. WORLD_ABSENT: no systemd, no answer, or a group
 * of ours beside which no scope can be made; WORLD_DENIED; -ETIMEDOUT: systemd agreed but did not make it.
 */
int must_check jobscope_make(const struct world *w, const struct cgroup_place *ours, const char *id,
			     struct jobscope *ret, char path[static CGROUP_PATH_MAX],
			     char name[static CGROUP_PATH_MAX]);
/* A group that every program may read, there or made now. */
int must_check jobscope_mkdir(const struct world *w, const char *path);
/* Between fork and exec: asks systemd to move the calling process, where it may not move itself. */
int must_check jobscope_enter(const struct jobscope *s);
/* The holder ended on its own and waits to be reaped. */
void jobscope_holder_died(struct jobscope *s);
/* Ends the holder. The scope ends after the last process of the job. */
void jobscope_end(struct jobscope *s);
/*
 * For a job's group that was just removed: has systemd end its scope, where one is still there and empty. systemd does
 * that by itself, but on a very busy machine it was seen to miss that a scope had become empty.
 */
void jobscope_stop_empty(const struct world *w, const char *group);
