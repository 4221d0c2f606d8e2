#include "agent/wait/waitgo.h"

#include <string.h>

#include "agent/inspect/goview.h"
#include "base/buf.h"
#include "base/vec.h"
#include "sense/go/gowaits.h"
#include "sense/wait/fdholders.h"

/* Programs of Go that are read at one look, and threads that even the smallest has. */
#define PROCESSES_MOST 64
#define THREADS_LEAST 3
#define PLACE_MAX 100

struct waitgo_process {
	pid_t pid;
	struct goroutines s; /* owned */
	struct gonear near; /* owned */
	bool searched; /* `near` is there */
	uint64_t *inode; /* of each; owned */
	char (*place)[PLACE_MAX]; /* of each; owned */
	pid_t *idle; /* owned */
	size_t n_idle;
};

static void waitgo_process_done(struct waitgo_process *p)
{
	goroutines_done(&p->s);
	gonear_done(&p->near);
	free(p->inode);
	free(p->place);
	free(p->idle);
	*p = (struct waitgo_process){.pid = 0};
}

void waitgo_done(struct waitgo *g)
{
	for (size_t i = 0; i < g->n; i++)
		waitgo_process_done(&g->process[i]);
	free(g->process);
	*g = (struct waitgo){.n = 0};
}

/* ---- one process ---- */

static void inodes_read(const struct world *w, struct waitgo_process *p)
{
	cleanup(fdtable_done) struct fdtable fds = {.n = 0};
	if (fdtable_read(w, p->pid, false, &fds) != 0)
		return;
	for (size_t i = 0; i < p->s.n; i++) {
		const struct goroutine *g = &p->s.item[i];
		const struct fdentry *e = g->fd >= 0 ? fdtable_find(&fds, g->fd) : NULL;
		if (e && (e->kind == FD_SOCKET || e->kind == FD_PIPE || e->kind == FD_FILE))
			p->inode[i] = e->number;
	}
}

static bool on_any_stack(const struct goroutines *s, uint64_t sp)
{
	for (size_t i = 0; i < s->n; i++)
		if (sp >= s->item[i].stack_from && sp < s->item[i].stack_to)
			return true;
	return false;
}

/* Threads in calls that the runtime makes for itself. */
static void idle_find(const struct waitfacts *f, const struct goproc *go, struct waitgo_process *p)
{
	const struct waitfact_process *x = waitfacts_process(f, p->pid);
	for (uint32_t i = 0; x && i < x->n_threads; i++) {
		const struct waitfact_thread *t = &f->thread[x->first_thread + i];
		struct gofunc func;
		if (t->pc && !on_any_stack(&p->s, t->sp) && gopcln_find(&go->pcln, t->pc, &func) == 0)
			p->idle[p->n_idle++] = t->tid;
	}
}

/* Go 1.19 does not tell a lock from a group by the reason of the wait; the calls do. */
static void semaphore_tell(struct goproc *go, struct goroutine *g)
{
	struct goroutine_frame f[GOROUTINE_FRAMES];
	size_t n = 0;
	bool cut = false;
	if (g->wait != GOWAIT_SEMAPHORE || goroutine_frames(go, g, f, &n, &cut) != 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (span_starts(f[i].name, "sync.(*Mutex).") || span_starts(f[i].name, "sync.(*RWMutex)."))
			g->wait = GOWAIT_LOCK;
}

static int waitgo_process_fill(const struct waitfacts *f, struct goproc *go, bool last, struct waitgo_process *p)
{
	const struct waitfact_process *x = waitfacts_process(f, p->pid);
	p->inode = calloc(p->s.n + 1, sizeof(*p->inode));
	p->place = calloc(p->s.n + 1, sizeof(*p->place));
	p->idle = calloc(x ? x->n_threads + 1 : 1, sizeof(*p->idle));
	if (!p->inode || !p->place || !p->idle)
		return -ENOMEM;
	inodes_read(go->w, p);
	idle_find(f, go, p);
	if (!last)
		return 0;
	for (size_t i = 0; i < p->s.n; i++) {
		if (p->s.item[i].wait == GOWAIT_RUNTIME)
			continue;
		goview_place(go, &p->s.item[i], p->place[i], sizeof(p->place[i]));
		semaphore_tell(go, &p->s.item[i]);
	}
	int r = gonear_find(go, &p->s, &p->near);
	p->searched = r == 0 && !p->near.cut;
	return r == -ENOMEM ? r : 0;
}

/* 1: it is no program of Go's, cannot be read, or has too many goroutines. -ENOMEM. */
static int waitgo_process_read(const struct world *w, const struct waitfacts *f, pid_t pid, bool last,
			       struct waitgo_process *ret)
{
	cleanup(remote_done) struct remote r;
	cleanup(goproc_done) struct goproc go = {.table = NULL};
	cleanup(waitgo_process_done) struct waitgo_process p = {.pid = pid};
	remote_open(w, pid, &r);
	int e = goproc_open(w, &r, &go);
	if (e == 0)
		e = goroutines_read(&go, &p.s);
	if (e == 0 && p.s.n <= GOWAITS_MOST)
		e = waitgo_process_fill(f, &go, last, &p);
	if (e || p.s.n > GOWAITS_MOST)
		return e == -ENOMEM ? e : 1;
	*ret = p;
	p = (struct waitgo_process){.pid = 0};
	return 0;
}

int waitgo_look(const struct world *w, const struct waitfacts *f, const struct waitgraph_who *who, size_t n_who,
		bool last, uint64_t until_ns, struct waitgo *ret)
{
	cleanup(waitgo_done) struct waitgo g = {.process = calloc(PROCESSES_MOST, sizeof(*g.process))};
	if (!g.process)
		return -ENOMEM;
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < n_who && g.n < PROCESSES_MOST && w->mono_ns() < until_ns; i++) {
			const struct waitfact_process *p = waitfacts_process(f, who[i].pid);
			if (who[i].main != (turn == 0) || !p || p->n_threads < THREADS_LEAST)
				continue;
			int r = waitgo_process_read(w, f, p->pid, last, &g.process[g.n]);
			if (r < 0)
				return r;
			g.n += r == 0;
		}
	*ret = g;
	g = (struct waitgo){.n = 0};
	return 0;
}

