#include "sense/asyncio/pytasks_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"

#define TASK_BYTES_MAX 512
#define CODE_MASK (~UINT64_C(7)) /* 3.14 marks the pointer to the code in its lowest bits */

/* Include/frameobject.h, 3.8 to 3.10: f_valuestack; then f_stacktop (3.8, 3.9) or, behind f_trace, f_stackdepth. */
enum {
	VALUESTACK_AT = 64,
	STACKTOP_AT_8 = 72,
	STACKDEPTH_AT_10 = 80,
	STACKTOP_AT_11 = 64, /* Include/internal/pycore_frame.h: an int, the variables counted */
	GEN_FRAME_AT_13 = 72, /* Include/internal/pycore_genobject.h; 3.14 and later describe it */
	OBJECT_AT = 16, /* the first member of a future's iterator, and of what await makes of a coroutine */
};

void pytasks_done(struct pytasks *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->task[i].frame);
	free(t->task);
	free(t->link);
	*t = (struct pytasks){.n = 0};
}

static const char *pytask_file(const struct pyframe *f)
{
	const char *slash = strrchr(f->known->file, '/');
	return slash ? slash + 1 : f->known->file;
}

bool pytask_is_library(const struct pyframe *f)
{
	return f->known && strstr(f->known->file, "/asyncio/") != NULL;
}

/* ---- the chain of coroutines ---- */

int pytasks_stack_of(struct pytasks_reader *x, uint64_t frame, uint64_t *ret_base, uint64_t *ret_n)
{
	const struct pyoffsets *o = &x->rt->off;
	uint64_t base = frame + o->frame.localsplus, top = 0;
	int32_t depth = 0;
	uint8_t minor = x->rt->minor;
	int e = 0;
	*ret_n = 0;
	if (minor < 11)
		e = pyobj_u64(&x->objs, frame + VALUESTACK_AT, &base);
	if (e == 0 && (minor < 10 || minor >= 14))
		e = pyobj_u64(&x->objs, frame + (minor < 10 ? STACKTOP_AT_8 : o->frame.stackpointer), &top);
	else if (e == 0)
		e = pyobj_get(&x->objs, frame + (minor == 10 ? STACKDEPTH_AT_10 : STACKTOP_AT_11), &depth,
			      sizeof(depth));
	if (e)
		return e;
	if (minor >= 10 && minor < 14)
		top = depth > 0 && depth <= PYSLOTS_MAX ? base + 8 * (uint64_t)depth : 0;
	*ret_base = base;
	if (top > base && top - base <= PYSLOTS_MAX * 8 && top % 8 == 0)
		*ret_n = (top - base) / 8;
	return 0;
}

/* What lies on top of the evaluation stack of a frame that does not run; 0: nothing. */
static int top_of(struct pytasks_reader *x, uint64_t frame, uint64_t *ret)
{
	uint64_t base = 0, n = 0;
	bool counted;
	*ret = 0;
	int e = pytasks_stack_of(x, frame, &base, &n);
	if (e || n == 0)
		return e;
	e = pyobj_u64(&x->objs, base + 8 * (n - 1), ret);
	*ret = pyslots_object(&x->objs, *ret, &counted);
	if (e == 0 && *ret == 0 && x->rt->minor >= 15 && n >= 2) { /* an index, or none, stands on what is awaited */
		e = pyobj_u64(&x->objs, base + 8 * (n - 2), ret);
		*ret = pyslots_object(&x->objs, *ret, &counted);
	}
	return e;
}

static int gen_frame(struct pytasks_reader *x, uint64_t gen, uint64_t *ret)
{
	uint64_t at = x->rt->off.gen.frame == PYOFF_NONE ? GEN_FRAME_AT_13 : x->rt->off.gen.frame;
	*ret = gen + at;
	return x->rt->minor < 11 ? pyobj_u64(&x->objs, gen + at, ret) : 0;
}

int pytasks_frame_read(struct pytasks_reader *x, uint64_t addr, struct pyframe *ret)
{
	const struct pyoffsets *o = &x->rt->off;
	uint64_t code = 0, instr = 0;
	int32_t lasti = 0;
	int e = addr > 4096 && addr % 8 == 0 ? pyobj_u64(&x->objs, addr + o->frame.code, &code) : REMOTE_FAULT;
	code &= CODE_MASK;
	if (e == 0 && x->rt->minor < 11) {
		e = pyobj_get(&x->objs, addr + o->frame.instr, &lasti, sizeof(lasti));
		instr = (uint64_t)(int64_t)lasti;
	} else if (e == 0) {
		e = pyobj_u64(&x->objs, addr + o->frame.instr, &instr);
	}
	*ret = (struct pyframe){.addr = addr, .code = code, .instr = instr, .flags = PYFRAME_GENERATOR};
	if (e == 0)
		e = pycodes_get(x->codes, code, &ret->known);
	return e == PYCODE_GARBAGE ? REMOTE_FAULT : e;
}

