/*
 * `vigil run --collectives`: what the environment of a job must hold so that
 * NCCL loads vigil's profiler plugin (plugins/nccl) in each of its processes,
 * and where the rings of calls that it keeps lie: while the attempt runs in a
 * folder of shared memory, for a page that goes to a disk would hold up the
 * job's calls; behind it in <state>/jobs/<id>/attempt-<n>/nccl, where `vigil
 * collectives JOB` finds them.
 */
#pragma once

#include <limits.h>

#include "base/fault.h"
#include "sense/world.h"

struct ncclrun {
	bool on;
	bool users_own; /* NCCL_PROFILER_PLUGIN is the user's, and stays */
	char plugin[PATH_MAX]; /* "NCCL_PROFILER_PLUGIN=<library>"; "" when the user's stays */
	char ring[PATH_MAX]; /* "VIGIL_NCCL_RING=<folder>/ring."; "" when there is no folder */
	char folder[256]; /* of this attempt; "" none */
	char keep[300]; /* where its rings go when it has ended */
};

/* Finds the plugin, as agent/host/datadir does. -ENOENT with a fault. */
int must_check ncclrun_prepare(const struct world *w, struct ncclrun *n, struct fault *f);
/* Makes the folders of an attempt. -errno: nothing will be recorded; the job runs all the same. */
int must_check ncclrun_attempt(struct ncclrun *n, const char *job_dir, uint32_t attempt);
/* The attempt has ended, and nobody of it writes any more: its rings move into the state directory. */
void ncclrun_keep(struct ncclrun *n);
/* Where the rings of an attempt that has ended are. */
void ncclrun_kept(const char *job_dir, uint32_t attempt, char *dst, size_t cap);
