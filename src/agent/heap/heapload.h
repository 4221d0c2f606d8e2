/*
 * From what a person names to a set of who holds memory: a job's profiles
 * with the rank and role of each process, those of one process, a file (a
 * heap profile or a PyTorch memory snapshot) or a folder of profiles.
 */
#pragma once

#include "agent/heap/heapread.h"
#include "model/jobs/job.h"

struct heapload_want {
	const char *state; /* the state directory */
	uint64_t resident_ns; /* as in heapread_want */
	bool has_attempt;
	uint32_t attempt; /* else the newest */
	bool warn; /* the copies made when memory got short */
};

struct heapload_loaded {
	struct heapset *set; /* the caller's */
	char remarks[8][300];
	size_t n_remarks;
};

/*
 * HEAPREAD_NONE: it has no profile, and the fault says what to do;
 * HEAPREAD_VERSION, HEAPREAD_DAMAGED, WORLD_DENIED, -errno. On failure *ret
 * is untouched.
 */
int must_check heapload_job(const struct world *w, const struct job *j, const struct heapload_want *want,
			    struct heapload_loaded *ret, struct fault *f);
int must_check heapload_pid(const struct world *w, pid_t pid, const struct heapload_want *want,
			    struct heapload_loaded *ret, struct fault *f);
/* Of one that was attached to and has ended. HEAPREAD_NONE without a fault: there is nothing of that number. */
int must_check heapload_dead(const struct world *w, pid_t pid, const struct heapload_want *want,
			     struct heapload_loaded *ret, struct fault *f);
int must_check heapload_path(const struct world *w, const char *path, const struct heapload_want *want,
			     struct heapload_loaded *ret, struct fault *f);
