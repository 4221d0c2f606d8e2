/*
 * Processes that tasks of a runner have left: found by a variable of their environment, ended with all that descends
 * from them. A process that has cleared its environment and left its process group is not found by it.
 *
 * The warden is a child of the runner that waits for the runner's end. If the runner is killed, the warden ends what
 * its tasks have left, and holds the lock of the joblog until that is done: a runner that resumes begins after it.
 */
#pragma once

#include "act/taskgroup.h"
#include "sense/world.h"

/* Ends every process of this user with "NAME=value" in its environment. Returns their number. */
size_t mapleft_end(const struct world *w, const char *variable);
/* True if the process has it. */
bool mapleft_has(const struct world *w, pid_t pid, const char *variable);

struct warden {
	pid_t pid; /* 0: there is none */
	int fd; /* closed by the runner's death; a byte says that there is nothing to do */
};

/* variable and groups, which it ends as well, are copied by the fork. -errno. */
int must_check warden_start(const struct world *w, const char *variable, const struct taskgroups *groups,
			    struct warden *ret);
void warden_end(struct warden *d);
