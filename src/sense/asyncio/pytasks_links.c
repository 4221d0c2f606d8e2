/* Whom a task awaits, and what for: by the callbacks of futures, and by the objects of asyncio's own frames. */
#include <string.h>

#include "base/clock.h"
#include "base/vec.h"
#include "sense/python/pylocks.h"
#include "sense/asyncio/pytasks_parts.h"

/* FutureObj_HEAD: the first callback, and a list of pairs of the others. Behind the head, the same in all versions. */
enum {
	CALLBACK_AT = 24,
	CALLBACKS_AT = 40,
	CALLBACKS_MOST = 16,
	PARTIAL_ARGS_AT = 24, /* Modules/_functoolsmodule.c */
	METHOD_SELF_AT = 24,
	CLOSURE_AT_8 = 48, /* Include/cpython/funcobject.h */
	CLOSURE_AT_10 = 72,
	SOCKET_FD_AT = 16, /* Modules/socketmodule.h: an int */
	LOCALS_MOST = 16,
	FD_MOST = 1 << 24,
};

/* Processor time for whom the tasks of a process wait: a thousand honest ones take a tenth of it. */
static const uint64_t links_most_ns = NS_PER_S / 2;

/* ---- variables and descriptors ---- */

uint64_t pytasks_local(struct pyobjs *o, const struct pyframe *f, const char *name)
{
	const struct pyoffsets *off = &o->rt->off;
	uint64_t names = off->code.localsplusnames != PYOFF_NONE ? off->code.localsplusnames : off->code.varnames;
	uint64_t tuple = 0, n = 0, name_of[LOCALS_MOST], slot = 0;
	bool counted;
	if (pyobj_u64(o, f->code + names, &tuple) != 0 || pyobj_u64(o, tuple + off->tuple.size, &n) != 0)
		return 0;
	n = MIN(n, (uint64_t)LOCALS_MOST);
	if (pyobj_get(o, tuple + off->tuple.item, name_of, (size_t)n * sizeof(*name_of)) != 0)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		if (pyobj_str_is(o, name_of[i], name))
			return pyobj_u64(o, f->addr + off->frame.localsplus + 8 * i, &slot) == 0
				       ? pyslots_object(o, slot, &counted)
				       : 0;
	return 0;
}

static int fd_of_int(struct pyobjs *o, uint64_t object, const char *name)
{
	uint64_t at = 0, fd = 0;
	return pyobj_attr(o, object, name, &at) == 0 && pyobj_int(o, at, &fd) == 0 && fd < FD_MOST ? (int)fd : -1;
}

static int fd_of_socket(struct pyobjs *o, uint64_t socket)
{
	const struct pyobj_type *t;
	int32_t fd = -1;
	if (pyobj_type(o, socket, &t) != 0 || strcmp(t->name, "socket") != 0 || t->size < SOCKET_FD_AT + sizeof(fd) ||
	    pyobj_get(o, socket + SOCKET_FD_AT, &fd, sizeof(fd)) != 0)
		return -1;
	return fd >= 0 && fd < FD_MOST ? fd : -1;
}

/* The descriptor behind a stream: of its transport, or of the one below an encrypted one. */
static int fd_of_stream(struct pyobjs *o, uint64_t self)
{
	static const char *const down[] = {"_transport", "_ssl_protocol", "_transport"};
	uint64_t at = self;
	for (size_t i = 0; i < ARRAY_SIZE(down); i++) {
		if (pyobj_attr(o, at, down[i], &at) != 0)
			return -1;
		int fd = i == 1 ? -1 : fd_of_int(o, at, "_sock_fd");
		if (fd < 0 && i != 1)
			fd = fd_of_int(o, at, "_fileno");
		if (fd >= 0)
			return fd;
	}
	return -1;
}

void pytask_fd_find(struct pytasks_reader *x, struct pytask *t)
{
	for (size_t i = 0; i < t->n && t->fd < 0 && pytask_is_library(&t->frame[i]); i++) {
		const struct pyframe *f = &t->frame[i];
		uint64_t self = pytasks_local(&x->objs, f, "self"), socket = pytasks_local(&x->objs, f, "sock");
		t->fd = socket ? fd_of_socket(&x->objs, socket) : self ? fd_of_stream(&x->objs, self) : -1;
	}
	t->to_write = t->fd >= 0 && (strstr(t->on, "drain") || strstr(t->on, "sendall") || strstr(t->on, "connect"));
}

/* ---- callbacks ---- */

static uint64_t callbacks_of(struct pytasks_reader *x, uint64_t future, uint64_t ret[static CALLBACKS_MOST])
{
	struct pyobj_child pairs[PYOBJ_CHILDREN];
	uint64_t first = 0, list = 0, n = 0;
	size_t n_pairs = 0;
	const struct pyoffsets *o = &x->rt->off;
	if (pyobj_u64(&x->objs, future + CALLBACK_AT, &first) == 0 && first)
		ret[n++] = first;
	if (pyobj_u64(&x->objs, future + CALLBACKS_AT, &list) != 0 || !list || !pyobj_is(&x->objs, list, PYOBJ_LIST) ||
	    pyobj_children(&x->objs, list, pairs, &n_pairs) != 0)
		return n;
	for (size_t i = 0; i < n_pairs && n < CALLBACKS_MOST; i++)
		if (pyobj_is(&x->objs, pairs[i].object, PYOBJ_TUPLE) &&
		    pyobj_u64(&x->objs, pairs[i].object + o->tuple.item, &ret[n]) == 0)
			n++;
	return n;
}

