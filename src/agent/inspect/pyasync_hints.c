/* What the tasks of an event loop say about the thread that runs it: where their chains end, and for whom they wait. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/inspect/pyasync.h"
#include "agent/inspect/pytext.h"
#include "base/buf.h"
#include "base/mask/mask.h"
#include "base/vec.h"
#include "sense/python/pylocks.h"

#define LEAVES_MAX 64 /* ends of chains that are looked at */
#define ARROWS_MAX 16 /* hints of one thread */

struct hinting {
	const struct world *w;
	struct procview *v;
	const struct pyasync *a;
	const struct pyasync_loop *loop;
	size_t leaf[LEAVES_MAX]; /* tasks at which the chains end */
	size_t n_leaves, n_more;
	bool exact; /* the loop runs for one task, at which the chains begin */
	bool serves; /* its main task only serves, or there is none: what matters are the tasks that nobody awaits */
	struct waithint hint[ARROWS_MAX];
	size_t n;
};

/* ---- where the chains end ---- */

static bool is_awaited(const struct pyasync *a, size_t task)
{
	for (size_t i = 0; i < a->tasks.n_links; i++)
		if (a->tasks.link[i].awaited == task)
			return true;
	return false;
}

/* True of a server's main task, which does nothing for anybody. */
static bool serves_for_ever(const struct pytask *t)
{
	return strcmp(t->on, "loop.serve_forever") == 0 || strcmp(t->on, "Server.serve_forever") == 0;
}

/* True if the chains begin at this task: the loop runs for it, or, where that is no task, nobody awaits it. */
static bool is_root(const struct hinting *x, size_t task)
{
	const struct pytasks *t = &x->a->tasks;
	if (x->exact)
		return t->task[task].addr == x->loop->at.until;
	return t->task[task].loop == x->loop->at.loop && !is_awaited(x->a, task) && !serves_for_ever(&t->task[task]);
}

static size_t tasks_of_loop(const struct hinting *x)
{
	size_t n = 0;
	for (size_t i = 0; i < x->a->tasks.n; i++)
		n += x->a->tasks.task[i].loop == x->loop->at.loop;
	return n;
}

/* Sees what the loop runs for. */
static void loop_kind_find(struct hinting *x)
{
	const struct pytasks *t = &x->a->tasks;
	for (size_t i = 0; i < t->n; i++) {
		if (t->task[i].addr != x->loop->at.until)
			continue;
		x->serves = serves_for_ever(&t->task[i]) && tasks_of_loop(x) > 1;
		x->exact = !x->serves;
	}
}

/* Marks what marked tasks await. Returns whether there was anything to mark. */
static bool links_follow(const struct pytasks *t, bool *seen)
{
	bool changed = false;
	for (size_t i = 0; i < t->n_links; i++) {
		const struct pytasks_link *l = &t->link[i];
		changed |= seen[l->waiter] && !seen[l->awaited];
		seen[l->awaited] |= seen[l->waiter];
	}
	return changed;
}

static bool awaits_any(const struct pytasks *t, size_t task)
{
	for (size_t i = 0; i < t->n_links; i++)
		if (t->link[i].waiter == task)
			return true;
	return false;
}

