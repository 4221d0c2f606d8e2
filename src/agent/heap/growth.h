/*
 * Where the resident memory of processes grows, by their page faults
 * (sense/native/perffault): `vigil heap PID --what growth`. Nothing is loaded into them
 * and they are never stopped. What was given back meanwhile is not subtracted.
 *
 * The native stack is that of the fault itself; Python's frames are read some
 * microseconds later. Where the thread has gone on by then they are left out: a note stands for them, and meta->shortened
 * counts such samples.
 */
#pragma once

#include "base/fault.h"
#include "model/stacks/stackset.h"
#include "sense/world.h"

struct growth_who {
	pid_t pid;
	int32_t rank; /* NO_RANK */
	char role[16];
};

struct growth_want {
	const struct growth_who *who;
	size_t n_who;
	uint64_t duration_ns;
	const volatile bool *stop; /* a person wants no more: what is there is kept */
};

/*
 * A recording of bytes, a lane for each process. WORLD_GONE, WORLD_DENIED, WORLD_ABSENT; the fault says
 * which right is missing. Ends early when all processes do.
 */
int must_check growth_record(const struct world *w, const struct growth_want *want, struct stackset **ret,
			     struct fault *f);
