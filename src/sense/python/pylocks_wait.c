#include <string.h>

#include "sense/python/pylocks_parts.h"

#define HANDLE_BYTES 256 /* more than a ThreadHandle has */
#define SELVES_MAX 8 /* objects of the library around one lock */

/* Modules/_multiprocessing/semaphore.c; RLock: Modules/_threadmodule.c. */
enum {
	SEMLOCK_LAST_AT = 24,
	SEMLOCK_RECURSIVE = 0, /* kind of an RLock's; 1 is a semaphore's and a Lock's */
	RLOCK_OWNER_AT = 24,
};

struct waiting {
	struct pylocks *p;
	const struct pylocks_frames *f;
	const struct pylocks_futex *futex;
	const struct pythread *threads;
	size_t n_threads;
	bool parked;
	struct pylock_wait *w;
};

/*
 * Python/parking_lot.c: struct wait_entry {park_arg, addr, sema (32 bytes), node {next, prev}}. It is one only if its
 * neighbours in the bucket point back to it.
 */
static int parking_read(struct waiting *x)
{
	uint64_t words[8] = {0}, forth = 0, back = 0, node = x->futex->addr + 32;
	x->w->word = x->futex->addr;
	if (!x->p->objs.layout->parks)
		return 0;
	int e = pyobj_get(&x->p->objs, x->futex->addr - 16, words, sizeof(words));
	if (e || words[1] < 4096 || words[6] < 4096 || words[7] < 4096)
		return e == REMOTE_FAULT ? 0 : e;
	e = pyobj_u64(&x->p->objs, words[7], &forth);
	if (e == 0)
		e = pyobj_u64(&x->p->objs, words[6] + 8, &back);
	if (e == 0 && forth == node && back == node) {
		x->parked = true;
		x->w->word = words[1];
	}
	return e == REMOTE_FAULT ? 0 : e;
}

/* True: waiters for this object sleep on the word. */
static bool is_awaited(struct waiting *x, uint64_t object)
{
	struct pyobjs *o = &x->p->objs;
	const struct pyobj_type *t;
	uint64_t word = 0, refs = 0;
	bool own_word = o->rt->minor >= 13; /* of SimpleQueue: it parks */
	if (pyobj_type(o, object, &t) != 0)
		return false;
	switch (t->kind) {
	case PYOBJ_LOCK:
	case PYOBJ_RLOCK:
		if (pylocks_is_inline(t) != x->parked || pylocks_word(x->p, object, &word) != 0 || word != x->w->word)
			return false;
		break;
	case PYOBJ_SEMLOCK:
		if (x->parked || pylocks_word(x->p, object, &word) != 0 || word != x->w->word)
			return false;
		break;
	case PYOBJ_SIMPLEQUEUE:
		if (own_word != x->parked || (!own_word && pyobj_u64(o, object + LOCK_AT, &word) != 0) ||
		    x->w->word != (own_word ? object + LOCK_AT : word))
			return false;
		break;
	case PYOBJ_HANDLE:
		if (!x->parked || pyobj_u64(o, object + LOCK_AT, &word) != 0 || x->w->word - word >= HANDLE_BYTES)
			return false;
		break;
	default:
		return false;
	}
	return pyobj_refs(o, object, &refs) == 0 && refs > 0 && refs != UINT64_MAX;
}

/* Looks for the object among the references of the innermost frame, which called what waits. */
static int object_find(struct waiting *x)
{
	struct pyslots *s = &x->p->scratch;
	struct pyobjs *o = &x->p->objs;
	int e = pyslots_read(x->p->slots, &x->f->frame[0], false, s);
	if (e)
		return e == REMOTE_FAULT ? PYLOCKS_NONE : e;
	if (x->parked && is_awaited(x, x->w->word - LOCK_AT)) {
		x->w->object = x->w->word - LOCK_AT;
		return 0;
	}
	for (size_t i = 0; i < s->n; i++) {
		bool counted;
		uint64_t self = 0, object = pyslots_object(o, s->slot[i], &counted);
		const struct pyobj_type *t;
		if (object < 4096 || pyobj_type(o, object, &t) != 0)
			continue;
		if (t->kind == PYOBJ_BUILTIN && pyobj_u64(o, object + 24, &self) == 0)
			object = self;
		if (is_awaited(x, object)) {
			x->w->object = object;
			return 0;
		}
	}
	return PYLOCKS_NONE;
}

/*
 * True of what a thread, or a process of multiprocessing's, begins with. Below a forked one are its parent's frames,
 * which say nothing of it.
 */
