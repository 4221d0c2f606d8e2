#include "sense/pylib/raycall.h"

#include <string.h>

#include "base/hash.h"
#include "sense/python/pynames.h"
#include "sense/python/pyslots.h"

/* get_objects() calls into C at once; frames further in are hooks of tracing. */
#define FRAMES_LOOKED 4
#define RESULTS_MOST 10000000u
#define HEAD_BYTES 16u /* count of references and type */
#define REFERENCE_BYTES 128u
#define ID_AT 32u /* behind the head, a word of Cython's and a hash */
/* Of a reference: 8 bytes of a task, 16 of the actor that runs it, 4 of which result it is. */
#define REFERENCE_ID_BYTES 28u
#define RESULTS_OF_A_TASK 100000000u /* from here on: ray.put() within it, whose result is there */

/* Whoever gives ray.wait() no time limit gets this one: 10^6 s. */
#define WAITS_FOR_EVER 1000000u

static const char worker_file[] = "/ray/_private/worker.py";

static bool is_get(const struct pyframe *f)
{
	return pyframe_is(f, "get_objects", worker_file);
}

static bool is_wait(const struct pyframe *f)
{
	return pyframe_is(f, "wait", worker_file);
}

static int first_read(struct pyobjs *o, uint64_t list, uint64_t *ret)
{
	char bytes[REFERENCE_BYTES];
	const struct pyobj_type *t;
	uint64_t items = 0, object = 0;
	int e = pyobj_u64(o, list + o->rt->off.list.item, &items);
	if (e == 0)
		e = pyobj_u64(o, items, &object);
	if (e == 0)
		e = pyobj_type(o, object, &t);
	if (e)
		return e;
	if (t->size <= HEAD_BYTES || t->size > REFERENCE_BYTES)
		return REMOTE_FAULT;
	e = pyobj_get(o, object + HEAD_BYTES, bytes, t->size - HEAD_BYTES);
	*ret = e ? 0 : hash_bytes(HASH_START, bytes, t->size - HEAD_BYTES) | 1u;
	return e;
}

/* True if a task, or a call of an actor, makes what is referred to. */
static bool maker_read(struct pyobjs *o, uint64_t object, struct raycall_task *ret)
{
	unsigned char id[REFERENCE_ID_BYTES];
	const struct pyobj_type *t;
	if (pyobj_type(o, object, &t) != 0 || strcmp(t->name, "ObjectRef") != 0 || t->size < ID_AT + sizeof(id) ||
	    pyobj_get(o, object + ID_AT, id, sizeof(id)) != 0)
		return false;
	memcpy(ret->id, id, sizeof(ret->id));
	const unsigned char *which = id + sizeof(ret->id);
	const uint32_t result =
		which[0] | (uint32_t)which[1] << 8 | (uint32_t)which[2] << 16 | (uint32_t)which[3] << 24;
	return result <= RESULTS_OF_A_TASK;
}

static void makers_read(struct pyobjs *o, uint64_t list, struct raycall_get *g)
{
	const size_t n = (size_t)MIN(g->n, (uint64_t)RAYCALL_RESULTS);
	uint64_t items = 0, object[RAYCALL_RESULTS];
	if (pyobj_u64(o, list + o->rt->off.list.item, &items) != 0 ||
	    pyobj_get(o, items, object, n * sizeof(*object)) != 0)
		return;
	for (size_t i = 0; i < n; i++)
		g->n_made += maker_read(o, object[i], &g->made[g->n_made]);
	g->whole = g->n_made == g->n;
}

/* What was not given is None, for which wait() puts a number of its own. */
static bool is_endless(struct pyobjs *o, const struct pyframe *f, bool wait)
{
	const struct pyobj_type *t;
	uint64_t limit = 0, s = 0;
	if (pyslots_named(o, f, "timeout", &limit) != 0 || !limit || pyobj_type(o, limit, &t) != 0)
		return false;
	return wait ? pyobj_int(o, limit, &s) == 0 && s == WAITS_FOR_EVER : strcmp(t->name, "NoneType") == 0;
}

