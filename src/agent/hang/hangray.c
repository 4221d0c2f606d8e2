#include "agent/hang/hangray.h"

#include <stdlib.h>
#include <string.h>

#include "agent/inspect/procview.h"
#include "base/buf.h"
#include "base/hash.h"
#include "sense/net/fdtarget.h"
#include "sense/proc/maps.h"
#include "sense/pylib/raycall.h"

/* Processes in ray.get() whose time limit is read; of more it is not known. */
#define GETS_MOST 32
#define THREADS_MOST 256 /* with Python states, of one of them */
#define CALLS_TRIES 3

struct seen {
	size_t gets; /* processes in ray.get() */
	uint64_t results[RAYSTAND_PROCESSES]; /* what each of them waits for, as a hash */
};

/* The raylet of the job; NULL: it has none. ret_others: it has several. */
static const struct hangprocs_member *raylet_of(const struct hangprocs *procs, bool *ret_others)
{
	const struct hangprocs_member *found = NULL;
	for (size_t i = 0; i < procs->n_now; i++) {
		const struct hangprocs_member *m = &procs->now[i];
		if (m->state == 'Z' || strcmp(m->comm, "raylet") != 0)
			continue;
		*ret_others = found != NULL;
		found = m;
	}
	return found;
}

static bool places_read(const struct world *w, pid_t raylet, struct rayplaces *ret)
{
	char link[512], folder[256];
	struct fd_link kind;
	for (int fd = 1; fd <= 2; fd++) {
		cleanup(raylogs_done) struct raylogs logs = RAYLOGS_NONE;
		if (fd_link_read(w, raylet, fd, &kind, link, sizeof(link)) == 0 &&
		    rayplaces_folder(span_of(link), folder, sizeof(folder)))
			return raylogs_open(w, raylet, folder, &logs) == 0 && rayplaces_read(&logs, ret) == 0;
	}
	return false;
}

/* ---- processes ---- */

static const struct dump_process *process_dumped(const struct stackdump *d, pid_t pid)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->processes[i].pid == pid)
			return &d->processes[i];
	return NULL;
}

/* What it does in each of the dumps, and in the same place. */
static enum raystand_does does_in_all(const struct stackdump *const *dumps, size_t n, pid_t pid)
{
	enum raystand_does does = RAYSTAND_SOMETHING;
	for (size_t i = 0; i < n; i++) {
		const struct dump_process *p = process_dumped(dumps[i], pid);
		const enum raystand_does now = p ? raystand_does(p) : RAYSTAND_SOMETHING;
		if (i > 0 && now != does)
			return RAYSTAND_SOMETHING;
		does = now;
	}
	return does;
}

static bool uses_ray(const struct world *w, pid_t pid)
{
	cleanup(maps_done) struct maps m = {.n = 0};
	if (maps_read(w, pid, &m) != 0)
		return true; /* it cannot be told */
	for (size_t i = 0; i < m.n; i++)
		if (strstr(m.rows[i].path, "/ray/_raylet.so"))
			return true;
	return false;
}

/* ---- whose calls a process waits for ---- */

/* What the Python threads of a process do with Ray at one look. */
struct calls {
	struct raycall_actor awaits[RAYSTAND_AWAITS], actor;
	size_t n_awaits, gets;
	bool is_actor;
	bool endless; /* the main thread waits in ray.get() without a time limit */
	bool others; /* a thread is free, runs a call that waits for something else, or cannot be read */
	uint64_t results; /* a hash of the first result of each wait */
};

static bool runs_call(const struct pyframe *frame, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pyframe_is(&frame[i], "actor_method_executor", "/ray/_private/function_manager.py") ||
		    pyframe_is(&frame[i], "run_forever", "/asyncio/base_events.py"))
			return true;
	return false;
}

static void thread_count(struct procview *view, const struct pystack *stack, bool main, struct calls *c)
{
	struct raycall_get get;
	if (main)
		c->is_actor = raycall_actor_read(&view->rt, &view->remote, stack->frames, stack->n, &c->actor) == 0;
	if (raycall_get_read(&view->rt, &view->remote, stack->frames, stack->n, &get) == 0) {
		c->gets++;
		c->endless |= main && get.endless;
		c->others |= !get.endless || !get.only_calls;
		c->results = hash_bytes(c->results, (const char *)&get.first, sizeof(get.first));
		for (size_t i = 0; i < get.n_targets; i++)
			c->others |= !raycall_actor_add(c->awaits, &c->n_awaits, &get.target[i]);
		return;
	}
	/* a thread of an actor's that has nothing to do has no frames, but for the main one, whose loop is one */
	const bool idle = main ? pyframe_is(&stack->frames[0], "main_loop", "/ray/_private/worker.py") : stack->n > 0;
	c->others |= !idle || (!main && runs_call(stack->frames, stack->n));
}

