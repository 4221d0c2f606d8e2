#include "sense/pylib/raycall.h"

#include <string.h>

#include "base/hash.h"
#include "sense/python/pyslots.h"

/* get_objects() calls into C at once; frames further in are hooks of tracing. */
#define FRAMES_LOOKED 4
#define RESULTS_MOST 10000000u
#define HEAD_BYTES 16u /* count of references and type */
#define REFERENCE_BYTES 128u

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
