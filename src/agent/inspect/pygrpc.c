#include "agent/inspect/pygrpc.h"

#include <stdlib.h>
#include <string.h>

#include "agent/inspect/pytext.h"
#include "agent/inspect/standstill.h"
#include "base/buf.h"
#include "base/units.h"
#include "base/vec.h"
#include "sense/python/pylocals.h"
#include "sense/python/pylocks.h"
#include "sense/python/pyobj.h"
#include "sense/python/pyslots.h"

/* A thread that wakes up several times a second is caught between two of these in the end. */
#define TRIES 4
#define HINTS_MOST 3 /* of one thread */
#define BODY_AT 16 /* Include/object.h: what is behind the reference count and the type */
/* A longer limit is none. */
static const double limit_most_s = 30 * 24 * 3600.0;

struct reading {
	struct procview *v;
	const struct pyframe *frame;
	size_t n;
	pid_t tid;
	struct waithint hint[HINTS_MOST];
	size_t n_hints;
};

static bool is_file_of(const struct pyframe *f, const char *end)
{
	const char *file = f->known ? f->known->file : "";
	size_t len = strlen(file), n = strlen(end);
	return len > n && strcmp(file + len - n, end) == 0;
}

static bool is_grpc(const struct pyframe *f)
{
	return f->known && strstr(f->known->file, "/grpc/_") != NULL;
}

/* The first frame that is of the program, from a frame of gRPC on; n: there is none. */
static size_t caller_of(const struct reading *x, size_t i)
{
	while (i < x->n && (is_grpc(&x->frame[i]) || pylocks_is_library(&x->frame[i])))
		i++;
	return i;
}

static struct waithint *pygrpc_add(struct reading *x, enum waithint_kind kind)
{
	struct waithint *h = &x->hint[x->n_hints++];
	*h = (struct waithint){.kind = kind, .pid = x->v->pid, .tid = x->tid};
	return h;
}

static void pygrpc_say(const struct reading *x, struct waithint *h, const char *what, size_t frame)
{
	struct buf b = BUF_ON(h->text);
	buf_add(&b, what);
	if (frame < x->n)
		pytext_place_add(&b, &x->v->rt, &x->frame[frame], 0);
}

/* ---- who waits for an answer ---- */

/* The value of a frame's variable `timeout`; 0: None, or it cannot be told. */
static double timeout_of(const struct reading *x, size_t i)
{
	struct pylocals l = {.n = 0};
	double s = 0;
	if (pylocals_read(&x->v->rt, &x->v->remote, x->frame[i].addr, x->frame[i].code, &l) != 0)
		return 0;
	for (size_t k = 0; k < l.n; k++)
		if (strcmp(l.items[k].name, "timeout") == 0)
			s = strtod(l.items[k].value, NULL);
	pylocals_done(&l);
	return s > 0 && s < limit_most_s ? s : 0;
}

/* The time limit that the program gave the call. */
static uint64_t limit_of(const struct reading *x, size_t caller)
{
	double s = 0, found;
	for (size_t i = 0; i < caller; i++) {
		if (pylocks_is_function(&x->frame[i], "_wait_once", "_common.py") || !is_grpc(&x->frame[i]))
			continue; /* how long it waits until it wakes up */
		found = timeout_of(x, i);
		s = found > s ? found : s;
	}
	return (uint64_t)(s * NS_PER_S);
}

