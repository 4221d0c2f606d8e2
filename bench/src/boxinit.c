/*
 * boxinit PROCS COMMAND [ARG…]: first process of a box (box.sh).
 *
 * lxcfs shows every process of a process namespace the limits of that
 * namespace's first process, so the first one has to sit in the limited group
 * and everything in the box lives only as long as it does. This one is as
 * small as can be, hence never the killer's choice. The command itself, which
 * drives and judges the benchmark, moves to the group that PROCS
 * (a cgroup.procs file) belongs to: outside the limit, so that it cannot be
 * killed either. What is to live inside joins the group itself.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/base.h"
#include "base/file.h"

int main(int argc, char **argv)
{
	int status = 0;
	pid_t child, p;

	if (argc < 3) {
		fprintf(stderr, "boxinit: wrong usage; boxinit PROCS COMMAND [ARG…]\n");
		return 2;
	}
	ignore(file_write_at(AT_FDCWD, "/proc/self/oom_score_adj", "-1000"), "not permitted in every container");
	child = fork();
	if (child == 0) {
		int r;

		ignore(file_write_at(AT_FDCWD, "/proc/self/oom_score_adj", "0"), "raising it is always permitted");
		r = file_write_at(AT_FDCWD, argv[1], "0");

		if (r < 0) {
			fprintf(stderr, "boxinit: %s: %s\n", argv[1], strerror(-r));
			_exit(2);
		}
		execvp(argv[2], argv + 2);
		fprintf(stderr, "boxinit: %s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	while (child > 0 && ((p = waitpid(-1, &status, 0)) != child))
		if (p < 0 && errno != EINTR)
			return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
