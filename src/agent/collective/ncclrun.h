/*
 * `vigil run --collectives`: the environment that makes NCCL load vigil's profiler plugin (plugins/nccl) in each
 * process of a job, and the folders of the rings of calls that the plugin keeps. While an attempt runs they lie in
 * shared memory, since writing pages to a disk would delay the job's calls; afterwards in
 * <state>/jobs/<id>/attempt-<n>/nccl, where `vigil collectives JOB` finds them.
 */
#pragma once

#include <limits.h>

#include "base/fault.h"
#include "sense/world.h"

struct ncclrun {
	bool on;
	bool users_own; /* NCCL_PROFILER_PLUGIN was set by the user, and is kept */
	char plugin[PATH_MAX]; /* "NCCL_PROFILER_PLUGIN=<library>"; "" where the user's is kept */
	char ring[PATH_MAX]; /* "VIGIL_NCCL_RING=<folder>/ring."; "" when there is no folder */
	char folder[256]; /* folder of this attempt; "": none */
	char keep[300]; /* folder for its rings after its end */
};

/* Finds the plugin as agent/host/datadir does. -ENOENT, -ENAMETOOLONG with a fault. */
int must_check ncclrun_prepare(const struct world *w, struct ncclrun *n, struct fault *f);
/* Makes the folders of an attempt. -errno: nothing will be recorded, but the job can run. */
int must_check ncclrun_attempt(struct ncclrun *n, const char *job_dir, uint32_t attempt);
/* Moves the rings of an attempt into the state directory. To be called after all its processes have ended. */
void ncclrun_keep(struct ncclrun *n);
/* Path of the rings of an attempt that has ended. */
void ncclrun_kept(const char *job_dir, uint32_t attempt, char *dst, size_t cap);
