/*
 * A control group of the job's own, when one can be made: it lets vigil
 * freeze and end all of the job at once, and it throttles an allocator while
 * vigil decides. On v2 the throttle is memory.high (the kernel slows the
 * allocator); on v1 it is the group's limit with the kernel's killer switched
 * off (the allocator sleeps until there is room).
 * Sources: kernel cgroup-v2.rst, cgroup-v1/memory.rst, freezer-subsystem.rst.
 *
 * Made as a child of our own group where that group is ours to divide; else as
 * a scope that systemd makes (act/jobscope); else beside our own group. Where
 * none is allowed, jobgroup_make answers WORLD_DENIED or WORLD_ABSENT and vigil
 * works by watching. A group is left only where it sets nothing for the job.
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
	int memory_fd, freezer_fd;     /* directories; -1 without */
	int throttle_fd; /* memory.high, or memory.limit_in_bytes */
	int freeze_fd;                 /* cgroup.freeze, or freezer.state */
	int kill_fd;                   /* cgroup.kill (v2, 5.14); -1 without */
	bool moved_ourselves;          /* v2: vigil sits in a sibling leaf now */
	struct jobscope scope;         /* v2: made by systemd, kept up by a process of ours */
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
 * why (>= 160 bytes) says what was missing, or why systemd made no scope; "" when there is nothing to say. id becomes
 * part of the group's name.
 */
int must_check jobgroup_make(const struct world *w, const struct cgroup_place *ours, const char *id,
			     struct jobgroup *ret, char why[static 160]);
/* Between fork and exec: move the calling process in. */
int must_check jobgroup_enter(const struct jobgroup *g);
/* Never below what is in use: the throttle slows growth, it does not reclaim. */
int must_check jobgroup_throttle(struct jobgroup *g, uint64_t bytes);
int must_check jobgroup_unthrottle(struct jobgroup *g);
int must_check jobgroup_freeze(const struct jobgroup *g);
int must_check jobgroup_thaw(const struct jobgroup *g);
/* All of the group at once (v2). WORLD_ABSENT where the kernel cannot. */
int must_check jobgroup_kill(const struct jobgroup *g);
/* Remove the group; fine when it is gone. -EBUSY while processes are in it: systemd then collects its scope later. */
int must_check jobgroup_remove(const struct world *w, struct jobgroup *g);
void jobgroup_close(struct jobgroup *g);
