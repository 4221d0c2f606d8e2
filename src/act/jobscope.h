/*
 * A systemd scope for a job, for where our own group is systemd's and not ours
 * to divide. systemd starts a scope around a process that is there already, so
 * a small one is forked first: the holder. It sits in the scope's leaf "keeper"
 * and does nothing; the job's processes go into the leaf "job". The scope ends
 * when both are empty, and systemd collects it. The holder dies with vigil.
 *
 *   vigil-ID.scope/recorder   the holder
 *   vigil-ID.scope/job      the job: memory.high, cgroup.freeze, cgroup.kill
 *
 * Sources: systemd.scope(5), org.freedesktop.systemd1(5), systemd's
 * CGROUP_DELEGATION document, kernel cgroup-v2.rst ("Delegation").
 *
 * The root user asks the system's manager, others their own. Asking takes
 * 300 ms at most where systemd does not answer, and nothing where there is none.
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
 * path, name: the job's group, as in struct jobgroup. WORLD_ABSENT: no systemd,
 * it does not answer, or our group is not one that a scope can stand beside;
 * WORLD_DENIED; -ETIMEDOUT when systemd agreed and then did not do it.
 */
int must_check jobscope_make(const struct world *w, const struct cgroup_place *ours, const char *id,
			     struct jobscope *ret, char path[static CGROUP_PATH_MAX],
			     char name[static CGROUP_PATH_MAX]);
/* Between fork and exec: have the calling process moved in by systemd, where it may not move itself. */
int must_check jobscope_enter(const struct jobscope *s);
/* The holder ended on its own and waits to be reaped. */
void jobscope_holder_died(struct jobscope *s);
/* End the holder. The scope goes when the job's processes have gone too. */
void jobscope_end(struct jobscope *s);
