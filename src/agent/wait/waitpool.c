#include "agent/wait/waitpool.h"

#include <string.h>

#include "agent/wait/waitpool_parts.h"
#include "agent/inspect/pytext.h"
#include "base/buf.h"
#include "base/vec.h"
#include "sense/proc/proc.h"
#include "sense/rank.h"

#define OWN_MOST 256 /* threads of the process itself */
#define ANCESTORS 8 /* between a worker and the process: forkserver has one */

/* ---- the threads of the process itself ---- */

/* "Pool.map at train.py:20 in main" */
static void wait_text(const struct procview *v, const struct pystack *s, const struct pypool_wait *wait, char *dst,
		      size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	size_t last = wait->frame;
	buf_reset(&b);
	while (last + 1 < s->n && pypool_is_library(&s->frames[last + 1]))
		last++;
	const struct pyframe *f = &s->frames[last];
	const char *name = f->known ? strrchr(f->known->name, '.') : NULL;
	name = name ? name + 1 : f->known ? f->known->name : "";
	bool pool = wait->of == PYPOOL_POOL, several = wait->futures != 0;
	if (pool && strcmp(name, "next") == 0)
		name = "imap";
	if (!pool && (strcmp(name, "exception") == 0 || !(wait->any || several)))
		name = "result";
	buf_add(&b, pool ? "Pool." : wait->any ? "ProcessPoolExecutor." : several ? "futures." : "Future.");
	pytext_add(&b, name);
	if (last + 1 < s->n)
		pytext_place_add(&b, &v->rt, &s->frames[last + 1], 0);
}

static void own_read(struct pooling *x, const struct pythread *py)
{
	struct pooled_thread *t = &x->own[x->n_own];
	struct procview *v = x->v;
	struct pystack s;
	*t = (struct pooled_thread){.tid = py->tid};
	struct threadwait call;
	if (!standstill_token(x->in->w, v->via, py->tid, t->token, &call)) {
		x->n_unread++;
		return;
	}
	int e = pystacks_read(v->stacks, py, false, &s);
	if (e == 0)
		e = pypool_wait_read(&v->rt, &v->remote, s.frames, s.n, &t->wait);
	if (e == 0 && t->wait.of == PYPOOL_NONE)
		e = pypool_thread_read(&v->rt, &v->remote, s.frames, s.n, &t->pool);
	if (e == 0 && t->wait.of == PYPOOL_NONE && t->pool.role == PYPOOL_NO_ROLE)
		e = pypool_worker_read(&v->rt, &v->remote, s.frames, s.n, &t->worker);
	if (e) {
		x->n_unread++;
		return;
	}
	if (t->wait.of != PYPOOL_NONE)
		wait_text(v, &s, &t->wait, t->text, sizeof(t->text));
	size_t at = t->pool.role != PYPOOL_NO_ROLE ? t->pool.frame : t->worker.frame;
	struct buf b = BUF_ON(t->place);
	buf_reset(&b);
	if (t->wait.of == PYPOOL_NONE && at < s.n)
		pytext_place_add(&b, &v->rt, &s.frames[at], 0);
	x->n_own++;
	x->n_waits += t->wait.of != PYPOOL_NONE;
	x->n_pools += t->pool.role != PYPOOL_NO_ROLE;
}

static int own_threads(struct pooling *x)
{
	const struct pythread *py = NULL;
	size_t n = 0;
	if (procview_python_threads(x->v, &py, &n) != 0)
		return 0;
	x->own = calloc(MIN(n, (size_t)OWN_MOST) + 1, sizeof(*x->own));
	if (!x->own)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (x->n_own == OWN_MOST || py[i].tid <= 0 || py[i].interp_id != 0)
			x->n_unread++;
		else
			own_read(x, &py[i]);
	}
	return 0;
}

/* ---- the workers ---- */

static bool descends(const struct waitfacts *f, const struct waitfact_process *p, pid_t from)
{
	for (int up = 0; p && up < ANCESTORS && p->ppid > 1; up++) {
		if (p->ppid == from)
			return true;
		p = waitfacts_process(f, p->ppid);
	}
	return false;
}

static void worker_place(struct procview *v, const struct pystack *s, struct pooled_worker *k)
{
	struct buf b = BUF_ON(k->place);
	size_t at = k->worker.frame;
	/* Of one that has not begun: where it is on its way, for example in an import. */
	for (size_t i = s->n; k->worker.state == PYPOOL_STARTS && at == SIZE_MAX && i-- > 0;)
		if (!pypool_is_library(&s->frames[i]) && s->frames[i].known && s->frames[i].known->name[0] != '<')
			at = i;
	buf_reset(&b);
	if (at < s->n)
		pytext_place_add(&b, &v->rt, &s->frames[at], 0);
}

/* What the main thread of a process does; one that has no Python yet is on its way to it. */
static void worker_read(struct pooling *x, struct procview *v, struct pooled_worker *k)
{
	const struct pythread *py = NULL, *main;
	struct threadwait call;
	struct pystack s;
	size_t n = 0;
	k->worker.state = PYPOOL_STARTS;
	k->worker.frame = SIZE_MAX;
	k->still = waitfacts_thread(x->in->now, v->pid, v->pid) &&
		   standstill_token(x->in->w, v->via, v->pid, k->token, &call);
	if (!v->has_python || !v->stacks || procview_python_threads(v, &py, &n) != 0)
		return;
	main = procview_python_thread(py, n, v->pid);
	int e = main ? pystacks_read(v->stacks, main, false, &s) : WORLD_GONE;
	if (e == 0)
		e = pypool_worker_read(&v->rt, &v->remote, s.frames, s.n, &k->worker);
	if (e)
		k->worker.state = PYPOOL_UNKNOWN;
	else
		worker_place(v, &s, k);
}

