#include "sense/pylib/raycall.h"

#include <string.h>

#include "base/hash.h"
#include "sense/python/pyslots.h"

/* get_objects() calls into C at once; frames further in are hooks of tracing. */
#define FRAMES_LOOKED 4
#define RESULTS_MOST 10000000u
#define HEAD_BYTES 16u /* count of references and type */
#define REFERENCE_BYTES 128u
#define ID_AT 32u /* behind the head, a word of Cython's and a hash */
/* Of a reference: 8 bytes of a task, 16 of the actor that runs it, 4 of which result it is. */
#define REFERENCE_ID_BYTES 28u
#define TASK_BYTES 8u
#define OWN_BYTES 12u /* of an actor, in front of its job's */
#define RESULTS_OF_A_TASK 100000000u /* from here on: ray.put() within it, whose result is there */
#define RESULTS_LOOKED 64u

static bool is_get(const struct pyframe *f)
{
	return pyframe_is(f, "get_objects", "/ray/_private/worker.py");
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

/* Where a task is no actor's, its actor is all ones. */
static bool is_an_actor(const struct raycall_actor *a)
{
	unsigned char all = 0xff;
	for (size_t i = 0; i < OWN_BYTES; i++)
		all &= a->id[i];
	return all != 0xff;
}

/* True if a call of an actor makes what is referred to. */
static bool target_read(struct pyobjs *o, uint64_t object, struct raycall_actor *ret)
{
	unsigned char id[REFERENCE_ID_BYTES];
	const struct pyobj_type *t;
	if (pyobj_type(o, object, &t) != 0 || strcmp(t->name, "ObjectRef") != 0 || t->size < ID_AT + sizeof(id) ||
	    pyobj_get(o, object + ID_AT, id, sizeof(id)) != 0)
		return false;
	memcpy(ret->id, id + TASK_BYTES, sizeof(ret->id));
	const unsigned char *which = id + TASK_BYTES + sizeof(ret->id);
	const uint32_t result = which[0] | (uint32_t)which[1] << 8 | (uint32_t)which[2] << 16 |
				(uint32_t)which[3] << 24;
	return is_an_actor(ret) && result <= RESULTS_OF_A_TASK;
}

bool raycall_actor_add(struct raycall_actor list[static RAYCALL_TARGETS], size_t *n, const struct raycall_actor *a)
{
	for (size_t i = 0; i < *n; i++)
		if (raycall_same_actor(&list[i], a))
			return true;
	if (*n == RAYCALL_TARGETS)
		return false;
	list[(*n)++] = *a;
	return true;
}

static void targets_read(struct pyobjs *o, uint64_t list, struct raycall_get *g)
{
	uint64_t items = 0, object[RESULTS_LOOKED];
	struct raycall_actor a;
	bool all = g->n <= RESULTS_LOOKED && pyobj_u64(o, list + o->rt->off.list.item, &items) == 0 &&
		   pyobj_get(o, items, object, (size_t)g->n * sizeof(*object)) == 0;
	for (size_t i = 0; all && i < g->n; i++)
		all = target_read(o, object[i], &a) && raycall_actor_add(g->target, &g->n_targets, &a);
	g->only_calls = all;
}

static bool is_endless(struct pyobjs *o, const struct pyframe *f)
{
	const struct pyobj_type *t;
	uint64_t limit = 0;
	return pyslots_named(o, f, "timeout", &limit) == 0 && limit && pyobj_type(o, limit, &t) == 0 &&
	       strcmp(t->name, "NoneType") == 0;
}

static int refs_read(struct pyobjs *o, const struct pyframe *f, struct raycall_get *ret)
{
	uint64_t list = 0, n = 0;
	int e = pyslots_named(o, f, "object_refs", &list);
	if (e == 0)
		e = list && pyobj_is(o, list, PYOBJ_LIST) ? pyobj_u64(o, list + o->rt->off.list.size, &n)
							  : REMOTE_FAULT;
	if (e || n == 0 || n > RESULTS_MOST)
		return e ? e : REMOTE_FAULT;
	*ret = (struct raycall_get){.n = n, .endless = is_endless(o, f)};
	e = first_read(o, list, &ret->first);
	if (e == 0)
		targets_read(o, list, ret);
	return e == REMOTE_FAULT ? 0 : e;
}

int raycall_get_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frame, size_t n,
		     struct raycall_get *ret)
{
	struct pyobjs o;
	for (size_t i = 0; i < MIN(n, (size_t)FRAMES_LOOKED); i++)
		if (is_get(&frame[i]))
			return pyobjs_init(rt, r, &o) ? refs_read(&o, &frame[i], ret) : REMOTE_FAULT;
	return REMOTE_FAULT;
}

/* The one key of worker.actors; a worker is one actor at most. */
static int own_actor_read(struct pyobjs *o, const struct pyframe *loop, struct raycall_actor *ret)
{
	struct pyobj_child item[PYOBJ_CHILDREN];
	const struct pyobj_type *t;
	uint64_t worker = 0, actors = 0;
	size_t n = 0;
	int e = pyslots_named(o, loop, "self", &worker);
	if (e == 0)
		e = worker ? pyobj_attr(o, worker, "actors", &actors) : REMOTE_FAULT;
	if (e == 0)
		e = pyobj_items(o, actors, item, &n);
	if (e || n != 1)
		return e ? e : REMOTE_FAULT;
	e = pyobj_type(o, item[0].name, &t);
	if (e || strcmp(t->name, "ActorID") != 0 || t->size < ID_AT + sizeof(ret->id))
		return e ? e : REMOTE_FAULT;
	return pyobj_get(o, item[0].name + ID_AT, ret->id, sizeof(ret->id));
}

int raycall_actor_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frame, size_t n,
		       struct raycall_actor *ret)
{
	struct pyobjs o;
	for (size_t i = 0; i < n; i++)
		if (pyframe_is(&frame[i], "main_loop", "/ray/_private/worker.py"))
			return pyobjs_init(rt, r, &o) ? own_actor_read(&o, &frame[i], ret) : REMOTE_FAULT;
	return REMOTE_FAULT;
}

enum raycall_work raycall_work_of(const struct pyframe *frame, size_t n)
{
	if (n == 0 || pyframe_is(&frame[0], "main_loop", "/ray/_private/worker.py"))
		return RAYCALL_NONE;
	for (size_t i = 0; i < MIN(n, (size_t)FRAMES_LOOKED); i++)
		if (is_get(&frame[i]))
			return RAYCALL_NONE;
	bool loop = false, actor = false;
	for (size_t i = 0; i < n; i++) {
		loop |= pyframe_is(&frame[i], "main_loop", "/ray/_private/worker.py");
		actor |= pyframe_is(&frame[i], "actor_method_executor", "/ray/_private/function_manager.py");
	}
	return !loop ? RAYCALL_NONE : actor ? RAYCALL_ACTOR : RAYCALL_TASK;
}
