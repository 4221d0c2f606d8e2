/*
 * Heap profiles read into a model/heap/heapset: one file, or the folder of an
 * attempt of a job with the profiles of all its processes, dead and alive. Of
 * processes that run, also what the kernel says of their memory, and which of
 * the sampled blocks lie in it. Only the newest image of a process can live;
 * what an earlier one held went with it and is no live figure, nor is, beside
 * processes that run, what those held that have ended.
 *
 * Bounded: of each process the largest stacks are named one by one and the
 * rest stands in one line, more of it the more processes there are; looking
 * at pages ends with its budget.
 */
#pragma once

#include "base/fault.h"
#include "model/heap/heapset.h"
#include "sense/heap/heapregion.h"
#include "sense/world.h"

/* Who a process is, as far as the caller knows it: a profile has no rank in it. */
struct heapread_who {
	pid_t pid; /* as we number it; 0: it does not run any more */
	pid_t inner_pid; /* as it numbers itself */
	uint64_t start_ticks;
	int32_t rank; /* NO_RANK */
	char role[16];
	char name[96];
	bool has_status;
	int32_t wait_status; /* as wait(2) gives it, of what has ended */
	int64_t ended_unix_ms; /* 0: not known */
};

struct heapread_want {
	const struct heapread_who *who;
	size_t n_who;
	size_t most_stacks; /* named one by one, all processes together; 0: 20,000 */
	uint64_t resident_ns; /* for looking at pages, all processes together; 0: not at all */
};

enum {
	HEAPREAD_NONE = 70, /* a folder without a profile; the fault says why, as far as the job left a word */
	HEAPREAD_VERSION = 71, /* only profiles of another version; the fault says which */
	HEAPREAD_DAMAGED = 72, /* none could be read; the fault has the first reason */
};

struct heapread; /* names found so far; one for a set */
struct heapread *heapread_new(const struct world *w, struct heapset *into, const struct heapread_want *want);
struct heapread *heapread_free(struct heapread *h);
static inline void heapread_freep(struct heapread **h)
{
	*h = heapread_free(*h);
}
/* HEAPREAD_VERSION, HEAPREAD_DAMAGED, -errno; the fault has the sentence. */
int must_check heapread_file(struct heapread *h, const char *path, struct fault *f);
/*
 * All profiles below a folder. Those that cannot be read are counted and the
 * first is named in the set's notes; it fails only when there is none at all.
 * only_pid: 0, or this process's alone, as we number it.
 */
int must_check heapread_folder(struct heapread *h, int dirfd, const char *dir, pid_t only_pid, struct fault *f);
/* After HEAPREAD_NONE: no process left a word, not even on why it has no profile. */
bool heapread_is_empty(const struct heapread *h);
/* Sentences on what is missing or in doubt, for people: files that were replaced, profiles that could not be read. */
size_t heapread_remarks(const struct heapread *h, char remarks[][300], size_t cap);
