/*
 * Finds Ray workers by the name of their task or actor: those of the running jobs, and where these have none of the
 * name, all of this machine. Where no title has it, actors are found by the name that their program gave them, which
 * costs a tenth of a second for each. Their titles are read as they are at this moment. An ordinary user is shown the
 * own processes only; root those of everybody, and a title can be made up by whoever runs the process.
 */
#pragma once

#include "sense/world.h"

#define RAYFIND_MOST 64

struct rayfind {
	struct {
		pid_t pid;
		char title[96]; /* "Learner.learn"; cut, without control characters */
	} of[RAYFIND_MOST]; /* by pid */
	size_t n;
	size_t n_all; /* with those that did not fit */
};

/* A job that runs. */
struct rayfind_job {
	char id[64];
	pid_t pid; /* what was adopted, or its main process; 0: none */
};

/* name: as of raytitle_is, or an actor's own. n 0: there is none. -errno where the processes cannot be listed. */
int must_check rayfind(const struct world *w, const char *name, const struct rayfind_job *jobs, size_t n_jobs,
		       struct rayfind *ret);
