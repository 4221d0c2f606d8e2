#include "sense/python/pylocks_parts.h"

#include <string.h>

int pylocks_new(const struct pyrt *rt, struct remote *r, struct pylocks **ret)
{
	cleanup(pylocks_freep) struct pylocks *p = calloc(1, sizeof(*p));
	*ret = NULL;
	if (!p)
		return -ENOMEM;
	if (!pyobjs_init(rt, r, &p->objs))
		return 0;
	p->slots = pyslots_new(&p->objs);
	if (!p->slots)
		return -ENOMEM;
	*ret = take(&p);
	return 0;
}

struct pylocks *pylocks_free(struct pylocks *p)
{
	if (p)
		pyslots_free(p->slots);
	free(p);
	return NULL;
}

static const char *file_of(const struct pyframe *f)
{
	const char *slash = f->known ? strrchr(f->known->file, '/') : NULL;
	return slash ? slash + 1 : f->known ? f->known->file : "";
}

bool pylocks_is_function(const struct pyframe *f, const char *name, const char *file)
{
	if (!f->known || strcmp(file_of(f), file) != 0)
		return false;
	const char *dot = strrchr(f->known->name, '.');
	return strcmp(dot ? dot + 1 : f->known->name, name) == 0;
}

bool pylocks_is_library(const struct pyframe *f)
{
	static const char *const folders[] = {"/concurrent/futures/", "/multiprocessing/", "/multiprocess/"};
	static const char *const files[] = {"threading.py", "queue.py"};
	if (!f->known)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (strstr(f->known->file, folders[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (strcmp(file_of(f), files[i]) == 0)
			return true;
	return false;
}

int pylocks_word(struct pylocks *p, uint64_t lock, uint64_t *ret)
{
	const struct pyobj_type *t;
	int e = pyobj_type(&p->objs, lock, &t);
	if (e)
		return e;
	bool plain = t->kind == PYOBJ_LOCK, known = plain || t->kind == PYOBJ_RLOCK;
	if (t->kind == PYOBJ_SEMLOCK || (known && t->size == (plain ? LOCK_BYTES_POINTER : RLOCK_BYTES_POINTER)))
		return pyobj_u64(&p->objs, lock + LOCK_AT, ret);
	if (!known || !pylocks_is_inline(t))
		return REMOTE_FAULT;
	*ret = lock + LOCK_AT;
	return 0;
}

/* A frame in Condition.wait has released the condition's lock. *ret: its word; 0: it is no such frame. */
static int released_word(struct pylocks *p, const struct pyframe *f, uint64_t *ret)
{
	uint64_t self = 0, lock = 0, inner = 0;
	bool counted;
	*ret = 0;
	if (!pylocks_is_function(f, "wait", "threading.py"))
		return 0;
	int e = pyobj_u64(&p->objs, f->addr + p->objs.rt->off.frame.localsplus, &self);
	if (e)
		return e;
	self = pyslots_object(&p->objs, self, &counted);
	if (pyobj_attr(&p->objs, self, "_cond", &inner) == 0)
		return 0; /* Event.wait, Barrier.wait: they call that of their condition */
	e = pyobj_attr(&p->objs, self, "_lock", &lock);
	return e ? e : pylocks_word(p, lock, ret);
}

/*
 * The lock of multiprocessing that a `with` is about, or its condition's: multiprocessing/synchronize.py. It counts in
 * this process: only one that is held by it, and can be held but once, is told.
 */
static int semlock_held(struct pylocks *p, uint64_t self, struct pylock_held *ret)
{
	uint64_t lock = self, sem = 0;
	int32_t counts[2] = {0}; /* count, the most that the semaphore may have */
	int e = pyobj_attr(&p->objs, self, "_semlock", &sem);
	if (e == REMOTE_FAULT && pyobj_attr(&p->objs, self, "_lock", &lock) == 0)
		e = pyobj_attr(&p->objs, lock, "_semlock", &sem);
	if (e == 0)
		e = pyobj_is(&p->objs, sem, PYOBJ_SEMLOCK)
			    ? pyobj_get(&p->objs, sem + SEMLOCK_COUNT_AT, counts, sizeof(counts))
			    : REMOTE_FAULT;
	if (e || counts[0] <= 0 || counts[1] != 1)
		return e ? e : REMOTE_FAULT;
	*ret = (struct pylock_held){.object = sem};
	TEXT_COPY(ret->type, "SemLock");
	return pylocks_word(p, sem, &ret->word);
}

/* The lock behind the object of a bound __exit__. */
static int exit_lock(struct pylocks *p, const struct pyslots_with *w, struct pylock_held *ret)
{
	uint64_t self = w->self, lock = 0;
	const struct pyobj_type *t;
	bool builtin = w->self ? pyobj_method_is(&p->objs, w->exit, PYOBJ_DESCRIPTOR, "__exit__")
			       : pyobj_method_is(&p->objs, w->exit, PYOBJ_BUILTIN, "__exit__");
	int e = self ? 0 : pyobj_u64(&p->objs, w->exit + 24, &self);
	if (e == 0)
		e = pyobj_type(&p->objs, self, &t);
	if (e)
		return e;
	*ret = (struct pylock_held){.object = self};
	if (builtin && (t->kind == PYOBJ_LOCK || t->kind == PYOBJ_RLOCK)) {
		TEXT_COPY(ret->type, t->name);
		return pylocks_word(p, self, &ret->word);
	}
	uint64_t function = w->exit;
	if (builtin || (!w->self && (!pyobj_is(&p->objs, w->exit, PYOBJ_METHOD) ||
				     pyobj_u64(&p->objs, w->exit + 16, &function) != 0)))
		return REMOTE_FAULT;
	if (pyobj_is(&p->objs, function, PYOBJ_FUNCTION) &&
	    pyobj_function_is(&p->objs, function, "__exit__", "synchronize.py"))
		return semlock_held(p, self, ret);
	if (!pyobj_is(&p->objs, function, PYOBJ_FUNCTION) ||
	    !pyobj_function_is(&p->objs, function, "__exit__", "threading.py"))
		return REMOTE_FAULT;
	e = pyobj_attr(&p->objs, self, "_waiters", &lock); /* a Semaphore has none */
	if (e == 0)
		e = pyobj_attr(&p->objs, self, "_lock", &lock);
	if (e == 0)
		e = pylocks_word(p, lock, &ret->word);
	ret->object = lock;
	TEXT_COPY(ret->type, "Condition");
	return e;
}

static int held_in(struct pylocks *p, const struct pylocks_frames *f, size_t frame, struct pylock_held *ret,
		   size_t *ret_n)
{
	struct pyslots *s = &p->scratch;
	int e = pyslots_read(p->slots, &f->frame[frame], false, s);
	for (size_t i = 0; e == 0 && i < s->n_with && *ret_n < PYLOCKS_HELD; i++) {
		struct pylock_held one;
		e = exit_lock(p, &s->with[i], &one);
		if (e == REMOTE_FAULT) {
			e = 0; /* another context manager */
			continue;
		}
		one.frame = frame;
		one.instr = s->with[i].instr;
		one.may_release = pyslots_calls_release(p->slots, &f->frame[frame]);
		ret[(*ret_n)++] = one;
	}
	return e == REMOTE_FAULT ? 0 : e;
}

int pylocks_held(struct pylocks *p, const struct pylocks_frames *f, struct pylock_held ret[static PYLOCKS_HELD],
		 size_t *ret_n)
{
	*ret_n = 0;
	for (size_t i = 0; i < f->n; i++) {
		int e = held_in(p, f, i, ret, ret_n);
		if (e)
			return e;
	}
	for (size_t i = 0; *ret_n && i < f->n; i++) {
		uint64_t word = 0;
		int e = released_word(p, &f->frame[i], &word);
		if (e && e != REMOTE_FAULT)
			return e;
		if (e == REMOTE_FAULT) {
			*ret_n = 0; /* it cannot be told which lock was released */
			return 0;
		}
		size_t kept = 0;
		for (size_t k = 0; k < *ret_n; k++)
			if (ret[k].frame < i || ret[k].word != word)
				ret[kept++] = ret[k];
		*ret_n = word ? kept : *ret_n;
	}
	return 0;
}

int pylocks_future(struct pylocks *p, const struct pylocks_frames *f, uint64_t *ret)
{
	uint64_t self = 0;
	bool counted;
	*ret = 0;
	for (size_t i = 0; i < f->n; i++) {
		if (!pylocks_is_function(&f->frame[i], "run", "thread.py") || !pylocks_is_library(&f->frame[i]))
			continue;
		int e = pyobj_u64(&p->objs, f->frame[i].addr + p->objs.rt->off.frame.localsplus, &self);
		if (e == 0)
			e = pyobj_attr(&p->objs, pyslots_object(&p->objs, self, &counted), "future", ret);
		if (e != REMOTE_FAULT)
			return e;
	}
	return 0;
}
