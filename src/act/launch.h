/*
 * Starts one process of a job: its environment, its output channels, its
 * control group. The child differs from vigil only as under a shell; signal masks and limits are as they came to us.
 *
 * Output: where vigil's own stdout (or stderr) is a terminal, the child gets
 * a terminal of the same size, so that progress bars still draw; else a pipe.
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
	void (*meanwhile)(void *ctx); /* our own work while the child enters its group, up to 20 ms on v1; NULL: none */
	/* Called first in the child, to announce it even if vigil dies now: system calls only; NULL: none. */
	void (*announce)(void *ctx);
	void *ctx; /* of both */
};

struct launched {
	pid_t pid;
	int pidfd;       /* -1 where the kernel has none */
	int out_fd, err_fd; /* our ends, non-blocking; owned by the caller */
	bool out_tty, err_tty;
};

enum {
	LAUNCH_NOT_FOUND = 1,      /* 127 */
	LAUNCH_NOT_EXECUTABLE = 2, /* 126 */
};

/* -errno from fork and the like; *ret_errno says why exec failed. */
int must_check launch(const struct launch *l, struct launched *ret, int *ret_errno);
/* Tell a child's terminals our size (SIGWINCH). */
void launch_resize(const struct launched *c);
