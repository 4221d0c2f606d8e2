/*
 * Watches over jobs that vigil did not start: `vigil watch` for one, `vigil agent` for all that match. Same services
 * and reports as `vigil run`. What cannot be known from outside (the exit status of another process's child, output
 * that goes to no file) is left out.
 */
#pragma once

#include "agent/run/runspec.h"
#include "sense/world.h"

enum adopt_kind { ADOPT_PID, ADOPT_CGROUP, ADOPT_COMMAND, ADOPT_SLURM };

struct adopt_target {
	enum adopt_kind kind;
	pid_t pid;
	uint32_t job; /* its number in Slurm */
	const char *text; /* cgroup below the cgroup mount, or a piece of the command line */
};

struct adopt_spec {
	struct watch_spec watch;
	const struct adopt_target *target;
	size_t n_targets;
	bool service; /* agent: stay when nothing matches, look for new matches, notify systemd */
};

/* Exit status: 0 the job ended or we were told to stop; 3 not permitted; 4 no such process or group. */
int adopt_run(const struct adopt_spec *s, const struct world *w);
