/*
 * Records where a job spends its time: samples every thread of all its processes at a fixed rate and counts the stacks.
 *
 * Python stacks are read without stopping a thread. With `native` each thread that ran since its last sample is stopped
 * for some microseconds. A thread that did not run since (its scheduling counters say so) keeps the stack it had, which
 * is exact and costs one read. Processes and threads that start are added, those that end are removed.
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
	bool children; /* all processes; false: the root only, or of a job the main process of each rank */
	bool threads_apart; /* one lane for each thread, not for each process */
	const volatile bool *stop; /* set by a signal handler to end early; what was recorded is kept; may be NULL */
	void (*progress)(void *ctx, const struct profile_progress *p); /* called ten times a second; may be NULL */
	void *ctx;
};

enum { PROFILE_NONE = 4 }; /* no process of it runs */

/*
 * *ret is the recording, with its meta filled except for the title; free it with stackset_free. WORLD_DENIED: no
 * process may be read; where only descendants may, meta has it. PROFILE_NONE, -errno. Ends early when all have
 * ended.
 */
int must_check profile_record(const struct world *w, const struct profile_want *want, struct stackset **ret,
			      struct fault *f);