static int leaves_find(struct hinting *x)
{
	const struct pytasks *t = &x->a->tasks;
	cleanup(freep) bool *seen = calloc(t->n + 1, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		seen[i] = is_root(x, i);
	while (links_follow(t, seen))
		;
	for (size_t i = 0; i < t->n; i++) {
		if (!seen[i] || awaits_any(t, i) || t->task[i].moved)
			continue;
		if (x->n_leaves < LEAVES_MAX)
			x->leaf[x->n_leaves++] = i;
		else
			x->n_more++;
	}
	return 0;
}

/* ---- in words ---- */

/* "Queue.get at data.py:25 in train" */
static void leaf_text(const struct hinting *x, size_t task, char *dst, size_t cap)
{
	const struct pytask *t = &x->a->tasks.task[task];
	char awaits[200];
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	pyasync_awaits_text(x->a, task, awaits, sizeof(awaits));
	pytext_add(&b, awaits);
	if (t->place < t->n)
		pytext_place_add(&b, &x->v->rt, &t->frame[t->place], 0);
}

/* "asyncio task 'train' awaits Queue.get at data.py:25 in train", "asyncio tasks 'a', 'b' await …, and 3 more" */
static void loop_summary(const struct hinting *x, size_t leaf, char *dst, size_t cap)
{
	char text[160], other[160];
	struct buf b = {.text = dst, .cap = cap};
	size_t same = 0;
	buf_reset(&b);
	leaf_text(x, x->leaf[leaf], text, sizeof(text));
	for (size_t i = 0; i < x->n_leaves; i++) {
		leaf_text(x, x->leaf[i], other, sizeof(other));
		same += strcmp(text, other) == 0;
	}
	size_t rest = x->n_leaves + x->n_more - same;
	if (same == 1) {
		buf_add(&b, "asyncio task '");
		pytext_add(&b, x->a->tasks.task[x->leaf[leaf]].name);
		buf_add(&b, "' awaits ");
	} else {
		buf_printf(&b, "%zu asyncio tasks await ", same);
	}
	buf_add(&b, text);
	if (rest)
		buf_printf(&b, "; %zu more %s", rest, rest == 1 ? "task waits" : "tasks wait");
}

/* "; task 'fill' has failed: IndexError at data.py:25 in fill": why nobody may come to set it. */
static void failure_add(const struct hinting *x, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .len = strlen(dst), .cap = cap};
	for (size_t i = 0; i < x->a->tasks.n_failed; i++) {
		const struct pytask_failed *f = &x->a->tasks.failed[i];
		if (f->loop != x->loop->at.loop)
			continue;
		buf_add(&b, "; task '");
		pytext_add(&b, f->name);
		buf_add(&b, "' has failed: ");
		pytext_add(&b, f->type);
		if (f->frame.code)
			pytext_place_add(&b, &x->v->rt, &f->frame, 0);
		return; /* one is enough */
	}
}

/* ---- for whom ---- */

/* The worker of a pool that computes this future. 0: none is seen to. */
static int worker_find(struct hinting *x, uint64_t work, pid_t *ret)
{
	cleanup(pylocks_freep) struct pylocks *locks = NULL;
	const struct pythread *py = NULL;
	size_t n = 0;
	*ret = 0;
	int e = pylocks_new(&x->v->rt, &x->v->remote, &locks);
	if (e == 0 && locks)
		e = procview_python_threads(x->v, &py, &n);
	for (size_t i = 0; i < n && e == 0 && locks && *ret == 0; i++) {
		struct pystack stack;
		uint64_t future = 0;
		if (py[i].tid <= 0 || py[i].tid == x->loop->tid || pystacks_read(x->v->stacks, &py[i], false, &stack))
			continue;
		const struct pylocks_frames frames = {stack.frames, stack.n, stack.cut};
		e = pylocks_future(locks, &frames, &future);
		if (e == 0 && future == work)
			*ret = py[i].tid;
	}
	return e < 0 || e == WORLD_GONE || e == WORLD_DENIED ? e : 0;
}

/* The inode behind a descriptor: of a socket or pipe it identifies the fact. 0: it is none. */
static uint64_t inode_of(const struct hinting *x, int fd)
{
	char path[48], link[64];
	unsigned long long inode = 0;
	TEXT_FORMAT(path, "%d/fd/%d", (int)x->v->via, fd);
	ssize_t n = readlinkat(x->w->proc_fd, path, link, sizeof(link) - 1);
	link[MAX(n, 0)] = '\0';
	const char *at = strstr(link, ":[");
	if (at)
		inode = strtoull(at + 2, NULL, 10);
	return inode;
}