/* What is left of the deadline that a stream or a call in the background has; 0: none, or it cannot be told. */
static uint64_t left_of(const struct reading *x, const struct world *w, size_t caller)
{
	struct pyobjs o;
	struct pyobj_child item[PYOBJ_CHILDREN];
	const struct pyobj_type *t;
	uint64_t slot = 0, dict = 0;
	double until_s = 0, now_s = (double)w->unix_ms() / 1e3;
	size_t n = 0;
	bool counted;
	const struct pyframe *f = &x->frame[caller - 1];
	/* Its object is an exception as well, the first of whose members is the dict of its attributes. */
	if (!pyobjs_init(&x->v->rt, &x->v->remote, &o) ||
	    pyobj_u64(&o, f->addr + x->v->rt.off.frame.localsplus, &slot) != 0 ||
	    pyobj_u64(&o, pyslots_object(&o, slot, &counted) + BODY_AT, &dict) != 0 ||
	    pyobj_items(&o, dict, item, &n) != 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (item[i].name && pyobj_str_is(&o, item[i].name, "_deadline") &&
		    pyobj_type(&o, item[i].object, &t) == 0 && strcmp(t->name, "float") == 0 &&
		    pyobj_get(&o, item[i].object + BODY_AT, &until_s, sizeof(until_s)) != 0)
			until_s = 0;
	double left_s = until_s - now_s;
	return left_s > 0 && left_s < limit_most_s ? (uint64_t)(left_s * NS_PER_S) : 0;
}

/* gRPC's own threads stand in the same file: they have no caller. */
static void call_find(struct reading *x, const struct world *w, size_t at)
{
	size_t caller = caller_of(x, at);
	if (caller == x->n || !is_file_of(&x->frame[at], "/grpc/_channel.py"))
		return;
	struct waithint *h = pygrpc_add(x, WAITHINT_CALL);
	h->limit_ns = limit_of(x, caller);
	h->left_ns = left_of(x, w, caller);
	pygrpc_say(x, h, "answer of a gRPC server", caller);
}

/* ---- servers ---- */

static bool is_idle_worker(const struct reading *x)
{
	return x->n > 0 && pylocks_is_function(&x->frame[0], "_worker", "thread.py") &&
	       is_file_of(&x->frame[0], "/concurrent/futures/thread.py");
}

/* The thread that shows tqdm's bars anew, where nothing has for ten seconds. */
static bool is_bar(const struct reading *x)
{
	for (size_t i = 0; i < x->n; i++)
		if (pylocks_is_function(&x->frame[i], "run", "_monitor.py") &&
		    is_file_of(&x->frame[i], "/tqdm/_monitor.py"))
			return true;
	return false;
}

static void idle_find(struct reading *x, size_t at)
{
	if (is_bar(x)) {
		struct waithint *h = pygrpc_add(x, WAITHINT_IDLE);
		h->shows = true;
		pygrpc_say(x, h, "the thread that shows tqdm's bars", x->n);
		return;
	}
	if (is_idle_worker(x))
		pygrpc_say(x, pygrpc_add(x, WAITHINT_IDLE), "a pool's thread that waits for work", x->n);
	else if (x->n > 0 && is_file_of(&x->frame[0], "/grpc/_server.py") &&
		 pylocks_is_function(&x->frame[0], "_serve", "_server.py"))
		pygrpc_say(x, pygrpc_add(x, WAITHINT_IDLE), "a gRPC server's thread that takes calls", x->n);
	else if (at < x->n && is_file_of(&x->frame[at], "/grpc/_server.py") &&
		 pylocks_is_function(&x->frame[at], "wait_for_termination", "_server.py"))
		pygrpc_say(x, pygrpc_add(x, WAITHINT_IDLE), "a gRPC server that waits for calls", caller_of(x, at));
}

/* A thread that the server has called the program's own function in. */
static void handler_find(struct reading *x)
{
	static const char *const calls[] = {"_call_behavior", "_take_response_from_response_iterator"};
	for (size_t i = 1; i < x->n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(calls); k++) {
			if (!pylocks_is_function(&x->frame[i], calls[k], "_server.py") ||
			    !is_file_of(&x->frame[i], "/grpc/_server.py"))
				continue;
			pygrpc_say(x, pygrpc_add(x, WAITHINT_HANDLER), "works on a call of gRPC", i - 1);
			return;
		}
}

/* A handler that takes the next message of its stream, or gRPC's own thread that takes what the program sends. */
static void stream_find(struct reading *x)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct pyframe *f = &x->frame[i];
		const bool takes = pylocks_is_function(f, "_next", "_server.py") && is_file_of(f, "/grpc/_server.py");
		const bool sends = pylocks_is_function(f, "consume_request_iterator", "_channel.py") &&
				   is_file_of(f, "/grpc/_channel.py");
		if (takes || sends) {
			pygrpc_say(x, pygrpc_add(x, WAITHINT_STREAM), "a message of a stream of gRPC", x->n);
			return;
		}
	}
}

static void frames_say(struct reading *x, const struct world *w)
{
	size_t at = 0;
	x->n_hints = 0;
	while (at < x->n && (pylocks_is_library(&x->frame[at]) || is_file_of(&x->frame[at], "/grpc/_common.py")))
		at++;
	if (at < x->n && is_grpc(&x->frame[at]))
		call_find(x, w, at);
	if (x->n_hints == 0)
		idle_find(x, at);
	handler_find(x);
	stream_find(x);
}

/* ---- threads ---- */

/* Reads a thread when it stands still for as long as that takes; else nothing is told of it. */
static int pygrpc_thread_read(const struct world *w, const struct pythread *t, struct reading *x)
{
	char token[STANDSTILL_TOKEN];
	struct threadwait call;
	struct pystack stack;
	x->tid = t->tid;
	for (int i = 0; i < TRIES; i++) {
		if (!standstill_token(w, x->v->via, t->tid, token, &call))
			continue;
		int e = pystacks_read(x->v->stacks, t, false, &stack);
		if (e < 0 || e == WORLD_GONE || e == WORLD_DENIED)
			return e;
		if (e)
			continue;
		x->frame = stack.frames;
		x->n = stack.n;
		frames_say(x, w);
		if (x->n_hints == 0 || !standstill_moved(w, x->v->via, t->tid, token))
			return 0;
		x->n_hints = 0;
	}
	return 0;
}

int pygrpc_hints(const struct world *w, struct procview *v, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	const struct pythread *py = NULL;
	size_t n = 0;
	if (!v->has_python || !v->stacks)
		return 0;
	int e = procview_python_threads(v, &py, &n);
	if (e)
		return e < 0 || e == WORLD_GONE || e == WORLD_DENIED ? e : 0;
	for (size_t i = 0; i < n && e == 0; i++) {
		struct reading x = {.v = v};
		e = py[i].tid > 0 ? pygrpc_thread_read(w, &py[i], &x) : 0;
		if (e == 0 && vec_room(hint, cap_hints, *n_hints + x.n_hints) < 0)
			return -ENOMEM;
		for (size_t k = 0; e == 0 && k < x.n_hints; k++)
			(*hint)[(*n_hints)++] = x.hint[k];
	}
	return e;
}
