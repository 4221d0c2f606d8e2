/*
 * Records where a job spends its time: looks at every thread of all its
 * processes so many times a second and counts the stacks.
 *
 * Python stacks are read without stopping anybody. With `native` each thread
 * that ran since the last look is stopped for some microseconds. A thread that
 * did not run since (its scheduling counters say so) keeps the stack it had,
 * which is exact and costs one read. New processes and threads are found as
 * they come; those that end, end.
 */
#pragma once

#include "agent/jobs/members.h"
#include "base/fault.h"
#include "model/stacks/stackset.h"

struct profile_progress {
	uint64_t elapsed_ns, duration_ns;
	uint64_t samples;
	size_t processes, threads;
};

struct profile_want {
	const struct members_want *members;
	uint64_t duration_ns;
	double rate_hz;
	bool native;
	bool children; /* all processes of it; false: the root only, of a job the root of each rank */
	bool threads_apart; /* a lane a thread, not only a process */
	const volatile bool *stop; /* a person wants no more: what is there is kept */
	void (*progress)(void *ctx, const struct profile_progress *p); /* ten times a second; may be NULL */
	void *ctx;
};

enum { PROFILE_NONE = 4 }; /* nothing of it is alive */

/*
 * ret is the recording with its meta filled but for the title. WORLD_DENIED
 * when no process may be read. Ends early when all processes have ended.
 */
int must_check profile_record(const struct world *w, const struct profile_want *want, struct stackset **ret,
			      struct fault *f);