static bool begins_here(const struct pyframe *f)
{
	static const struct {
		const char *function, *file, *folder;
	} all[] = {
		{"run", "threading.py", ""},
		{"_bootstrap_inner", "threading.py", ""},
		{"_bootstrap", "threading.py", ""},
		{"run", "process.py", "/multiprocess"},
		{"_bootstrap", "process.py", "/multiprocess"},
		{"worker", "pool.py", "/multiprocess"},
		{"_process_worker", "process.py", "/concurrent/futures/"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (pylocks_is_function(f, all[i].function, all[i].file) && strstr(f->known->file, all[i].folder))
			return true;
	return false;
}

/* The library's frames around the wait; those that every thread or process begins with are none of them. */
static size_t library_frames(const struct pylocks_frames *f)
{
	size_t n = 0;
	while (n < f->n && pylocks_is_library(&f->frame[n]) && !(n > 0 && begins_here(&f->frame[n])))
		n++;
	return n;
}

/* The variable i of a frame, if this is its name; 0: it is another one, or not bound. */
static uint64_t variable_at(struct waiting *x, const struct pyframe *f, size_t i, const char *wanted)
{
	const struct pyoffsets *off = &x->p->objs.rt->off;
	uint64_t names = off->code.localsplusnames != PYOFF_NONE ? off->code.localsplusnames : off->code.varnames;
	uint64_t tuple = 0, name = 0, slot = 0;
	bool counted;
	if (pyobj_u64(&x->p->objs, f->code + names, &tuple) != 0 ||
	    pyobj_u64(&x->p->objs, tuple + off->tuple.item + 8 * i, &name) != 0 ||
	    !pyobj_str_is(&x->p->objs, name, wanted) ||
	    pyobj_u64(&x->p->objs, f->addr + off->frame.localsplus + 8 * i, &slot) != 0)
		return 0;
	return pyslots_object(&x->p->objs, slot, &counted);
}

/* The object of a method; 0: the frame is that of a plain function. */
static uint64_t self_of(struct waiting *x, const struct pyframe *f)
{
	return variable_at(x, f, 0, "self");
}

/*
 * Lib/threading.py: Barrier.wait(self, timeout) keeps in `index` how many have come before. That of multiprocessing
 * inherits it, and a Manager's server calls it for whoever asks.
 */
static void barrier_read(struct waiting *x)
{
	struct pyobjs *o = &x->p->objs;
	uint64_t self = 0, number = 0, parties = 0, index = 0;
	for (size_t i = 0; i <= x->w->frame && i < x->f->n; i++) {
		const struct pyframe *f = &x->f->frame[i];
		if (!pylocks_is_function(f, "wait", "threading.py") || !(self = self_of(x, f)) ||
		    pyobj_attr(o, self, "_parties", &number) != 0 || pyobj_int(o, number, &parties) != 0)
			continue;
		number = variable_at(x, f, 2, "index");
		if (!number || pyobj_index(o, number, &index) != 0 || index >= parties || parties > UINT32_MAX)
			return;
		x->w->parties = (uint32_t)parties;
		x->w->place = (uint32_t)index + 1;
		return;
	}
}

static pid_t tid_of(const struct waiting *x, uint64_t ident)
{
	for (size_t i = 0; ident && i < x->n_threads; i++)
		if (x->threads[i].thread_id == ident)
			return x->threads[i].tid;
	return 0;
}

/* Thread.join: the object of the thread, if what is waited for is its end. */
static void join_owner(struct waiting *x)
{
	struct pyobjs *o = &x->p->objs;
	uint64_t lock = 0, ident = 0, value = 0;
	if (!pylocks_is_function(&x->f->frame[x->w->frame], "join", "threading.py") || !x->w->outer)
		return;
	int e = pyobj_attr(o, x->w->outer, o->rt->minor >= 14   ? "_os_thread_handle"
						 : o->rt->minor == 13 ? "_handle"
								      : "_tstate_lock",
			  &lock);
	if (e == 0 && lock == x->w->object)
		e = pyobj_attr(o, x->w->outer, "_ident", &ident);
	if (e == 0 && ident && pyobj_int(o, ident, &value) == 0) {
		x->w->owner = tid_of(x, value);
		x->w->joins = x->w->owner != 0;
	}
}

/*
 * A lock of multiprocessing counts in its process. A child that was forked while it was held has inherited the count,
 * unless multiprocessing forked it. A semaphore of one looks like a lock, and is given back by others: that of a
 * bounded Queue by whoever takes from it. So but for an RLock's there is an owner only where a `with Lock` waits.
 */
static void semlock_owner(struct waiting *x)
{
	struct pyobjs *o = &x->p->objs;
	uint64_t last = 0;
	int32_t counts[3] = {0, 0, -1}; /* count, the most that the semaphore may have, kind */
	if (pyobj_u64(o, x->w->object + SEMLOCK_LAST_AT, &last) != 0 ||
	    pyobj_get(o, x->w->object + SEMLOCK_COUNT_AT, counts, sizeof(counts)) != 0 || counts[0] <= 0 ||
	    counts[1] != 1)
		return;
	const bool is_rlock = counts[2] == SEMLOCK_RECURSIVE;
	if (!is_rlock && (x->w->frame == SIZE_MAX || strcmp(x->w->type, "Lock") != 0))
		return;
	x->w->owner = tid_of(x, last);
	x->w->owner_likely = true;
	x->w->anybody = !is_rlock;
}

static void owner_find(struct waiting *x)
{
	const struct pyobj_type *t;
	uint64_t owner[2] = {0}; /* and the count; in 3.14 and later the count begins at 0 */
	if (pyobj_type(&x->p->objs, x->w->object, &t) != 0)
		return;
	if (t->kind == PYOBJ_SEMLOCK)
		semlock_owner(x);
	else if (t->kind == PYOBJ_RLOCK &&
		 pyobj_get(&x->p->objs, x->w->object + RLOCK_OWNER_AT, owner, sizeof(owner)) == 0 &&
		 (pylocks_is_inline(t) || owner[1] > 0))
		x->w->owner = tid_of(x, owner[0]);
	else if (x->w->frame != SIZE_MAX)
		join_owner(x);
}

/* The objects that lead to the lock: its condition, that one's list of waiters, the queue or event around it. */
static size_t selves_find(struct waiting *x, uint64_t ret[static SELVES_MAX + 3])
{
	size_t n = 0;
	uint64_t waiters = 0;
	if (x->w->frame == SIZE_MAX) {
		ret[n++] = x->w->object;
		return n;
	}
	uint64_t condition = self_of(x, &x->f->frame[0]);
	if (!pylocks_is_function(&x->f->frame[0], "wait", "threading.py") || !condition ||
	    pyobj_attr(&x->p->objs, condition, "_waiters", &waiters) != 0 || x->w->frame >= SELVES_MAX)
		return 0;
	ret[n++] = x->w->object;
	ret[n++] = waiters;
	for (size_t i = 0; i <= x->w->frame; i++) {
		uint64_t self = self_of(x, &x->f->frame[i]);
		if (!self)
			return 0; /* a function that waits for several */
		ret[n++] = self;
	}
	return n;
}

int pylocks_unreachable(struct pylocks *p, const struct pylocks_frames *f, const struct pylock_wait *w, bool *ret)
{
	uint64_t objects[SELVES_MAX + 3];
	struct pylock_wait copy = *w;
	struct waiting x = {.p = p, .f = f, .w = &copy};
	const struct pyobj_type *t;
	cleanup(pyrefs_freep) struct pyrefs *refs = NULL;
	*ret = false;
	if (w->timed || w->owner || f->n == 0 || pyobj_type(&p->objs, w->object, &t) != 0 ||
	    (t->kind != PYOBJ_LOCK && t->kind != PYOBJ_RLOCK && t->kind != PYOBJ_SIMPLEQUEUE))
		return 0;
	size_t n = selves_find(&x, objects);
	if (n == 0)
		return 0;
	int e = pyrefs_new(p->slots, f->frame, f->n, &refs);
	if (e == 0)
		e = pyrefs_only_own(refs, objects, n, w->object, ret);
	return e == REMOTE_FAULT ? 0 : e;
}

int pylocks_wait(struct pylocks *p, const struct pylocks_frames *f, const struct pylocks_futex *futex,
		 const struct pythread *threads, size_t n_threads, struct pylock_wait *ret)
{
	struct pylock_wait w = {.frame = SIZE_MAX, .timed = futex->timed};
	struct waiting x = {p, f, futex, threads, n_threads, false, &w};
	const struct pyobj_type *t;
	if (f->n == 0 || futex->addr < 4096 || futex->addr % 4)
		return PYLOCKS_NONE;
	int e = parking_read(&x);
	if (e == 0)
		e = object_find(&x);
	if (e)
		return e;
	size_t library = library_frames(f);
	if (library > 0) {
		w.frame = library - 1;
		w.outer = self_of(&x, &f->frame[w.frame]);
		barrier_read(&x);
	}
	if (pyobj_type(&p->objs, w.outer ? w.outer : w.object, &t) != 0)
		return PYLOCKS_NONE;
	TEXT_COPY(w.type, t->name);
	owner_find(&x);
	*ret = w;
	return 0;
}
