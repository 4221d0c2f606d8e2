/*
 * Reads heap profiles into a model/heap/heapset: one file, or the folder of an attempt of a job with the profiles of
 * all its processes, running and ended. For processes that run it adds what the kernel reports of their memory, and
 * which of the sampled blocks lie in it. Only the newest image of a process has live memory. An earlier image has none,
 * and beside processes that run, those that have ended have none either.
 *
 * Bounded: the largest stacks of each process are named one by one and the rest are one line; with more processes fewer
 * stacks are named. Looking at pages ends with its budget.
 */
#pragma once

#include "base/fault.h"
#include "model/heap/heapset.h"
#include "sense/heap/heapregion.h"
#include "sense/world.h"

/* What the caller knows of a process, since a profile has no rank. */
struct heapread_who {
	pid_t pid; /* as vigil's namespace numbers it; 0: it has ended */
	pid_t inner_pid; /* as its own namespace numbers it */
	uint64_t start_ticks;
	int32_t rank; /* NO_RANK: none */
	char role[16];
	char name[96];
	bool has_status;
	int32_t wait_status; /* as of wait(2) */
	int64_t ended_unix_ms; /* 0: not known */
};

struct heapread_want {
	const struct heapread_who *who;
	size_t n_who;
	size_t most_stacks; /* most stacks named one by one, over all processes; 0: 20,000 */
	uint64_t resident_ns; /* most time to look at pages, over all processes; 0: do not look */
};

enum {
	HEAPREAD_NONE = 70, /* the folder has no profile; the fault has the reason, where a process left one */
	HEAPREAD_VERSION = 71, /* only profiles of another version; the fault names it */
	HEAPREAD_DAMAGED = 72, /* no profile could be read; the fault has the first reason */
};

struct heapread; /* the names found so far; to be used for one set */
struct heapread *heapread_new(const struct world *w, struct heapset *into, const struct heapread_want *want);
struct heapread *heapread_free(struct heapread *h);
static inline void heapread_freep(struct heapread **h)
{
	*h = heapread_free(*h);
}
/* HEAPREAD_VERSION, HEAPREAD_DAMAGED, -errno, with a fault. */
int must_check heapread_file(struct heapread *h, const char *path, struct fault *f);
/*
 * Reads all profiles of a folder. Unreadable ones are counted, and heapread_remarks names the first; an error only if
 * none can be read. only_pid: read only this process, as vigil numbers it; 0: all. dirfd: the folder, of which dir is
 * the name; AT_FDCWD: it is opened by dir.
 */
int must_check heapread_folder(struct heapread *h, int dirfd, const char *dir, pid_t only_pid, struct fault *f);
/* The paths of folders that are read from now on are as this process sees them; 0, as at first: as vigil does. */
void heapread_as_seen_by(struct heapread *h, pid_t pid);
/* After HEAPREAD_NONE: no process left a file, not even with a reason. */
bool heapread_is_empty(const struct heapread *h);
/*
 * Writes sentences for people on what is missing or uncertain: replaced files, unreadable profiles. Returns how many.
 */
size_t heapread_remarks(const struct heapread *h, char remarks[][300], size_t cap);