/* Follows a task's coroutine, outermost first. *ret_end: the future to which it leads; 0: to none. */
static int chain_read(struct pytasks_reader *x, uint64_t object, struct pyframe *frame, struct pytask *t,
		      uint64_t *ret_end)
{
	const struct pyobj_type *type;
	int e = 0;
	*ret_end = 0;
	for (size_t step = 0; e == 0 && object && step < 2 * PYTASK_FRAMES + 2; step++) {
		e = pyobj_type(&x->objs, object, &type);
		if (e == 0 && type->kind == PYOBJ_AWAITER) {
			e = pyobj_u64(&x->objs, object + OBJECT_AT, &object);
			*ret_end = object;
		} else if (e == 0 && type->kind == PYOBJ_COROUTINE) {
			uint64_t at = 0;
			if (t->n == PYTASK_FRAMES) {
				t->cut = true;
				return 0;
			}
			e = gen_frame(x, object, &at);
			if (e == 0)
				e = pytasks_frame_read(x, at, &frame[t->n]);
			if (e == 0)
				e = top_of(x, at, &object);
			t->n += e == 0;
		} else {
			return e;
		}
	}
	return e;
}

static void frames_turn(struct pytask *t)
{
	for (size_t i = 0; i < t->n / 2; i++) {
		struct pyframe one = t->frame[i];
		t->frame[i] = t->frame[t->n - 1 - i];
		t->frame[t->n - 1 - i] = one;
	}
}

static int frames_keep(struct pytask *t, const struct pyframe *frame)
{
	if (t->n == 0)
		return 0;
	t->frame = malloc(t->n * sizeof(*frame));
	if (!t->frame)
		return -ENOMEM;
	memcpy(t->frame, frame, t->n * sizeof(*frame));
	frames_turn(t);
	return 0;
}

/* ---- one task ---- */

static uint64_t task_word(const unsigned char *raw, uint32_t at)
{
	uint64_t v;
	memcpy(&v, raw + at, sizeof(v));
	return v;
}

/* The name is a str, or (3.12 and later) the number of a task that nobody has named. */
int pytasks_name_read(struct pytasks_reader *x, uint64_t name, char *dst, size_t cap)
{
	cleanup(freep) char *text = NULL;
	const struct pyobj_type *type;
	uint64_t number = 0;
	if (pyobj_type(&x->objs, name, &type) == 0 && strcmp(type->name, "int") == 0 &&
	    pyobj_int(&x->objs, name, &number) == 0) {
		text_format(dst, cap, "Task-%llu", (unsigned long long)number);
		return 0;
	}
	int e = pystr_read(x->rt, x->objs.remote, name, cap - 1, &text);
	if (e == 0)
		text_copy(dst, cap, text);
	return e < 0 || e == WORLD_GONE || e == WORLD_DENIED ? e : 0;
}

/* REMOTE_FAULT: it is no task, or one that has ended. */
static int task_read(struct pytasks_reader *x, uint64_t addr, struct pytask *t)
{
	const struct pytasks_layout *l = &x->layout;
	unsigned char raw[TASK_BYTES_MAX];
	struct pyframe frame[PYTASK_FRAMES];
	const struct pyobj_type *type;
	uint64_t refs = 0, end = 0;
	int32_t state = 0;
	*t = (struct pytask){.addr = addr, .fd = -1};
	int e = pyobj_type(&x->objs, addr, &type);
	if (e == 0 && (type->kind != PYOBJ_TASK || type->size != l->size))
		e = REMOTE_FAULT;
	if (e == 0)
		e = pyobj_refs(&x->objs, addr, &refs);
	if (e == 0)
		e = pyobj_get(&x->objs, addr, raw, l->size);
	if (e)
		return e;
	memcpy(&state, raw + l->state, sizeof(state));
	if (refs == 0 || refs == UINT64_MAX || state != 0)
		return REMOTE_FAULT;
	t->loop = task_word(raw, 16); /* as in every future */
	t->future = task_word(raw, l->waiter);
	t->ready = t->future == 0;
	e = pytasks_name_read(x, task_word(raw, l->name), t->name, sizeof(t->name));
	if (e == 0)
		e = chain_read(x, task_word(raw, l->coro), frame, t, &end);
	if (e && e != REMOTE_FAULT)
		return e;
	/* A future that is not asyncio's has an iterator in Python, so that the chain ends before it. */
	t->moved = e == REMOTE_FAULT || (end && t->future && end != t->future);
	t->n = t->moved ? 0 : t->n;
	return frames_keep(t, frame);
}

