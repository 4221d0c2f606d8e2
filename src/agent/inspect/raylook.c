#include "agent/inspect/raylook.h"

#include <string.h>

#include "agent/inspect/pytext.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/vec.h"
#include "model/jobs/raytitle.h"
#include "sense/asyncio/pytasks.h"
#include "sense/proc/proc.h"

#define THREADS_MOST 256 /* with Python states, of one process */
#define TRIES 3
#define AWAITS_MOST 64 /* of an actor with async methods */

static const char worker_file[] = "/ray/_private/worker.py";

void raylook_done(struct raylook *l)
{
	free(l->wait);
	*l = (struct raylook){.n = 0};
}

/* The loop of an actor with async methods, asyncio's or one in C, as uvloop's: its thread begins in the loop itself. */
static bool runs_events(const struct pyframe *frame, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pyframe_is(&frame[i], "run_forever", "/asyncio/base_events.py"))
			return true;
	return n > 0 && pyframe_is(&frame[0], "run", "/threading.py");
}

static bool runs_call(const struct pyframe *frame, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pyframe_is(&frame[i], "actor_method_executor", "/ray/_private/function_manager.py"))
			return true;
	return runs_events(frame, n);
}

static bool runs_loop(const struct pyframe *frame, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pyframe_is(&frame[i], "main_loop", worker_file))
			return true;
	return false;
}

/* Where the program's own code waits: the innermost frame that is no part of Ray. */
static void place_put(const struct procview *v, const struct pystack *s, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (size_t i = 0; i < s->n; i++) {
		if (s->frames[i].known && strstr(s->frames[i].known->file, "/ray/"))
			continue;
		pytext_place_add(&b, &v->rt, &s->frames[i], 0);
		return;
	}
}

static bool wait_add(struct procview *v, pid_t tid, const struct pystack *s, const struct raycall_get *get,
		     struct raylook *l)
{
	if (vec_room(&l->wait, &l->cap, l->n + 1) < 0)
		return false;
	struct raylook_wait *x = &l->wait[l->n++];
	*x = (struct raylook_wait){.tid = tid, .get = *get};
	place_put(v, s, x->place, sizeof(x->place));
	return true;
}

static void main_note(struct procview *v, const struct pystack *s, const struct pythread *t, struct raylook *l)
{
	l->worker = runs_loop(s->frames, s->n);
	l->idle = pyframe_is(&s->frames[0], "main_loop", worker_file);
	l->is_actor = raycall_actor_read(&v->rt, &v->remote, s->frames, s->n, &l->actor) == 0;
	l->runs = l->worker && raycall_task_read(&v->rt, &v->remote, t->interp, &l->task) == 0;
}

/* What matters of the threads of an actor beside what is told of it. */
struct counted {
	size_t asyncs, asyncs_in_get; /* event loops that run all calls of an actor with async methods */
	bool free; /* a thread that has nothing to do */
};

/* Ray calls the threads of such loops so (python/ray/_raylet.pyx), one for each concurrency group. */
static bool is_async(struct procview *v, const struct pythread *t)
{
	const char *name = procview_thread_name(v, t);
	return name && span_starts(span_of(name), "AsyncIO Thread: ");
}

static void thread_note(struct procview *v, const struct pystack *s, const struct pythread *t, struct raylook *l,
			struct counted *c)
{
	const bool main = t->tid == v->pid, async = !main && is_async(v, t);
	struct raycall_get get;
	c->asyncs += async;
	if (main)
		main_note(v, s, t, l);
	if (raycall_get_read(&v->rt, &v->remote, s->frames, s->n, &get) == 0) {
		l->endless |= main && get.endless;
		l->working = main ? l->working : t->tid;
		c->asyncs_in_get += async;
		l->others |= !wait_add(v, t->tid, s, &get, l);
		return;
	}
	/* a thread of an actor's that has nothing to do has no frames, but for the main one, whose loop is one */
	const bool calls = !main && runs_call(s->frames, s->n);
	c->free |= !main && s->n == 0;
	l->working = calls ? t->tid : l->working;
	l->loops += !main && runs_events(s->frames, s->n);
	l->others |= (main && !l->idle) || calls;
}

