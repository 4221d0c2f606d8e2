/*
 * Members of a job that are in another control group than the job: a process may move itself (root in a container,
 * cgexec, systemd-run --scope, a scheduler). They stay the job's, by descent, but the group neither counts nor stops
 * them. Believed only of a process of which /proc/PID/cgroup says so and that has lived for a second: one that is being
 * started enters the group a moment after its birth.
 */
#pragma once

#include "agent/guard/evict.h"

struct leavers {
	uint32_t n;
	bool young; /* another one seems to be away, too young to be believed */
	pid_t pid; /* the oldest of them */
	char name[16];
};

/* Of job j, as of the last sweep. Reads nothing that waits for a process; allocates nothing. */
void leavers_find(const struct evict *h, size_t j, struct leavers *ret);