static bool is_same(const struct pytask *a, const struct pytask *b)
{
	bool same = a->future == b->future && a->n == b->n && a->loop == b->loop && a->moved == b->moved;
	for (size_t i = 0; same && i < a->n; i++)
		same = a->frame[i].addr == b->frame[i].addr && a->frame[i].code == b->frame[i].code &&
		       a->frame[i].instr == b->frame[i].instr;
	return same;
}

/* Reads it once more. A task that has gone on is told without its frames. */
static int task_check(struct pytasks_reader *x, struct pytask *t)
{
	struct pytask again = {};
	int e = task_read(x, t->addr, &again);
	if (e == REMOTE_FAULT || (e == 0 && !is_same(t, &again))) {
		t->moved = true;
		t->n = 0;
		t->future = t->work = 0;
		t->forsaken = false;
		t->fd = -1;
		t->on[0] = '\0';
		t->place = 0;
	}
	free(again.frame);
	return e == REMOTE_FAULT ? 0 : e;
}

/* ---- what the library does for it ---- */

static const char *last_name(const struct pyframe *f)
{
	const char *dot = strrchr(f->known->name, '.');
	return dot ? dot + 1 : f->known->name;
}

static bool is_limit(const struct pyframe *f)
{
	return strcmp(last_name(f), "wait_for") == 0;
}

/* It says less than the function that it calls. */
static bool is_wrapper(const struct pyframe *f)
{
	return is_limit(f) || strncmp(last_name(f), "__", 2) == 0;
}

/* "Queue.get": the name of the function, with the type of its object where the code has no qualified name. */
static void on_find(struct pytasks_reader *x, const struct pyframe *f, struct pytask *t)
{
	const struct pyobj_type *type;
	uint64_t self = pytasks_local(&x->objs, f, "self");
	const char *name = f->known->name;
	if (strcmp(pytask_file(f), "selector_events.py") == 0 || strcmp(pytask_file(f), "base_events.py") == 0)
		TEXT_FORMAT(t->on, "loop.%s", last_name(f));
	else if (x->rt->minor < 11 && self && pyobj_type(&x->objs, self, &type) == 0)
		TEXT_FORMAT(t->on, "%s.%s", type->name, name);
	else
		TEXT_COPY(t->on, name);
}

static void library_find(struct pytasks_reader *x, struct pytask *t)
{
	const struct pyframe *called = NULL;
	for (t->place = 0; t->place < t->n && pytask_is_library(&t->frame[t->place]); t->place++) {
		const struct pyframe *f = &t->frame[t->place];
		t->timed |= is_limit(f) || strcmp(f->known->name, "sleep") == 0;
		if (!called || !is_wrapper(f))
			called = f;
	}
	if (!called)
		return;
	on_find(x, called, t);
	pytask_fd_find(x, t);
}

/* ---- all of them ---- */

static int tasks_fill(struct pytasks_reader *x, const uint64_t *addr, size_t n)
{
	struct pytasks *out = x->out;
	for (size_t i = 0; i < n; i++) {
		if (vec_room(&out->task, &out->cap, out->n + 1) < 0)
			return -ENOMEM;
		int e = task_read(x, addr[i], &out->task[out->n]);
		if (e == REMOTE_FAULT) {
			e = pytasks_failed_add(x, addr[i]);
			if (e)
				return e;
			continue;
		}
		out->n++;
		if (e)
			return e;
		library_find(x, &out->task[out->n - 1]);
	}
	return 0;
}

int pytasks_fill(struct pytasks_reader *x, const uint64_t *addr, size_t n)
{
	remote_keep(x->objs.remote);
	int e = tasks_fill(x, addr, n);
	uint32_t kept = x->objs.reads_left / 2; /* for the check */
	x->objs.reads_left -= kept;
	if (e == 0)
		e = pytasks_links_find(x);
	x->objs.reads_left += kept;
	remote_forget(x->objs.remote); /* what is checked is read anew */
	remote_keep(x->objs.remote);
	for (size_t i = 0; e == 0 && i < x->out->n; i++)
		e = task_check(x, &x->out->task[i]);
	remote_forget(x->objs.remote);
	return e;
}

int pytasks_read(const struct world *w, const struct pyrt *rt, struct remote *r, struct pycodes *codes,
		 const struct pythread *threads, size_t n_threads, struct pytasks *ret)
{
	struct pytasks all = {.n = 0};
	struct pytasks_reader x = {.w = w, .rt = rt, .codes = codes, .out = &all};
	*ret = all;
	if (!pyobjs_init(rt, r, &x.objs) || (rt->minor >= 14 && rt->off.frame.stackpointer == PYOFF_NONE))
		return 0;
	cleanup(freep) uint64_t *addr = NULL;
	size_t n = 0;
	int e = pytasks_find(&x, threads, n_threads, &addr, &n);
	if (e == 0)
		e = pytasks_fill(&x, addr, n);
	if (e)
		pytasks_done(&all);
	else
		*ret = all;
	return e;
}
