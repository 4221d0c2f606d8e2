/*
 * What Ray's calls look like on the stacks of its Python processes: for which results a program waits in ray.get(), and
 * whether a worker's main thread runs a call. python/ray/_private/worker.py of Ray 2.60 (tried) has the list of
 * references in `object_refs` of Worker.get_objects(), and a worker's loop in main_loop(); the call of an actor goes
 * through actor_method_executor() of _private/function_manager.py. A reference keeps its id in its own bytes
 * (python/ray/includes/object_ref.pxi, unique_ids.pxi), behind the head of each Python object. No code of the process
 * runs. Frames are those of a thread, innermost first; whoever writes such functions in such files is believed.
 */
#pragma once

#include "sense/python/pyobj.h"
#include "sense/python/pystack.h"

struct raycall_get {
	uint64_t n; /* results; those that are there already are counted too */
	uint64_t first; /* of the first reference: equal numbers, equal result; 0: not readable */
	bool endless; /* it waits without a time limit; false: it has one, or that is not readable */
};

/* REMOTE_FAULT: it waits in no ray.get(), or that cannot be read. WORLD_GONE, WORLD_DENIED. */
int must_check raycall_get_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frame, size_t n,
				struct raycall_get *ret);

enum raycall_work {
	RAYCALL_NONE, /* no call, or one that waits for others in ray.get(), or that runs in another thread */
	RAYCALL_TASK,
	RAYCALL_ACTOR,
};

/* What the main thread of a worker does. Pure. */
enum raycall_work raycall_work_of(const struct pyframe *frame, size_t n);
