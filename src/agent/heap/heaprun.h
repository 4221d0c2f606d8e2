/*
 * `vigil run --heap`: what the environment of a job must hold so that each
 * process in it leaves a heap profile (docs/formats/heap.md), where these
 * files go, and that they stay few.
 *
 *   <state>/jobs/<id>/attempt-<n>/heap/         VIGIL_HEAP_DIR
 *   <state>/jobs/<id>/attempt-<n>/heap/warn/    copies, of when memory got short
 *
 * Pages of these files belong to the job's memory account (whoever touches a
 * page first pays). On a disk the kernel can drop them, so they never count
 * when it matters; on tmpfs it cannot. So where the state directory is in
 * memory, the folder is a link to one in /var/tmp if that is on a disk.
 */
#pragma once

#include "agent/heap/heapfiles.h"
#include "base/fault.h"
#include "sense/world.h"

struct heaprun {
	char *preload; /* "LD_PRELOAD=<library>:<what it was>"; owned; NULL: no heap profile */
	char dir[448]; /* "VIGIL_HEAP_DIR=<folder of the attempt>"; "" when it cannot be made */
	char rate[48]; /* "VIGIL_HEAP_RATE=…" */
	char unfit[600]; /* a sentence, "" where the program takes the library */
	char objects[32]; /* "VIGIL_HEAP_OBJECTS=1" or "" */
	struct heapfiles files; /* of the attempt that runs */
};

struct heaprun_want {
	const char *program; /* as execvp takes it */
	uint64_t rate_bytes; /* 0: dormant until it is switched on */
	bool objects; /* Python's objects one by one */
};

/*
 * Finds the library. -ENOENT, -EINVAL with a fault. A program that it cannot get into is told of in h->unfit; one that it
 * would keep from starting is started without (h->preload stays NULL).
 */
int must_check heaprun_prepare(const struct world *w, const struct heaprun_want *want, struct heaprun *h,
			       struct fault *f);
/* Makes the folder of an attempt. -errno: nothing will be kept; the job runs all the same. */
int must_check heaprun_attempt(struct heaprun *h, const char *job_dir, uint32_t attempt);
/* When all has ended: a sentence if no process of the last attempt has left a profile, else "". */
void heaprun_nothing(const struct heaprun *h, char *dst, size_t cap);
void heaprun_done(struct heaprun *h);
