/*
 * Starts one process of a job: its environment, its output channels, its control group. Apart from these the child
 * starts as it would under a shell; signal masks and limits are those that vigil was started with.
 *
 * Output: where vigil's own stdout (or stderr) is a terminal, the child gets a terminal of the same size, so that
 * progress bars are still drawn; else a pipe.
 */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "act/jobgroup.h"
#include "base/base.h"

struct launch {
	char *const *argv;         /* NULL-terminated */
	const char *const *env;    /* "NAME=value" to add or replace; n_env of them */
	size_t n_env;
	const struct jobgroup *group; /* NULL: none */
	sigset_t mask;             /* the mask the child starts with */
	bool keep_stdin;           /* the first rank reads our stdin; the others /dev/null */
	/* work of vigil while the child enters its group, which takes up to 20 ms on v1; NULL: none */
	void (*meanwhile)(void *ctx);
	/* Called first in the child, to record its start even if vigil dies at once. System calls only; NULL: none. */
	void (*announce)(void *ctx);
	void *ctx; /* of both functions */
};

struct launched {
	pid_t pid;
	int pidfd;       /* -1: the kernel has no pidfds */
	int out_fd, err_fd; /* our ends, non-blocking; owned by the caller */
	bool out_tty, err_tty;
};

enum {
	LAUNCH_NOT_FOUND = 1,      /* exit status 127 */
	LAUNCH_NOT_EXECUTABLE = 2, /* exit status 126 */
};

/* -errno of fork and pipe; LAUNCH_*: exec failed with *ret_errno. */
int must_check launch(const struct launch *l, struct launched *ret, int *ret_errno);
/* Gives the terminals of a child the size of ours, after a SIGWINCH. */
void launch_resize(const struct launched *c);
