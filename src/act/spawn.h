/*
 * Starts a program quickly, for bags of many short tasks: the child runs in vigil's memory until it executes (vfork),
 * so that nothing is copied and no pipe is needed to learn what went wrong. Which channels, which folder and which
 * environment it gets is all given; nothing is added. Apart from that as act/launch, which starts the processes of a
 * job.
 *
 * The child leads a process group of its own, and dies with the thread that started it (PR_SET_PDEATHSIG).
 * Sources: clone(2), clone3 in the same page, prctl(2).
 */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "base/base.h"

struct spawn {
	char *const *argv, *const *env; /* NULL-terminated */
	int in_fd, out_fd, err_fd; /* become 0, 1 and 2; -1: vigil's own */
	sigset_t mask; /* the child's */
	int group_fd; /* of the control group of version 2 that the child is to be in (act/taskgroup); -1: in ours */
};

/*
 * errno of an exec that failed is returned as a positive number; -errno: nothing was started for lack of something.
 * *ret_grouped: it is in the group that was asked for. If the kernel starts none there, it is started in ours.
 */
int must_check spawn_start(const struct spawn *s, pid_t *ret_pid, bool *ret_grouped);