/* A thread that cannot be read may do anything. False: none can. */
static bool calls_read(const struct world *w, pid_t pid, struct calls *ret)
{
	static const struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *view = NULL;
	const struct pythread *list;
	struct procview_sample sample;
	struct fault f;
	size_t n;
	*ret = (struct calls){.results = HASH_START};
	if (procview_open(w, pid, &want, &view, &f) != 0 || !view->has_python ||
	    procview_python_threads(view, &list, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct pythread *t = &list[i];
		const bool main = t->tid == pid;
		if (t->tid <= 0 || (i >= THREADS_MOST && !main) ||
		    procview_sample(view, t->tid, t, PROCVIEW_WAITS, &sample) != 0 || !sample.has_python ||
		    sample.python_result != 0 || (main && sample.python.n == 0))
			ret->others = true;
		else
			thread_count(view, &sample.python, main, ret);
	}
	return true;
}

/* A thread that wakes up for a moment, to look for signals, cannot be read just then: so it is asked again. */
static bool calls_settle(const struct world *w, pid_t pid, struct calls *ret)
{
	bool read = false;
	for (int i = 0; i < CALLS_TRIES && (!read || ret->others); i++)
		read = calls_read(w, pid, ret);
	return read;
}

static bool same_calls(const struct calls *a, const struct raystand_process *p, uint64_t results)
{
	return !a->others && a->gets == p->calls && a->results == results;
}

/* How many of its threads wait in ray.get() in each of the dumps; 0: not the same, or none. */
static size_t gets_in_all(const struct stackdump *const *dumps, size_t n, pid_t pid)
{
	size_t gets = 0;
	for (size_t i = 0; i < n; i++) {
		const struct dump_process *p = process_dumped(dumps[i], pid);
		const size_t now = p ? raystand_gets(p) : 0;
		if (now == 0 || (i > 0 && now != gets))
			return 0;
		gets = now;
	}
	return gets;
}

static void ray_process(struct raystand *s, const struct world *w, const struct hangprocs_member *m,
			const struct stackdump *const *dumps, size_t n_dumps, struct seen *seen)
{
	struct calls c;
	if (s->n == RAYSTAND_PROCESSES) {
		s->cut = true;
		return;
	}
	struct raystand_process *p = &s->process[s->n++];
	*p = (struct raystand_process){.pid = m->pid, .worker = m->who.role == ROLE_RAY_WORKER};
	p->does = does_in_all(dumps, n_dumps, m->pid);
	const size_t gets = gets_in_all(dumps, n_dumps, m->pid);
	if (gets == 0)
		return;
	raystand_place(process_dumped(dumps[n_dumps - 1], m->pid), p->place, sizeof(p->place));
	const bool read = ++seen->gets <= GETS_MOST && calls_settle(w, m->pid, &c);
	if (p->does == RAYSTAND_GETS && !(read && c.endless))
		p->does = RAYSTAND_SOMETHING;
	if (!read || c.others || c.gets != gets)
		return;
	p->is_actor = c.is_actor;
	p->actor = c.actor;
	p->calls = gets;
	p->n_awaits = c.n_awaits;
	memcpy(p->awaits, c.awaits, sizeof(p->awaits));
	seen->results[s->n - 1] = c.results;
}

static void ray_processes(struct raystand *s, const struct world *w, const struct hangprocs *procs,
			  const struct stackdump *const *dumps, size_t n_dumps, struct seen *seen)
{
	for (size_t i = 0; i < procs->n_now; i++) {
		const struct hangprocs_member *m = &procs->now[i];
		if (m->state == 'Z' || m->who.role == ROLE_RAY_SYSTEM)
			continue;
		if (m->who.role == ROLE_RAY_WORKER || uses_ray(w, m->pid))
			ray_process(s, w, m, dumps, n_dumps, seen);
	}
}

/*
 * Those that seem to wait for each other are read once more: what each waited for before all were read, and still does
 * afterwards, they all waited for at one instant.
 */
static void ray_confirm(struct raystand *s, const struct world *w, const struct seen *seen)
{
	bool changed = false;
	struct calls c;
	if (raystand_stuck(s) == 0)
		return;
	for (size_t i = 0; i < s->n; i++) {
		struct raystand_process *p = &s->process[i];
		if (!p->stuck || (calls_settle(w, p->pid, &c) && same_calls(&c, p, seen->results[i])))
			continue;
		p->n_awaits = 0;
		changed = true;
	}
	if (changed)
		(void)raystand_stuck(s);
}

struct raystand *hangray_make(const struct world *w, const struct hangprocs *procs,
			      const struct stackdump *const *dumps, size_t n_dumps)
{
	bool others = false;
	struct seen seen = {.gets = 0};
	const struct hangprocs_member *raylet = raylet_of(procs, &others);
	cleanup(freep) struct raystand *s = raylet && n_dumps > 0 ? calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return NULL;
	if (!places_read(w, raylet->pid, &s->places) || !s->places.has_state)
		s->places = (struct rayplaces){.has_state = false};
	s->others = others;
	ray_processes(s, w, procs, dumps, n_dumps, &seen);
	ray_confirm(s, w, &seen);
	return s->places.n_demands > 0 || seen.gets > 0 ? take(&s) : NULL;
}
