/*
 * `vigil run --calls`: prepares the environment by which each Python process of a job counts its calls
 * (plugins/python). Profiles go to <state>/jobs/<id>/attempt-<n>/calls.
 */
#pragma once

#include "base/fault.h"
#include "sense/world.h"

struct callrun {
	char *python_path; /* "PYTHONPATH=<plugin>:<what it was>"; owned; NULL: calls are not counted */
	char dir[448]; /* "VIGIL_CALLS_DIR=<folder of the attempt>"; "" when it cannot be made */
};

/*
 * Find the plugin: in $VIGIL_DATA_DIR, in ../share/vigil beside the program, or in the source tree when the program
 * runs from its build folder. -ENOENT with a fault.
 */
int must_check callrun_prepare(const struct world *w, struct callrun *c, struct fault *f);
/* Make the folder of an attempt. -errno: nothing will be kept; the job runs all the same. */
int must_check callrun_attempt(struct callrun *c, const char *job_dir, uint32_t attempt);
void callrun_done(struct callrun *c);
