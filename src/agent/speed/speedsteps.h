/*
 * The steps of a job and its loss, from its kept output: read before and after it is watched. For `vigil doctor JOB`.
 */
#pragma once

#include "model/jobs/job.h"
#include "model/speed/speedfacts.h"
#include "sense/framework/progress.h"
#include "sense/world.h"

#define SPEEDSTEPS_FILES 8 /* ranks whose output is read, stdout and stderr of each */

struct speedsteps_file {
	int fd; /* -1: none */
	uint64_t at; /* where it is read on */
	struct progress progress;
	bool has_first;
	uint64_t first_step;
};

struct speedsteps {
	struct speedsteps_file file[SPEEDSTEPS_FILES];
	size_t n;
	int64_t started_unix_ms, begin_unix_ms;
};

/* A job without kept output has no steps. */
void speedsteps_begin(struct speedsteps *s, const struct world *w, const struct job *job);
/* Closes the files. */
void speedsteps_end(struct speedsteps *s, const struct world *w, struct speed_steps *ret);
