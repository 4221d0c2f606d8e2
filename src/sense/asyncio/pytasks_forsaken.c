/*
 * What only its waiters have: a future, or a queue, event or semaphore of asyncio's, to which nothing refers but the
 * frames of tasks that wait for it, themselves or through others, or in another of its methods. Nobody is left who
 * could end such a wait.
 */
#include <stdlib.h>
#include <string.h>

#include "sense/asyncio/pytasks_parts.h"
#include "sense/python/pylocks.h"

enum { OBJECT_AT = 16 }; /* the first member of a future's iterator, and of a cell */

struct forsaken {
	struct pytasks_reader *x;
	struct pyslots_reader *slots;
	size_t task; /* that is looked at */
	bool *waits; /* of each task: for that one, or it is that one */
};

bool pytasks_has(const struct pytasks *out, uint64_t object)
{
	for (size_t i = 0; i < out->n; i++)
		if (out->task[i].addr == object)
			return true;
	return false;
}

/* What a cell of a frame has, or what await has made of a future; neither is anybody else's. */
static bool is_held_for_frame(struct pyobjs *o, uint64_t object, uint64_t wanted)
{
	uint64_t refs = 0, of = 0;
	return (pyobj_is(o, object, PYOBJ_AWAITER) || pyobj_is(o, object, PYOBJ_CELL)) &&
	       pyobj_u64(o, object + OBJECT_AT, &of) == 0 && of == wanted && pyobj_refs(o, object, &refs) == 0 &&
	       refs == 1;
}

/* How often the slots of a frame, its cells, and what await makes of a future, refer to this object. */
static uint64_t refs_of_slots(struct pytasks_reader *x, const struct pyslots *s, uint64_t wanted)
{
	uint64_t n = 0;
	for (size_t i = 0; i < s->n_live; i++) {
		bool counted;
		uint64_t object = pyslots_object(&x->objs, s->slot[i], &counted);
		if (!counted || object < 4096)
			continue;
		n += object == wanted || is_held_for_frame(&x->objs, object, wanted);
	}
	return n;
}

static int refs_of_task(struct forsaken *f, const struct pytask *t, uint64_t object, uint64_t *n)
{
	struct pyslots s;
	uint64_t base = 0, live = 0;
	for (size_t i = 0; i < t->n; i++) {
		int e = pyslots_read(f->slots, &t->frame[i], false, &s);
		if (e == 0)
			e = pytasks_stack_of(f->x, t->frame[i].addr, &base, &live);
		if (e && e != REMOTE_FAULT)
			return e;
		live += f->x->rt->minor < 11 ? s.n_vars : 0;
		s.n_live = MIN((size_t)live, s.n); /* all of them are known, as it does not run */
		*n += e == 0 ? refs_of_slots(f->x, &s, object) : 0;
	}
	return 0;
}

static bool is_method_of_container(const struct pyframe *f)
{
	return pytask_is_library(f) &&
	       (pylocks_is_function(f, "get", "queues.py") || pylocks_is_function(f, "put", "queues.py") ||
		pylocks_is_function(f, "join", "queues.py") || pylocks_is_function(f, "wait", "locks.py") ||
		pylocks_is_function(f, "acquire", "locks.py"));
}

/*
 * The queue, event or semaphore of whose method the task waits; 0: none. Of a queue that waits for an event of its own
 * the queue.
 */
static uint64_t container_of_wait(struct pytasks_reader *x, const struct pytask *t)
{
	if (t->n == 0 || t->place == 0 || !is_method_of_container(&t->frame[0]))
		return 0;
	const struct pyframe *outer = &t->frame[MIN(t->place, t->n) - 1];
	return pytasks_local(&x->objs, is_method_of_container(outer) ? outer : &t->frame[0], "self");
}

/*
 * Marks the task, those that wait at the same container (who waits in Queue.get() calls no Queue.task_done()), those
 * that wait for them, and so on.
 */
static void waiters_mark(struct forsaken *f, uint64_t container)
{
	const struct pytasks *out = f->x->out;
	bool changed = true;
	memset(f->waits, 0, out->n * sizeof(*f->waits));
	f->waits[f->task] = true;
	for (size_t i = 0; container && i < out->n; i++)
		if (out->task[i].on[0] && container_of_wait(f->x, &out->task[i]) == container)
			f->waits[i] = true;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < out->n_links; i++) {
			const struct pytasks_link *l = &out->link[i];
			changed |= f->waits[l->awaited] && !f->waits[l->waiter];
			f->waits[l->waiter] |= f->waits[l->awaited];
		}
	}
}

/* *ret: nothing refers to it but `own` others, and the frames of the marked tasks. */
static int all_is_counted(struct forsaken *f, uint64_t object, uint64_t own, bool *ret)
{
	uint64_t refs = 0;
	bool weak = true;
	*ret = false;
	for (size_t i = 0; i < f->x->out->n; i++) {
		const struct pytask *t = &f->x->out->task[i];
		if (!f->waits[i])
			continue;
		if (t->moved || t->cut || t->ready || (t->timed && f->task != i) || !pytasks_has_time(f->x))
			return 0; /* it may come back with the object */
		int e = refs_of_task(f, t, object, &own);
		if (e)
			return e;
	}
	int e = pyobj_refs(&f->x->objs, object, &refs);
	if (e == 0)
		e = pyobj_weak(&f->x->objs, object, &weak);
	*ret = e == 0 && !weak && refs == own;
	return e == REMOTE_FAULT ? 0 : e;
}

static int forsaken_look(struct forsaken *f)
{
	struct pytask *t = &f->x->out->task[f->task];
	uint64_t container = t->on[0] ? container_of_wait(f->x, t) : 0;
	if (t->on[0] && !container)
		return 0;
	waiters_mark(f, container);
	return container ? all_is_counted(f, container, 0, &t->forsaken)
			 : all_is_counted(f, t->future, 1, &t->forsaken); /* the task's own */
}

/* What a task awaits for which another one is known to do it is not forsaken; asking would cost the most. */
static void awaiting_mark(const struct pytasks *out, bool *ret)
{
	for (size_t i = 0; i < out->n_links; i++)
		ret[out->link[i].waiter] = true;
}

int pytasks_forsaken_find(struct pytasks_reader *x)
{
	cleanup(pyslots_freep) struct pyslots_reader *slots = NULL;
	cleanup(freep) bool *waits = NULL, *awaits = calloc(x->out->n + 1, sizeof(*awaits));
	int e = awaits ? 0 : -ENOMEM;
	if (awaits)
		awaiting_mark(x->out, awaits);
	for (size_t i = 0; i < x->out->n && e == 0 && pytasks_has_time(x); i++) {
		struct pytask *t = &x->out->task[i];
		bool local = t->future && !t->moved && !t->cut && t->n > 0 && t->fd < 0 && !t->work;
		if (!local || awaits[i])
			continue;
		if (!slots)
			slots = pyslots_new(&x->objs);
		if (!waits)
			waits = calloc(x->out->n, sizeof(*waits));
		if (!slots || !waits)
			return -ENOMEM;
		e = forsaken_look(&(struct forsaken){x, slots, i, waits});
	}
	return e;
}
