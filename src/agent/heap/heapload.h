/*
 * Loads what a person names as a set of sites that hold memory: a job's profiles with the rank and role of each
 * process, those of one process, a file (a heap profile or a PyTorch memory snapshot), or a folder of profiles.
 */
#pragma once

#include "agent/heap/heapread.h"
#include "model/jobs/job.h"

struct heapload_want {
	const char *state; /* the state directory */
	uint64_t resident_ns; /* as in heapread_want */
	bool has_attempt;
	uint32_t attempt; /* if has_attempt; else the newest */
	bool warn; /* read the copies that were made when memory got short */
};

struct heapload_loaded {
	struct heapset *set; /* owned by the caller */
	char remarks[8][300];
	size_t n_remarks;
};

/*
 * HEAPREAD_NONE: there is no profile, and the fault has the remedy; HEAPREAD_VERSION, HEAPREAD_DAMAGED, WORLD_DENIED,
 * -errno. On failure *ret is unchanged.
 */
int must_check heapload_job(const struct world *w, const struct job *j, const struct heapload_want *want,
			    struct heapload_loaded *ret, struct fault *f);
int must_check heapload_pid(const struct world *w, pid_t pid, const struct heapload_want *want,
			    struct heapload_loaded *ret, struct fault *f);
/* For a process that was attached to and has ended. HEAPREAD_NONE without a fault: no profile of this pid. */
int must_check heapload_dead(const struct world *w, pid_t pid, const struct heapload_want *want,
			     struct heapload_loaded *ret, struct fault *f);
int must_check heapload_path(const struct world *w, const char *path, const struct heapload_want *want,
			     struct heapload_loaded *ret, struct fault *f);
