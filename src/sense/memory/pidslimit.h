/*
 * The limits of control groups on the number of their processes and threads (pids.max), and how often they refused one.
 * Source: kernel admin-guide/cgroup-v2.rst and cgroup-v1/pids.rst. Kernels before 6.11 count a refusal in the group of
 * the process that was refused, later ones in the group whose limit it was and above.
 */
#pragma once

#include "sense/memory/cgroup.h"

struct pidslimit {
	char group[CGROUP_PATH_MAX]; /* whose limit it is, relative to world->cgroup_fd; "": no group has one */
	uint64_t max, current; /* tasks: processes and threads */
	uint64_t refused; /* so often a new task was refused in these groups since they were made */
	bool has_refused; /* the kernel counts that */
};

/*
 * Of this group of the hierarchy that counts tasks and of all above it: the limit that is nearest to being reached, and
 * the sum of refusals. WORLD_ABSENT: no such hierarchy, or none of the groups counts.
 */
int must_check pidslimit_read(const struct world *w, const struct cgroup_place *place, struct pidslimit *ret);