static void contents_of_cells(struct pytasks_reader *x, uint64_t function, struct pyobj_child *ret, size_t *ret_n)
{
	struct pyobj_child cells[PYOBJ_CHILDREN];
	uint64_t closure = 0, object = 0;
	size_t n = 0;
	if (pyobj_u64(&x->objs, function + (x->rt->minor < 10 ? CLOSURE_AT_8 : CLOSURE_AT_10), &closure) != 0 ||
	    !closure || !pyobj_is(&x->objs, closure, PYOBJ_TUPLE) || pyobj_children(&x->objs, closure, cells, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (pyobj_is(&x->objs, cells[i].object, PYOBJ_CELL) &&
		    pyobj_u64(&x->objs, cells[i].object + 16, &object) == 0 && object)
			ret[(*ret_n)++] = (struct pyobj_child){.object = object};
}

/* The objects that a callback works on: of a closure, a bound method of a group, or a partial function. */
static void contents_of(struct pytasks_reader *x, uint64_t callback, struct pyobj_child ret[static PYOBJ_CHILDREN],
			size_t *ret_n)
{
	uint64_t at = 0;
	*ret_n = 0;
	if (pyobj_is(&x->objs, callback, PYOBJ_FUNCTION)) {
		contents_of_cells(x, callback, ret, ret_n);
	} else if (pyobj_is(&x->objs, callback, PYOBJ_METHOD)) {
		if (pyobj_u64(&x->objs, callback + METHOD_SELF_AT, &at) == 0 &&
		    pyobj_attr(&x->objs, at, "_on_completed_fut", &at) == 0)
			ret[(*ret_n)++] = (struct pyobj_child){.object = at};
	} else if (pyobj_is(&x->objs, callback, PYOBJ_PARTIAL)) {
		if (pyobj_u64(&x->objs, callback + PARTIAL_ARGS_AT, &at) == 0 && pyobj_is(&x->objs, at, PYOBJ_TUPLE) &&
		    pyobj_children(&x->objs, at, ret, ret_n) != 0)
			*ret_n = 0;
	}
}

/* ---- who awaits whom ---- */

static int link_add(struct pytasks *out, size_t waiter, size_t awaited, bool lock)
{
	for (size_t i = out->n_links; i-- > 0;)
		if (out->link[i].waiter == waiter && out->link[i].awaited == awaited)
			return 0;
	if (out->n_links >= PYTASKS_LINKS || waiter == awaited)
		return 0;
	if (vec_room(&out->link, &out->cap_links, out->n_links + 1) < 0)
		return -ENOMEM;
	out->link[out->n_links++] = (struct pytasks_link){(uint32_t)waiter, (uint32_t)awaited, lock};
	return 0;
}

/* Those that await this object have to wait for a task. */
static int waiters_link(struct pytasks *out, uint64_t object, size_t awaited)
{
	int e = 0;
	for (size_t i = 0; object && i < out->n && e == 0; i++)
		if (out->task[i].future == object)
			e = link_add(out, i, awaited, false);
	return e;
}

/* The future of another library that the future of a loop is chained to: it has a condition of its own. */
static uint64_t work_of(struct pytasks_reader *x, uint64_t future)
{
	uint64_t callback[CALLBACKS_MOST], n = callbacks_of(x, future, callback), condition;
	struct pyobj_child found[PYOBJ_CHILDREN];
	const struct pyobj_type *t;
	for (uint64_t i = 0; i < n; i++) {
		size_t n_found = 0;
		contents_of(x, callback[i], found, &n_found);
		for (size_t k = 0; k < n_found; k++)
			if (pyobj_type(&x->objs, found[k].object, &t) == 0 && strcmp(t->name, "Future") == 0 &&
			    pyobj_attr(&x->objs, found[k].object, "_condition", &condition) == 0)
				return found[k].object;
	}
	return 0;
}

/* ---- locks ---- */

/* The lock that a task is about to take; 0: none. */
static uint64_t lock_wanted(struct pytasks_reader *x, const struct pytask *t)
{
	for (size_t i = 0; i < t->place; i++)
		if (pylocks_is_function(&t->frame[i], "acquire", "locks.py"))
			return pytasks_local(&x->objs, &t->frame[i], "self");
	return 0;
}

/* The object of a bound __aexit__; of a condition, its lock. 0: it is none. */
static uint64_t exit_object(struct pytasks_reader *x, const struct pyslots_with *w)
{
	uint64_t self = w->self, function = w->exit, lock = 0;
	if (!self && (!pyobj_is(&x->objs, w->exit, PYOBJ_METHOD) || pyobj_u64(&x->objs, w->exit + 16, &function) != 0 ||
		      pyobj_u64(&x->objs, w->exit + METHOD_SELF_AT, &self) != 0))
		return 0;
	if (!pyobj_is(&x->objs, function, PYOBJ_FUNCTION) ||
	    !pyobj_function_is(&x->objs, function, "__aexit__", "locks.py"))
		return 0;
	return pyobj_attr(&x->objs, self, "_lock", &lock) == 0 ? lock : self;
}

/* True if the task is within `async with` of this lock, and has not given it back to wait for a condition. */
static int holds(struct pytasks_reader *x, struct pyslots_reader *slots, const struct pytask *t, uint64_t lock,
		 bool *ret)
{
	struct pyslots s;
	*ret = false;
	for (size_t i = 0; i < t->n; i++) {
		if (pylocks_is_function(&t->frame[i], "wait", "locks.py") && pytask_is_library(&t->frame[i])) {
			uint64_t given = 0, self = pytasks_local(&x->objs, &t->frame[i], "self");
			if (pyobj_attr(&x->objs, self, "_lock", &given) == 0 && given == lock)
				return 0;
		}
		if (pytask_is_library(&t->frame[i]))
			continue;
		int e = pyslots_read(slots, &t->frame[i], false, &s);
		if (e && e != REMOTE_FAULT)
			return e;
		for (size_t k = 0; e == 0 && k < s.n_with; k++)
			*ret |= exit_object(x, &s.with[k]) == lock;
	}
	return 0;
}

static int locks_link(struct pytasks_reader *x)
{
	struct pytasks *out = x->out;
	cleanup(pyslots_freep) struct pyslots_reader *slots = NULL;
	int e = 0;
	for (size_t i = 0; i < out->n && e == 0; i++) {
		uint64_t lock = lock_wanted(x, &out->task[i]);
		if (!lock)
			continue;
		if (!slots)
			slots = pyslots_new(&x->objs);
		if (!slots)
			return -ENOMEM;
		for (size_t k = 0; k < out->n && e == 0 && pytasks_has_time(x); k++) {
			bool does = false;
			e = k == i ? 0 : holds(x, slots, &out->task[k], lock, &does);
			if (e == 0 && does)
				e = link_add(out, i, k, true);
		}
	}
	return e;
}

bool pytasks_has_time(const struct pytasks_reader *x)
{
	return clock_thread_ns() < x->links_end_ns;
}

int pytasks_links_find(struct pytasks_reader *x)
{
	struct pytasks *out = x->out;
	struct pyobj_child found[PYOBJ_CHILDREN];
	uint64_t callback[CALLBACKS_MOST];
	int e = 0;
	x->links_end_ns = clock_thread_ns() + links_most_ns;
	for (size_t i = 0; i < out->n && e == 0 && pytasks_has_time(x); i++) {
		uint64_t n = callbacks_of(x, out->task[i].addr, callback);
		e = waiters_link(out, out->task[i].addr, i);
		for (uint64_t c = 0; c < n && e == 0; c++) {
			size_t n_found = 0;
			contents_of(x, callback[c], found, &n_found);
			for (size_t k = 0; k < n_found && e == 0; k++)
				e = waiters_link(out, found[k].object, i);
		}
		if (e == 0 && out->task[i].future && !pytasks_has(out, out->task[i].future))
			out->task[i].work = work_of(x, out->task[i].future);
	}
	if (e == 0)
		e = locks_link(x);
	return e ? e : pytasks_forsaken_find(x);
}

/*
 * A loop that is no Python (uvloop): what Python has called last is asyncio's runner. A task that ran would stand above
 * it. From 3.11 on the runner has the main task, before it the loop.
 */
static void foreign_loop_of(struct pyobjs *o, const struct pyrt *rt, const struct pyframe *innermost,
			    struct pytasks_loop *ret)
{
	if (!pytask_is_library(innermost) || !pylocks_is_function(innermost, "run", "runners.py"))
		return;
	if (rt->minor >= 11)
		ret->until = pytasks_local(o, innermost, "task");
	else
		ret->loop = pytasks_local(o, innermost, "loop");
	ret->idle = ret->until || ret->loop;
}

int pytasks_loop_of(const struct pyrt *rt, struct remote *r, const struct pyframe *frames, size_t n,
		    struct pytasks_loop *ret)
{
	struct pyobjs o;
	*ret = (struct pytasks_loop){.loop = 0};
	if (!pyobjs_init(rt, r, &o))
		return 0;
	ret->idle = n > 0 && pylocks_is_function(&frames[0], "select", "selectors.py");
	for (size_t i = 0; i < n; i++) {
		if (!pytask_is_library(&frames[i]))
			continue;
		if (!ret->loop && pylocks_is_function(&frames[i], "run_forever", "base_events.py"))
			ret->loop = pytasks_local(&o, &frames[i], "self");
		if (!ret->until && pylocks_is_function(&frames[i], "run_until_complete", "base_events.py"))
			ret->until = pytasks_local(&o, &frames[i], "future");
	}
	if (!ret->loop && n > 0)
		foreign_loop_of(&o, rt, &frames[0], ret);
	return 0;
}