static int refs_read(struct pyobjs *o, const struct pyframe *f, bool wait, struct raycall_get *ret)
{
	uint64_t list = 0, n = 0, number = 0;
	int e = pyslots_named(o, f, wait ? "ray_waitables" : "object_refs", &list);
	if (e == 0)
		e = list && pyobj_is(o, list, PYOBJ_LIST) ? pyobj_u64(o, list + o->rt->off.list.size, &n)
							  : REMOTE_FAULT;
	if (e || n == 0 || n > RESULTS_MOST)
		return e ? e : REMOTE_FAULT;
	*ret = (struct raycall_get){.wait = wait, .n = n, .wanted = n, .endless = is_endless(o, f, wait)};
	if (wait &&
	    (pyslots_named(o, f, "num_returns", &number) != 0 || !number || pyobj_int(o, number, &ret->wanted) != 0))
		ret->endless = false; /* for how many it waits is not known */
	e = first_read(o, list, &ret->first);
	if (e == 0)
		makers_read(o, list, ret);
	return e == REMOTE_FAULT ? 0 : e;
}

int raycall_get_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frame, size_t n,
		     struct raycall_get *ret)
{
	struct pyobjs o;
	for (size_t i = 0; i < MIN(n, (size_t)FRAMES_LOOKED); i++)
		if (is_get(&frame[i]) || is_wait(&frame[i]))
			return pyobjs_init(rt, r, &o) ? refs_read(&o, &frame[i], is_wait(&frame[i]), ret)
						      : REMOTE_FAULT;
	return REMOTE_FAULT;
}

int raycall_future_read(const struct pyrt *rt, struct remote *r, uint64_t future, struct raycall_task *ret)
{
	struct pyobjs o;
	uint64_t reference = 0;
	const int e = pyobjs_init(rt, r, &o) ? pyobj_attr(&o, future, "object_ref", &reference) : REMOTE_FAULT;
	if (e || !reference)
		return e ? e : REMOTE_FAULT;
	return maker_read(&o, reference, ret) ? 0 : REMOTE_FAULT;
}

/* An id that stands in an object of this type. */
static int id_read(struct pyobjs *o, uint64_t object, const char *type, unsigned char *id, size_t bytes)
{
	const struct pyobj_type *t;
	int e = pyobj_type(o, object, &t);
	if (e || strcmp(t->name, type) != 0 || t->size < ID_AT + bytes)
		return e ? e : REMOTE_FAULT;
	return pyobj_get(o, object + ID_AT, id, bytes);
}

int raycall_task_read(const struct pyrt *rt, struct remote *r, uint64_t interp, struct raycall_task *ret)
{
	struct pyobjs o;
	uint64_t task = 0;
	int e = pyobjs_init(rt, r, &o) ? pynames_global(rt, r, interp, "ray._raylet", "current_task_id", &task)
				       : REMOTE_FAULT;
	if (e || !task)
		return e ? e : REMOTE_FAULT;
	return id_read(&o, task, "TaskID", ret->id, sizeof(ret->id)); /* between two tasks it is None */
}

/* The one key of worker.actors; a worker is one actor at most. */
static int own_actor_read(struct pyobjs *o, const struct pyframe *loop, struct raycall_actor *ret)
{
	struct pyobj_child item[PYOBJ_CHILDREN];
	uint64_t worker = 0, actors = 0;
	size_t n = 0;
	int e = pyslots_named(o, loop, "self", &worker);
	if (e == 0)
		e = worker ? pyobj_attr(o, worker, "actors", &actors) : REMOTE_FAULT;
	if (e == 0)
		e = pyobj_items(o, actors, item, &n);
	if (e || n != 1)
		return e ? e : REMOTE_FAULT;
	return id_read(o, item[0].name, "ActorID", ret->id, sizeof(ret->id));
}

int raycall_actor_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frame, size_t n,
		       struct raycall_actor *ret)
{
	struct pyobjs o;
	for (size_t i = 0; i < n; i++)
		if (pyframe_is(&frame[i], "main_loop", worker_file))
			return pyobjs_init(rt, r, &o) ? own_actor_read(&o, &frame[i], ret) : REMOTE_FAULT;
	return REMOTE_FAULT;
}

enum raycall_work raycall_work_of(const struct pyframe *frame, size_t n)
{
	if (n == 0 || pyframe_is(&frame[0], "main_loop", worker_file))
		return RAYCALL_NONE;
	for (size_t i = 0; i < MIN(n, (size_t)FRAMES_LOOKED); i++)
		if (is_get(&frame[i]) || is_wait(&frame[i]))
			return RAYCALL_NONE;
	bool loop = false, actor = false;
	for (size_t i = 0; i < n; i++) {
		loop |= pyframe_is(&frame[i], "main_loop", worker_file);
		actor |= pyframe_is(&frame[i], "actor_method_executor", "/ray/_private/function_manager.py");
	}
	return !loop ? RAYCALL_NONE : actor ? RAYCALL_ACTOR : RAYCALL_TASK;
}