static bool is_held(const struct waitfacts *f, pid_t pid)
{
	const struct waitfact_thread *t = waitfacts_thread(f, pid, pid);
	for (uint32_t i = 0; t && i < t->n; i++) {
		enum waitfact_kind kind = f->fact[t->first + i].kind;
		if (kind == WAITFACT_STOPPED || kind == WAITFACT_FROZEN || kind == WAITFACT_TRACED)
			return true;
	}
	return false;
}

static int worker_look(struct pooling *x, const struct waitfact_process *p)
{
	struct fault fault = {.text = ""};
	const struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *view = NULL;
	struct proc_status status;
	struct pooled_worker k = {.pid = p->pid, .start_ticks = p->start_ticks};
	if (proc_status_read(x->in->w, p->pid, &status) != 0 ||
	    procview_open(x->in->w, p->pid, &want, &view, &fault) != 0)
		return 0;
	k.inner = status.ns_pid;
	k.held = is_held(x->in->now, p->pid);
	worker_read(x, view, &k);
	if (vec_room(&x->worker, &x->cap_workers, x->n_workers + 1) < 0)
		return -ENOMEM;
	x->worker[x->n_workers++] = k;
	return 0;
}

static int workers_look(struct pooling *x)
{
	const struct waitfacts *f = x->in->now;
	int e = 0;
	for (size_t i = 0; i < f->n_processes && e == 0; i++)
		if (f->process[i].state != 'Z' && descends(f, &f->process[i], x->v->pid)) {
			if (x->n_workers == WAITPOOL_WORKERS || x->in->w->mono_ns() > x->in->until_ns)
				return 0; /* who is not seen is taken for unknown */
			e = worker_look(x, &f->process[i]);
		}
	return e;
}

/* ---- a main thread that does not wait for a result ---- */

static bool main_waits(const struct pooling *x)
{
	for (size_t i = 0; i < x->n_own; i++)
		if (x->own[i].tid == x->v->pid)
			return x->own[i].wait.of != PYPOOL_NONE;
	return false;
}

/* Code that was made at run time says nothing to anybody: a proxy's methods. */
static bool is_made(const struct pyframe *f)
{
	return f->known && f->known->file[0] == '<';
}

/* " at train.py:20 in main", outside of the library */
static void nap_text(struct pooling *x, char *dst, size_t cap)
{
	const struct pythread *py = NULL, *main;
	struct pystack s;
	size_t n = 0, at = 0;
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	if (procview_python_threads(x->v, &py, &n) != 0)
		return;
	main = procview_python_thread(py, n, x->v->pid);
	if (!main || pystacks_read(x->v->stacks, main, false, &s) != 0)
		return;
	while (at < s.n && (pypool_is_library(&s.frames[at]) || is_made(&s.frames[at])))
		at++;
	if (at < s.n)
		pytext_place_add(&b, &x->v->rt, &s.frames[at], 0);
}

static int tasks_tell(struct pooling *x, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	char place[120];
	nap_text(x, place, sizeof(place));
	for (size_t i = 0; i < x->n_workers; i++) {
		const struct pooled_worker *k = &x->worker[i];
		if (k->worker.state != PYPOOL_HAS || k->worker.of == PYPOOL_NONE)
			continue;
		if (vec_room(hint, cap_hints, *n_hints + 1) < 0)
			return -ENOMEM;
		struct waithint *h = &(*hint)[(*n_hints)++];
		*h = (struct waithint){.kind = WAITHINT_TASK,
				       .pid = x->v->pid,
				       .tid = x->v->pid,
				       .owner_pid = k->pid,
				       .owner_tid = k->pid,
				       .rank = NO_RANK};
		TEXT_FORMAT(h->text, "looks for results of its pool again and again%s", place);
		TEXT_FORMAT(h->owner_text, "has a task%s", k->place);
	}
	return 0;
}

static void pooling_done(struct pooling *x)
{
	free(x->own);
	free(x->worker);
}

int waitpool_read(const struct waitpool_in *in, struct procview *v, struct waithint **hint, size_t *n_hints,
		  size_t *cap_hints)
{
	cleanup(pooling_done) struct pooling x = {.in = in, .v = v};
	if (!v->has_python || !v->stacks)
		return 0;
	int e = own_threads(&x);
	bool looks = x.n_pools > 0 && !main_waits(&x);
	if (e == 0 && (x.n_waits || looks))
		e = workers_look(&x);
	if (e == 0 && looks)
		e = tasks_tell(&x, hint, n_hints, cap_hints);
	for (size_t i = 0; i < x.n_own && e == 0 && x.n_waits; i++) {
		struct waitpool_found found = {.n = 0};
		if (x.own[i].wait.of == PYPOOL_NONE)
			continue;
		waitpool_decide(&x, &x.own[i], &found);
		if (standstill_moved(in->w, v->via, x.own[i].tid, x.own[i].token))
			continue;
		if (vec_room(hint, cap_hints, *n_hints + found.n) < 0)
			return -ENOMEM;
		memcpy(*hint + *n_hints, found.hint, found.n * sizeof(*found.hint));
		*n_hints += found.n;
	}
	return e;
}
