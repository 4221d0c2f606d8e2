/*
 * What is kept of jobs grows with each job: records, output, profiles. Jobs
 * that ended before a moment are taken out of the store together with their
 * folders in the state directory (docs/formats/store.md). A running job and
 * what is not vigil's is never touched; links are removed, not followed.
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"
#include "tell/store/store.h"

struct forgotten {
	size_t jobs, kept; /* kept: run, or ended later */
	size_t folders; /* profiles of processes that were of no job */
	uint64_t bytes; /* that the files took */
};

/* Asked of jobs whose record says that they run: is that so? */
typedef bool forget_lives_fn(void *ctx, const struct job *j);

/*
 * before_unix_ms: jobs that ended earlier. What could not be removed keeps its
 * record, so that a second call tries again; the error is returned then.
 */
int must_check forget_jobs(struct store *s, const char *state_dir, int64_t before_unix_ms, forget_lives_fn *lives,
			   void *ctx, struct forgotten *ret, struct fault *f);
