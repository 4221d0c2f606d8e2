/*
 * Takes all stacks of a job, or of some processes, once: for `vigil stack`, and for the report of a kill while the
 * victim is frozen.
 */
#pragma once

#include <stdatomic.h>

#include "agent/jobs/members.h"
#include "agent/inspect/viewcache.h"
#include "base/fault.h"
#include "model/stacks/stackdump.h"

struct snapshot_want {
	const struct members_want *members; /* the processes to read; NULL: only `pids` */
	const pid_t *pids; /* read exactly these, in this order */
	size_t n_pids;
	bool native; /* native frames, merged with Python's; false: only where there is no Python */
	bool lines; /* find source lines of native frames in their debug information */
	bool locals;
	bool unmasked; /* show secrets in locals as well (base/mask) */
	bool state; /* of a thread that runs, whether the innermost Python frame's variables change: dump_frame.state */
	bool kernel; /* of threads that wait also the frames in the kernel, where they may be read */
	bool tasks; /* of event loops in Python; goroutines of Go */
	bool frozen; /* the processes are in a frozen group: nothing changes, and no thread can be stopped */
	struct viewcache *views; /* takes views that were opened in advance from here; NULL: none */
	/* interrupts threads that run, to read native frames; NULL: threads are stopped instead */
	struct instant *instant;
	struct natives *natives; /* symbols, kept by a caller that takes several snapshots; NULL: read anew */
	_Atomic uint32_t *progress; /* counted up with each process and thread; NULL: nobody looks */
	uint64_t budget_ns; /* most time; what was read until then is kept; 0: no limit */
	bool patient; /* within a budget as well, threads that get no processor are waited for */
	const volatile bool *stop; /* set by a signal handler to end early; may be NULL */
};

enum { SNAPSHOT_NONE = 4 }; /* no process of it runs */

/*
 * Processes that end meanwhile are left out; those that may not be read get a note. WORLD_DENIED: none may be read.
 * SNAPSHOT_NONE, -errno. The fault says why.
 */
int must_check snapshot_take(const struct world *w, const struct snapshot_want *want, struct stackdump *ret,
			     struct fault *f);
