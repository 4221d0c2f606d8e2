/*
 * Records where the resident memory of processes grows, by their page faults (sense/native/perffault), for `vigil heap
 * PID --what growth`. Nothing is loaded into the processes and they are never stopped. Memory that is given back
 * meanwhile is not subtracted.
 *
 * The native stack is that of the fault itself; Python's frames are read some microseconds later. Where the thread has
 * moved on by then, a note stands in their place, and meta->shortened counts such samples.
 */
#pragma once

#include "base/fault.h"
#include "model/stacks/stackset.h"
#include "sense/world.h"

struct growth_who {
	pid_t pid;
	int32_t rank; /* NO_RANK: none */
	char role[16];
};

struct growth_want {
	const struct growth_who *who;
	size_t n_who;
	uint64_t duration_ns;
	const volatile bool *stop; /* set by a signal handler to end early; what was recorded is kept; may be NULL */
};

/*
 * *ret is a recording of bytes with a lane for each process; free it with stackset_free. Ends early when all processes
 * have ended. WORLD_GONE, WORLD_DENIED, WORLD_ABSENT, -errno; the fault names a missing right.
 */
int must_check growth_record(const struct world *w, const struct growth_want *want, struct stackset **ret,
			     struct fault *f);