static int leaf_hint(struct hinting *x, size_t leaf)
{
	const struct pytask *t = &x->a->tasks.task[x->leaf[leaf]];
	struct waithint h = {.kind = WAITHINT_TEXT, .pid = x->v->pid, .tid = x->loop->tid};
	pid_t worker = 0;
	int e = t->work ? worker_find(x, t->work, &worker) : 0;
	if (e)
		return e;
	if (worker) {
		h.kind = WAITHINT_OWNER;
		h.owner_pid = x->v->pid;
		h.owner_tid = worker;
		TEXT_COPY(h.owner_text, "computes the result");
	} else if (t->fd >= 0) {
		h.id = inode_of(x, t->fd);
		h.kind = h.id ? WAITHINT_FACT : WAITHINT_TEXT;
		h.proof = x->exact && x->n_leaves + x->n_more == 1 && !t->timed;
	}
	/* Whoever has the task may still cancel it, so this names and proves nothing. */
	if (h.kind == WAITHINT_TEXT && t->forsaken && !t->timed && x->n_leaves + x->n_more == 1)
		h.kind = WAITHINT_NOBODY;
	if (h.kind == WAITHINT_TEXT && x->n > 0)
		return 0; /* one text is enough */
	loop_summary(x, leaf, h.text, sizeof(h.text));
	if (h.kind == WAITHINT_TEXT || h.kind == WAITHINT_NOBODY)
		failure_add(x, h.text, sizeof(h.text));
	mask_text(h.text); /* tasks are called what the program likes */
	x->hint[x->n++] = h;
	return 0;
}

/* Code of the program, none of a library, whose futures may be set by what comes in on a connection. */
static bool is_own_code(const struct pyframe *f)
{
	return f->known && !strstr(f->known->file, "-packages/") && !strstr(f->known->file, "/lib/python");
}

/*
 * True if all that a server's tasks wait for is set by some other task of the loop, or by a request that has not come:
 * what comes in on its connections is read by no task.
 */
static bool waits_within(const struct hinting *x)
{
	for (size_t i = 0; i < x->a->tasks.n; i++) {
		const struct pytask *t = &x->a->tasks.task[i];
		if (t->loop == x->loop->at.loop && (t->ready || t->moved || t->cut || t->timed || t->work))
			return false;
	}
	for (size_t i = 0; i < x->n_leaves; i++) {
		const struct pytask *t = &x->a->tasks.task[x->leaf[i]];
		if (t->fd >= 0 || t->place >= t->n || !is_own_code(&t->frame[t->place]))
			return false;
	}
	return x->serves && x->n_leaves > 0 && x->n_more == 0 && !x->a->tasks.cut;
}

/* One hint for all of them: they wait for something of their own loop. */
static void within_hint(struct hinting *x)
{
	struct waithint h = {.kind = WAITHINT_WITHIN, .pid = x->v->pid, .tid = x->loop->tid};
	loop_summary(x, 0, h.text, sizeof(h.text));
	failure_add(x, h.text, sizeof(h.text));
	mask_text(h.text);
	x->hint[x->n++] = h;
}

static int loop_hints(struct hinting *x)
{
	loop_kind_find(x);
	int e = leaves_find(x);
	if (e == 0 && waits_within(x)) {
		within_hint(x);
		return 0;
	}
	for (size_t i = 0; i < x->n_leaves && e == 0 && x->n < ARROWS_MAX; i++)
		if (!x->a->tasks.task[x->leaf[i]].ready)
			e = leaf_hint(x, i);
	return e;
}

int pyasync_hints(const struct world *w, struct procview *v, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	cleanup(pyasync_done) struct pyasync a = {.n_loops = 0};
	int e = pyasync_read(w, v, &a);
	for (size_t i = 0; i < a.n_loops && e == 0; i++) {
		struct hinting x = {.w = w, .v = v, .a = &a, .loop = &a.loop[i]};
		/* One that is not idle runs a task, or is the copy that a task has forked. */
		if (!a.loop[i].token[0] || !a.loop[i].at.idle)
			continue;
		e = loop_hints(&x);
		if (e || standstill_moved(w, v->via, a.loop[i].tid, a.loop[i].token))
			continue;
		if (vec_room(hint, cap_hints, *n_hints + x.n) < 0)
			return -ENOMEM;
		memcpy(*hint + *n_hints, x.hint, x.n * sizeof(*x.hint));
		*n_hints += x.n;
	}
	return e;
}