static void await_add(const struct procview *v, const struct pytask *t, const struct raycall_task *made,
		      struct raylook *l)
{
	if (l->n == AWAITS_MOST || vec_room(&l->wait, &l->cap, l->n + 1) < 0)
		return;
	struct raylook_wait *x = &l->wait[l->n++];
	*x = (struct raylook_wait){.tid = l->working, .awaits = true, .get = {.n = 1, .wanted = 1, .n_made = 1}};
	x->get.made[0] = *made;
	struct buf b = BUF_ON(x->place);
	buf_reset(&b);
	if (t->place < t->n)
		pytext_place_add(&b, &v->rt, &t->frame[t->place], 0);
}

/* Which loop a coroutine is of is known where there is one. */
static void awaits_read(const struct world *w, struct procview *v, const struct pythread *list, size_t n,
			struct raylook *l)
{
	cleanup(pytasks_done) struct pytasks tasks = {.n = 0};
	struct raycall_task made;
	if (l->loops != 1 || pytasks_read(w, &v->rt, &v->remote, v->codes, list, n, &tasks) != 0)
		return;
	for (size_t i = 0; i < tasks.n; i++) {
		const struct pytask *t = &tasks.task[i];
		if (t->work && !t->moved && !t->ready && raycall_future_read(&v->rt, &v->remote, t->work, &made) == 0)
			await_add(v, t, &made, l);
	}
}

/* A thread that cannot be read may do anything. */
static bool raylook_once(const struct world *w, pid_t pid, struct raylook *l)
{
	static const struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *view = NULL;
	const struct pythread *list;
	struct procview_sample sample;
	struct counted c = {.asyncs = 0};
	struct fault f;
	size_t n;
	raylook_done(l);
	if (procview_open(w, pid, &want, &view, &f) != 0 || !view->has_python ||
	    procview_python_threads(view, &list, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct pythread *t = &list[i];
		const bool main = t->tid == pid;
		if (t->tid <= 0 || (i >= THREADS_MOST && !main) ||
		    procview_sample(view, t->tid, t, PROCVIEW_WAITS, &sample) != 0 || !sample.has_python ||
		    sample.python_result != 0 || (main && sample.python.n == 0))
			l->others = true;
		else
			thread_note(view, &sample.python, t, l, &c);
	}
	/* while all its loops stand in ray.get() no call can begin, whatever other threads do */
	l->others |= c.free && (c.asyncs == 0 || c.asyncs_in_get < c.asyncs);
	awaits_read(w, view, list, n, l);
	return true;
}

bool raylook_read(const struct world *w, pid_t pid, struct raylook *ret)
{
	bool read = false;
	*ret = (struct raylook){.n = 0};
	for (int i = 0; i < TRIES && (!read || ret->others); i++)
		read = raylook_once(w, pid, ret);
	return read;
}

uint64_t raylook_hash(const struct raylook *l)
{
	uint64_t h = l->runs ? hash_bytes(HASH_START, (const char *)l->task.id, sizeof(l->task.id)) : HASH_START;
	for (size_t i = 0; i < l->n; i++) {
		const struct raycall_get *g = &l->wait[i].get;
		h = hash_bytes(h, (const char *)&g->first, sizeof(g->first));
		h = hash_bytes(h, (const char *)g->made, g->n_made * sizeof(*g->made));
	}
	return h;
}

/* ---- names ---- */

static void given_name_read(const struct world *w, pid_t pid, const struct raycall_actor *a,
			    char dst[static RAYHANDLE_NAME])
{
	cleanup(remote_done) struct remote r;
	remote_open(w, pid, &r);
	if (rayhandle_name_read(w, &r, a, dst) != 0)
		dst[0] = '\0';
}

void raylook_name(const struct world *w, pid_t pid, const struct raycall_actor *a, char *dst, size_t cap)
{
	char command[512], given[RAYHANDLE_NAME] = "";
	struct raytitle title;
	dst[0] = '\0';
	if (proc_command_read(w, pid, command, sizeof(command)) != 0 || !raytitle_of(span_of(command), &title) ||
	    title.idle)
		return;
	span_copy(a ? span_before(title.name, ".") : title.name, dst, cap);
	if (a)
		given_name_read(w, pid, a, given);
	if (!given[0])
		return;
	TEXT_COPY(command, dst);
	text_format(dst, cap, "%s (%s)", given, command);
}

void raylook_given_name(const struct world *w, pid_t pid, char dst[static RAYHANDLE_NAME])
{
	cleanup(raylook_done) struct raylook l = {.n = 0};
	dst[0] = '\0';
	if (raylook_read(w, pid, &l) && l.is_actor)
		given_name_read(w, pid, &l.actor, dst);
}
