/*
 * A control group of the job's own, where one can be made. It lets vigil freeze and end the whole job at once, and it
 * throttles an allocating job while vigil decides. On v2 the throttle is memory.high (the kernel slows the allocator).
 * On v1 it is the group's limit with the kernel's killer switched off (the allocator sleeps until there is room).
 * Sources: kernel cgroup-v2.rst, cgroup-v1/memory.rst, freezer-subsystem.rst.
 *
 * The group is made as a child of vigil's own group where vigil may divide that group, else as a systemd scope
 * (act/jobscope), else beside vigil's own group. Where none of these is allowed, jobgroup_make returns WORLD_DENIED or
 * WORLD_ABSENT, and vigil works by watching only. The job is moved out of a group only if that group sets nothing for
 * it.
 */
#pragma once

#include "act/jobscope.h"
#include "base/base.h"
#include "sense/memory/cgroup.h"

struct jobgroup {
	enum cgroup_version version; /* CGROUP_NONE: there is none */
	char memory[CGROUP_PATH_MAX];  /* relative to world->cgroup_fd */
	char freezer[CGROUP_PATH_MAX]; /* v1 freezer; on v2 the same group */
	char name[CGROUP_PATH_MAX];    /* as /proc/PID/cgroup says it */
	int memory_fd, freezer_fd;     /* directory descriptors; -1: none */
	int throttle_fd; /* memory.high, or memory.limit_in_bytes */
	int freeze_fd;                 /* cgroup.freeze, or freezer.state */
	int kill_fd;                   /* cgroup.kill (v2, Linux 5.14); -1: none */
	bool moved_ourselves;          /* v2: vigil was moved to a sibling leaf */
	struct jobscope scope;         /* v2: the scope made by systemd, kept alive by a child of vigil */
	uint64_t throttle_bytes; /* as last written */
	uint64_t limit_bytes;          /* the user's --memory-limit; CGROUP_NO_LIMIT */
};

#define JOBGROUP_NONE                                                                                                  \
	((struct jobgroup){.memory_fd = -1,                                                                            \
			   .freezer_fd = -1,                                                                           \
			   .throttle_fd = -1,                                                                          \
			   .freeze_fd = -1,                                                                            \
			   .kill_fd = -1,                                                                              \
			   .scope = JOBSCOPE_NONE,                                                                     \
			   .limit_bytes = CGROUP_NO_LIMIT})

/*
 * why (>= 160 bytes): the missing right or file, or the reason for no scope; else "". id becomes part of the name of
 * the group.
 */
int must_check jobgroup_make(const struct world *w, const struct cgroup_place *ours, const char *id,
			     struct jobgroup *ret, char why[static 160]);
/*
 * Version, memory and freezer of the group that jobgroup_make tries to make first: to be noted before it is made, so
 * that a vigil that is killed meanwhile leaves none of which nobody knows. Opens and makes nothing.
 */
void jobgroup_expect(const struct cgroup_place *ours, const char *id, struct jobgroup *ret);
/*
 * Opens the group of a vigil that is gone, of which version, memory and freezer are known; of v1 one of the two may be
 * left. WORLD_ABSENT: there is none any more; WORLD_DENIED: it is another user's.
 */
int must_check jobgroup_reopen(const struct world *w, struct jobgroup *g);
/* Between fork and exec: move the calling process in. */
int must_check jobgroup_enter(const struct jobgroup *g);
/* Sets the throttle, never below the present use: it slows growth and does not reclaim. */
int must_check jobgroup_throttle(struct jobgroup *g, uint64_t bytes);
int must_check jobgroup_unthrottle(struct jobgroup *g);
int must_check jobgroup_freeze(const struct jobgroup *g);
int must_check jobgroup_thaw(const struct jobgroup *g);
/* Kills the whole group at once (v2). WORLD_ABSENT where the kernel cannot. */
int must_check jobgroup_kill(const struct jobgroup *g);
/*
 * Removes the group; 0 also when it is gone already. -EBUSY while it has processes: systemd then removes its scope
 * later.
 */
int must_check jobgroup_remove(const struct world *w, struct jobgroup *g);
void jobgroup_close(struct jobgroup *g);
