/*
 * Control groups for the tasks of a bag: one for the bag, and below it numbered ones (from 1), each for one task at a
 * time. What a task starts stays in its group whatever process group, session or parent it
 * gives itself, so all of it can be listed, frozen and ended.
 *
 * Of version 2 only, which a hybrid machine has as well: a task is started in its group (CLONE_INTO_CGROUP, Linux 5.7),
 * where entering one later, or one of version 1, takes milliseconds. No controller is switched on, so the group that
 * vigil is in stays as it is, and its limits hold. Source: kernel cgroup-v2.rst.
 *
 * A group in which all was killed is not used again: what is started in one by CLONE_INTO_CGROUP later is killed as
 * well (seen on Linux 6.18, whose fork compares the count of kills with that of the parent's group).
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "sense/memory/cgroup.h"

struct taskgroups {
	char path[CGROUP_PATH_MAX]; /* of the bag's, relative to world->cgroup_fd; "": there is none */
	int fd; /* of its folder; -1: there is none */
};

#define TASKGROUPS_NONE ((struct taskgroups){.fd = -1})

/* Where those of this bag are to be; id becomes part of the name. WORLD_ABSENT. */
int must_check taskgroups_path(const struct world *w, const struct cgroup_place *ours, const char *id,
			       char path[static CGROUP_PATH_MAX]);
/* WORLD_ABSENT; WORLD_DENIED: we may make none. */
int must_check taskgroups_make(const struct world *w, const char *path, struct taskgroups *ret);
/* Those of a runner that is gone. WORLD_GONE; WORLD_DENIED: they are another user's. */
int must_check taskgroups_reopen(const struct world *w, const char *path, struct taskgroups *ret);
/* A descriptor of the group, for act/spawn; it is made if it is not there. -errno. */
int must_check taskgroups_open(const struct taskgroups *g, uint32_t number, int *ret_fd);
/* It is not used any more; it goes now if it is empty, else with the others. */
void taskgroups_drop(const struct taskgroups *g, uint32_t number);
/* True if a process is in it or in one below it. */
bool taskgroups_used(const struct taskgroups *g, uint32_t number);
/* Processes of the group and of those below it, at most cap. */
size_t taskgroups_pids(const struct world *w, const struct taskgroups *g, uint32_t number, pid_t *pids, size_t cap);
int must_check taskgroups_freeze(const struct taskgroups *g, uint32_t number, bool freeze);
/* SIGKILL to all that is in it; number 0: in any. WORLD_ABSENT: the kernel is older than 5.14, or there is no group. */
int must_check taskgroups_kill(const struct world *w, const struct taskgroups *g, uint32_t number);
/* Removes empty groups below the one of this path: of a bag inside of it that was killed. */
void taskgroups_sweep(const struct world *w, const char *path);
/* Ends all that is in them, waits for that for at most wait_ms, and removes them. -EBUSY: something does not end. */
int must_check taskgroups_end(const struct world *w, struct taskgroups *g, int wait_ms);
