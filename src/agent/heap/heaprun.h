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

#include <sys/types.h>

#include "base/fault.h"
#include "sense/world.h"

/* Files of ended processes may have this much in all; the ones with the highest peak are kept. */
#define HEAPRUN_ENDED_BYTES (160 * MIB)

struct heaprun {
	char *preload; /* "LD_PRELOAD=<library>:<what it was>"; owned; NULL: no heap profile */
	char dir[448]; /* "VIGIL_HEAP_DIR=<folder of the attempt>"; "" when it cannot be made */
	char rate[48]; /* "VIGIL_HEAP_RATE=…" */
	char unfit[600]; /* a sentence, "" where the program takes the library */
	char objects[32]; /* "VIGIL_HEAP_OBJECTS=1" or "" */
	char folder[400]; /* as in dir */
	uint64_t next_tidy_ns;
	uint64_t last_copy_ns, last_look_ns; /* 0: never */
	uint64_t copy_took_ns;
	uint64_t copy_live_bytes; /* what lived at the last copy */
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
/* When heaprun_tidy wants to be called next; UINT64_MAX: never. */
uint64_t heaprun_due_ns(const struct heaprun *h);
/* Removes files of ended processes beyond HEAPRUN_ENDED_BYTES. */
void heaprun_tidy(struct heaprun *h, const struct world *w, uint64_t budget_bytes);
/*
 * Memory gets short: copies the profiles of the few processes with most live
 * bytes, so that a report shows the moment before: every ten seconds, or when
 * an eighth more lives than at the last time, but never more than a twentieth of the time.
 * Does nothing before it is due.
 */
void heaprun_copy(struct heaprun *h, const struct world *w);
/* When it would look again; UINT64_MAX: there are no profiles. */
uint64_t heaprun_copy_due_ns(const struct heaprun *h);
/* When all has ended: a sentence if no process of the last attempt has left a profile, else "". */
void heaprun_nothing(const struct heaprun *h, char *dst, size_t cap);
void heaprun_done(struct heaprun *h);

/*
 * The profile of a process in a folder, by pid and start: the youngest image of it. copy: the one made when memory got
 * short, if there is one. WORLD_GONE: it has none.
 */
int must_check heaprun_find(const char *folder, pid_t pid, uint64_t start_ticks, bool copy, char *dst, size_t cap);
/* Switches all processes that have the library to a rate, those that come later as well; 0 off. -errno. */
int must_check heaprun_switch(const char *folder, uint64_t rate_bytes, size_t *ret_regions);
