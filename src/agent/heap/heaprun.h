/*
 * `vigil run --heap`: the environment that makes each process of a job leave a heap profile (docs/formats/heap.md), and
 * the folder for these files.
 *
 *   <state>/jobs/<id>/attempt-<n>/heap/         VIGIL_HEAP_DIR
 *   <state>/jobs/<id>/attempt-<n>/heap/warn/    copies made when memory got short
 *
 * Pages of these files count in the job's memory account (of the process that first touches a page). On a disk the
 * kernel can drop them, so they do no harm when memory is short; on tmpfs it cannot. So where the state directory is in
 * memory, the folder is a link to one in /var/tmp, if that is on a disk.
 */
#pragma once

#include "agent/heap/heapfiles.h"
#include "base/fault.h"
#include "sense/world.h"

struct heaprun {
	char *preload; /* "LD_PRELOAD=<library>:<what it was>"; owned; NULL: no heap profile */
	char dir[448]; /* "VIGIL_HEAP_DIR=<folder of the attempt>"; "": it could not be made */
	char rate[48]; /* "VIGIL_HEAP_RATE=…" */
	char unfit[600]; /* a sentence on why the program cannot load the library; "": it can */
	char objects[32]; /* "VIGIL_HEAP_OBJECTS=1" or "" */
	struct heapfiles files; /* of the current attempt */
};

struct heaprun_want {
	const char *program; /* as for execvp */
	uint64_t rate_bytes; /* 0: dormant until it is switched on */
	bool objects; /* sample Python's objects one by one */
};

/*
 * Finds the library. -ENOENT, -EINVAL, -ENOMEM with a fault. h->unfit explains why a program cannot load it; h->preload
 * stays NULL where the program would not even start with it.
 */
int must_check heaprun_prepare(const struct world *w, const struct heaprun_want *want, struct heaprun *h,
			       struct fault *f);
/* Makes the folder of an attempt. -errno: there will be no profiles, but the job can run. */
int must_check heaprun_attempt(struct heaprun *h, const char *job_dir, uint32_t attempt);
/* After the end: a sentence if no process of the last attempt has left a profile, else "". */
void heaprun_nothing(const struct heaprun *h, char *dst, size_t cap);
void heaprun_done(struct heaprun *h);
