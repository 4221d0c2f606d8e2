/*
 * What Ray's calls look like on the stacks of its Python processes: for which results a program waits in ray.get() or
 * ray.wait(), which tasks and calls make them, which actor a worker is, and what it runs.
 * python/ray/_private/worker.py of Ray 2.60 (tried) has the list of references in `object_refs` of
 * Worker.get_objects() and in `ray_waitables` of wait(), and a worker's loop in main_loop(); the call of an actor goes
 * through actor_method_executor() of _private/function_manager.py. A reference keeps its id in its own bytes
 * (python/ray/includes/object_ref.pxi, unique_ids.pxi), behind the head of each Python object, a word of Cython's and a
 * hash; in that id is the task that makes the result (src/ray/design_docs/id_specification.md). Which actor a worker is
 * says the one key of Worker.actors. No code of the process runs. Frames are those of a thread, innermost first;
 * whoever writes such functions in such files is believed.
 */
#pragma once

#include <string.h>

#include "sense/python/pyobj.h"
#include "sense/python/pystack.h"

/* An actor's own 12 bytes and its job's 4. */
struct raycall_actor {
	unsigned char id[16];
};

/* A task, or a call of an actor: 8 bytes of its own, then the actor whose call it is. */
struct raycall_task {
	unsigned char id[24];
};

#define RAYCALL_RESULTS 64

struct raycall_get {
	bool wait; /* ray.wait() instead: it goes on with some of the results */
	uint64_t n; /* results; those that are there already are counted too */
	uint64_t wanted; /* with so many of them it goes on */
	uint64_t first; /* of the first reference: equal numbers, equal result; 0: not readable */
	bool endless; /* it waits without a time limit; false: it has one, or that is not readable */
	struct raycall_task made[RAYCALL_RESULTS]; /* what makes them, of as many as are there */
	size_t n_made;
	bool whole; /* each result is in `made`; false: there are more, unreadable ones, or what nothing makes */
};

/*
 * What makes the result of a reference that a coroutine awaits: the concurrent future that Ray made for it keeps the
 * reference in `object_ref`. REMOTE_FAULT: it is none of Ray's. WORLD_GONE, WORLD_DENIED.
 */
int must_check raycall_future_read(const struct pyrt *rt, struct remote *r, uint64_t future, struct raycall_task *ret);
/* REMOTE_FAULT: it waits in no ray.get() or ray.wait(), or that cannot be read. WORLD_GONE, WORLD_DENIED. */
int must_check raycall_get_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frame, size_t n,
				struct raycall_get *ret);

static inline bool raycall_same_actor(const struct raycall_actor *a, const struct raycall_actor *b)
{
	return memcmp(a->id, b->id, sizeof(a->id)) == 0;
}
static inline bool raycall_same_task(const struct raycall_task *a, const struct raycall_task *b)
{
	return memcmp(a->id, b->id, sizeof(a->id)) == 0;
}
/* Whose call it is. False: it is no actor's: then the actor's own bytes are all ones. Pure. */
static inline bool raycall_task_actor(const struct raycall_task *t, struct raycall_actor *ret)
{
	static const unsigned char none[12] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	memcpy(ret->id, t->id + sizeof(t->id) - sizeof(ret->id), sizeof(ret->id));
	return memcmp(ret->id, none, sizeof(none)) != 0;
}
/*
 * Which actor a worker is, by the frames of its main thread. REMOTE_FAULT: it is none, or that cannot be read.
 * WORLD_GONE, WORLD_DENIED.
 */
int must_check raycall_actor_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frame, size_t n,
				  struct raycall_actor *ret);
/*
 * What a worker runs now, of several calls at once the one that began last: the global current_task_id of ray._raylet.
 * interp: address of the main interpreter's state. REMOTE_FAULT: nothing, or that cannot be read. WORLD_GONE,
 * WORLD_DENIED, -ENOMEM.
 */
int must_check raycall_task_read(const struct pyrt *rt, struct remote *r, uint64_t interp, struct raycall_task *ret);

enum raycall_work {
	RAYCALL_NONE, /* no call, or one that waits for others, or that runs in another thread */
	RAYCALL_TASK,
	RAYCALL_ACTOR,
};

/* What the main thread of a worker does. Pure. */
enum raycall_work raycall_work_of(const struct pyframe *frame, size_t n);
