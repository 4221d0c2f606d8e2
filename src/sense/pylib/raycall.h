/*
 * What Ray's calls look like on the stacks of its Python processes: for which results a program waits in ray.get(),
 * which actors' calls make them, which actor a worker is, and whether a worker's main thread runs a call.
 * python/ray/_private/worker.py of Ray 2.60 (tried) has the list of references in `object_refs` of
 * Worker.get_objects(), and a worker's loop in main_loop(); the call of an actor goes through actor_method_executor()
 * of _private/function_manager.py. A reference keeps its id in its own bytes (python/ray/includes/object_ref.pxi,
 * unique_ids.pxi), behind the head of each Python object, a word of Cython's and a hash; in that id is the actor whose
 * call makes the result (src/ray/design_docs/id_specification.md). Which actor a worker is says the one key of
 * Worker.actors. No code of the process runs. Frames are those of a thread, innermost first; whoever writes such
 * functions in such files is believed.
 */
#pragma once

#include <string.h>

#include "sense/python/pyobj.h"
#include "sense/python/pystack.h"

/* An actor's own 12 bytes and its job's 4. */
struct raycall_actor {
	unsigned char id[16];
};

#define RAYCALL_TARGETS 8

struct raycall_get {
	uint64_t n; /* results; those that are there already are counted too */
	uint64_t first; /* of the first reference: equal numbers, equal result; 0: not readable */
	bool endless; /* it waits without a time limit; false: it has one, or that is not readable */
	struct raycall_actor target[RAYCALL_TARGETS]; /* whose calls make the results, each once */
	size_t n_targets;
	bool only_calls; /* each result is made by a call of one of these; false: or by others, or unreadable */
};

/* REMOTE_FAULT: it waits in no ray.get(), or that cannot be read. WORLD_GONE, WORLD_DENIED. */
int must_check raycall_get_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frame, size_t n,
				struct raycall_get *ret);

static inline bool raycall_same_actor(const struct raycall_actor *a, const struct raycall_actor *b)
{
	return memcmp(a->id, b->id, sizeof(a->id)) == 0;
}
/* Each once. False: there is no room for it. */
bool raycall_actor_add(struct raycall_actor list[static RAYCALL_TARGETS], size_t *n, const struct raycall_actor *a);
/*
 * Which actor a worker is, by the frames of its main thread. REMOTE_FAULT: it is none, or that cannot be read.
 * WORLD_GONE, WORLD_DENIED.
 */
int must_check raycall_actor_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frame, size_t n,
				  struct raycall_actor *ret);

enum raycall_work {
	RAYCALL_NONE, /* no call, or one that waits for others in ray.get(), or that runs in another thread */
	RAYCALL_TASK,
	RAYCALL_ACTOR,
};

/* What the main thread of a worker does. Pure. */
enum raycall_work raycall_work_of(const struct pyframe *frame, size_t n);
