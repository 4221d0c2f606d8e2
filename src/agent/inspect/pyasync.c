#include "agent/inspect/pyasync.h"

#include <string.h>

#include "base/buf.h"
#include "base/vec.h"

#define LOOPS_MAX 64
#define NAMES_SHOWN 3

void pyasync_done(struct pyasync *a)
{
	pytasks_done(&a->tasks);
	free(a->loop);
	*a = (struct pyasync){.n_loops = 0};
}

/* ---- reading ---- */

/* Adds the loop that a thread runs, if it runs one. */
static int loop_add(const struct world *w, struct procview *v, const struct pythread *t, struct pyasync *a)
{
	struct pyasync_loop l = {.tid = t->tid};
	struct threadwait call;
	struct pystack stack;
	if (!standstill_token(w, v->via, t->tid, l.token, &call))
		l.token[0] = '\0';
	int e = pystacks_read(v->stacks, t, false, &stack);
	if (e || stack.n == 0)
		return e < 0 || e == WORLD_GONE || e == WORLD_DENIED ? e : 0;
	e = pytasks_loop_of(&v->rt, &v->remote, stack.frames, stack.n, &l.at);
	if (e == 0 && (l.at.loop || l.at.until))
		a->loop[a->n_loops++] = l;
	return e;
}

/* Of a loop of which only the main task is known, the loop; those whose main task is none are left out. */
static void loops_by_tasks(struct pyasync *a)
{
	size_t n = 0;
	for (size_t i = 0; i < a->n_loops; i++) {
		struct pyasync_loop l = a->loop[i];
		for (size_t k = 0; k < a->tasks.n && !l.at.loop; k++)
			if (a->tasks.task[k].addr == l.at.until)
				l.at.loop = a->tasks.task[k].loop;
		if (l.at.loop)
			a->loop[n++] = l;
	}
	a->n_loops = n;
}

int pyasync_read(const struct world *w, struct procview *v, struct pyasync *ret)
{
	struct pyasync a = {.n_loops = 0};
	const struct pythread *py = NULL;
	size_t n = 0;
	*ret = a;
	if (!v->has_python || !v->stacks || v->rt.free_threaded)
		return 0;
	int e = procview_python_threads(v, &py, &n);
	if (e)
		return e < 0 || e == WORLD_GONE || e == WORLD_DENIED ? e : 0;
	a.loop = calloc(LOOPS_MAX, sizeof(*a.loop));
	if (!a.loop)
		return -ENOMEM;
	for (size_t i = 0; i < n && e == 0 && a.n_loops < LOOPS_MAX; i++)
		e = py[i].tid > 0 ? loop_add(w, v, &py[i], &a) : 0;
	if (e == 0 && a.n_loops)
		e = pytasks_read(w, &v->rt, &v->remote, v->codes, py, n, &a.tasks);
	if (e)
		pyasync_done(&a);
	else
		loops_by_tasks(&a);
	*ret = a;
	return e;
}

const struct pyasync_loop *pyasync_loop_of(const struct pyasync *a, const struct pytask *t)
{
	for (size_t i = 0; i < a->n_loops; i++)
		if (a->loop[i].at.loop == t->loop)
			return &a->loop[i];
	return NULL;
}

/* ---- in words ---- */

/* "task 'a'", "tasks 'a', 'b'": those that it awaits, or (lock) that hold what it waits for. False: none. */
static bool awaited_add(const struct pyasync *a, size_t task, bool lock, const char *before, struct buf *b)
{
	const struct pytasks *t = &a->tasks;
	size_t n = 0, at = 0;
	for (size_t i = 0; i < t->n_links; i++)
		n += t->link[i].waiter == task && t->link[i].lock == lock;
	if (n == 0)
		return false;
	buf_add(b, before);
	buf_add(b, n == 1 ? "task" : "tasks");
	for (size_t i = 0; i < t->n_links && at < NAMES_SHOWN; i++)
		if (t->link[i].waiter == task && t->link[i].lock == lock)
			buf_printf(b, "%s '%s'", at++ ? "," : "", t->task[t->link[i].awaited].name);
	if (n > at)
		buf_printf(b, " and %zu more", n - at);
	return true;
}

void pyasync_awaits_text(const struct pyasync *a, size_t task, char *dst, size_t cap)
{
	const struct pytask *t = &a->tasks.task[task];
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	if (t->moved || t->ready)
		return;
	if (!awaited_add(a, task, false, "", &b))
		buf_add(&b, t->on[0]	  ? t->on
			    : t->work	  ? "the result of a pool"
			    : t->forsaken ? "a future that nothing else refers to"
					  : "a future");
	if (t->on[0] && t->forsaken)
		buf_add(&b, " of an object that nothing else refers to");
	(void)awaited_add(a, task, true, ", held by ", &b);
	if (t->fd >= 0)
		buf_printf(&b, " (descriptor %d)", t->fd);
}