/* ---- into the looks ---- */

static struct gowaits gowaits_made(const struct waitgo_process *p, bool near)
{
	return (struct gowaits){.pid = p->pid,
				.s = &p->s,
				.inode = p->inode,
				.near = near ? &p->near : NULL,
				.idle = p->idle,
				.n_idle = p->n_idle};
}

static const struct waitgo_process *waitgo_find(const struct waitgo *g, pid_t pid)
{
	for (size_t i = 0; g && i < g->n; i++)
		if (g->process[i].pid == pid)
			return &g->process[i];
	return NULL;
}

const struct goroutines *waitgo_of(const struct waitgo *g, pid_t pid)
{
	const struct waitgo_process *p = waitgo_find(g, pid);
	return p ? &p->s : NULL;
}

/* Where the goroutines stand, in the place of what was known of the threads. */
static int waitgo_hints(const struct waitgo *now, const struct gowaits *g, size_t n, const struct waitgo_into *into)
{
	size_t kept = 0;
	struct waithint *hint = *into->hint;
	for (size_t i = 0; i < *into->n_hints; i++) {
		bool other = true;
		for (size_t k = 0; k < n; k++)
			other &= g[k].pid != hint[i].pid;
		if (other)
			hint[kept++] = hint[i];
	}
	*into->n_hints = kept;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < g[i].s->n; k++) {
			const struct waitgo_process *p = waitgo_find(now, g[i].pid);
			struct waithint h = {.kind = WAITHINT_PLACE, .pid = g[i].pid, .tid = gowaits_tid(&g[i], k)};
			if (!p || !p->place[k][0])
				continue;
			TEXT_COPY(h.text, p->place[k]);
			if (vec_room(into->hint, into->cap_hints, *into->n_hints + 1) < 0)
				return -ENOMEM;
			(*into->hint)[(*into->n_hints)++] = h;
		}
	return 0;
}

int waitgo_put(const struct waitgo *before, const struct waitgo *now, const struct waitgo_into *into)
{
	struct gowaits then[PROCESSES_MOST], here[PROCESSES_MOST];
	size_t n = 0;
	for (size_t i = 0; i < now->n && n < PROCESSES_MOST; i++) {
		const struct waitgo_process *p = &now->process[i], *old = waitgo_find(before, p->pid);
		if (!p->searched || (into->before && !old))
			continue;
		here[n] = gowaits_made(p, true);
		if (old)
			then[n] = gowaits_made(old, false);
		if (gowaits_can(into->now, &here[n]) && (!old || gowaits_can(into->before, &then[n])))
			n++;
	}
	int r = into->before ? gowaits_put(into->before, then, n) : 0;
	if (r == 0)
		r = gowaits_put(into->now, here, n);
	return r ? r : waitgo_hints(now, here, n, into);
}
