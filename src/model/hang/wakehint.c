#include "model/hang/wakehint.h"

#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "sense/rank.h"

static const struct waitgraph_who *process_who(const struct wakehint_in *in, pid_t pid)
{
	for (size_t i = 0; i < in->n_who; i++)
		if (in->who[i].pid == pid)
			return &in->who[i];
	return NULL;
}

int wakeplace_compare(const void *a, const void *b)
{
	const struct wakeplace *x = a, *y = b;
	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) : (x->tid > y->tid) - (x->tid < y->tid);
}

/* NULL: it runs no Python, as far as is known. */
static const struct wakeplace *wakehint_python_of(const struct wakehint_in *in, const struct waitfact_thread *t)
{
	const struct wakeplace key = {.pid = t->pid, .tid = t->tid};
	return in->n_places ? bsearch(&key, in->place, in->n_places, sizeof(key), wakeplace_compare) : NULL;
}

/* A thread of the facts as the history knows it. */
static struct wake_who wakehint_who(const struct wakehint_in *in, const struct waitfact_thread *t)
{
	const struct waitgraph_who *p = process_who(in, t->pid);
	struct wake_who w = {
		.pid = t->pid,
		.tid = t->tid,
		.start_ticks = t->start_ticks,
		.rank = p ? p->rank : NO_RANK,
		.main = t->tid == t->pid,
	};
	if (p)
		TEXT_COPY(w.role, p->role);
	const struct wakeplace *python = wakehint_python_of(in, t);
	TEXT_COPY(w.name, python && python->name[0] ? python->name : t->name);
	return w;
}

/* False: it is in Python, and where is unknown. */
static bool wait_of(const struct wakehint_in *in, const struct waitfact_thread *t, struct wake_wait *ret)
{
	*ret = (struct wake_wait){.kind = t->nr >= 0 ? wake_kind_of(t->nr) : WAKE_NONE, .arg = t->arg0};
	const struct wakeplace *python = ret->kind == WAKE_LOCK ? wakehint_python_of(in, t) : NULL;
	ret->place = python ? python->place : 0;
	return ret->kind != WAKE_NONE && (!python || ret->place != 0);
}

struct telling {
	const struct wakehint_in *in;
	struct wake_who *who; /* of each thread of the facts */
};

/* The one thread that has the usual waker's role for this thread; NULL: none, or several. */
static const struct waitfact_thread *by_role(const struct telling *k, const struct wake_who *wakee,
					     const struct wakehist_usual *u, bool own_process)
{
	const struct waitfact_thread *found = NULL;
	for (size_t i = 0; i < k->in->facts->n_threads; i++) {
		const struct waitfact_thread *t = &k->in->facts->thread[i];
		const struct wake_who *w = &k->who[i];
		bool near = own_process ? w->pid == wakee->pid : w->pid != wakee->pid && w->rank == wakee->rank;
		if (!near || t->ended || w->tid == wakee->tid || w->main != u->by.main ||
		    strcmp(w->role, u->by.role) != 0 || strcmp(w->name, u->by.name) != 0)
			continue;
		if (found)
			return NULL;
		found = t;
	}
	return found;
}

static const struct waitfact_thread *live_waker(const struct telling *k, const struct wake_who *wakee,
						const struct wakehist_usual *u)
{
	if (u->by_role)
		return by_role(k, wakee, u, strcmp(u->by.role, wakee->role) == 0);
	const struct waitfact_thread *t = waitfacts_thread(k->in->facts, u->by.pid, u->by.tid);
	return t && t->start_ticks == u->by.start_ticks && !t->ended ? t : NULL;
}

static void name_add(struct buf *b, const char *name)
{
	buf_add(b, " (");
	for (const char *c = name; *c; c++)
		buf_printf(b, "%c", *c >= ' ' && *c < 0x7f ? *c : '?');
	buf_add(b, ")");
}

static void text_make(const struct wake_who *wakee, const struct wakehist_usual *u, const struct waitfact_thread *t,
		      const char *name, struct waithint *h)
{
	struct buf b = BUF_ON(h->text);
	pid_t pid = t ? t->pid : u->by.pid, tid = t ? t->tid : u->by.tid;
	buf_reset(&b);
	buf_add(&b, "usually woken by ");
	if (pid == wakee->pid)
		buf_printf(&b, "%s%d", tid == pid ? "the main thread, " : "thread ", (int)tid);
	else if (tid == pid)
		buf_printf(&b, "process %d", (int)pid);
	else
		buf_printf(&b, "thread %d of process %d", (int)tid, (int)pid);
	name_add(&b, name);
	if (!t)
		buf_add(&b, ", which has ended");
	buf_printf(&b, ": %llu of %llu times%s", (unsigned long long)u->n, (unsigned long long)u->of,
		   u->by_role ? ", by threads like it" : "");
}

static int thread_tell(const struct telling *k, size_t at, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	const struct waitfact_thread *t = &k->in->facts->thread[at];
	struct wake_wait wait;
	struct wakehist_usual usual;
	if (t->runs || t->ended || t->n == 0 || !wait_of(k->in, t, &wait) ||
	    !wakehist_usual(k->in->hist, &k->who[at], &wait, &usual))
		return 0;
	const struct waitfact_thread *by = live_waker(k, &k->who[at], &usual);
	if ((!by && usual.by_role) || by == t)
		return 0;
	if (vec_room(hint, cap_hints, *n_hints + 1) < 0)
		return -ENOMEM;
	struct waithint *h = &(*hint)[(*n_hints)++];
	*h = (struct waithint){.kind = WAITHINT_USUAL, .pid = t->pid, .tid = t->tid, .rank = NO_RANK};
	if (by) {
		h->owner_pid = by->pid;
		h->owner_tid = by->tid;
	}
	text_make(&k->who[at], &usual, by, by ? k->who[by - k->in->facts->thread].name : usual.by.name, h);
	return 0;
}

int wakehint_add(const struct wakehint_in *in, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	const struct waitfacts *f = in->facts;
	cleanup(freep) struct wake_who *who = calloc(f->n_threads + 1, sizeof(*who));
	const struct telling k = {.in = in, .who = who};
	if (in->hist->n == 0)
		return 0;
	if (!who)
		return -ENOMEM;
	for (size_t i = 0; i < f->n_threads; i++)
		who[i] = wakehint_who(in, &f->thread[i]);
	for (size_t i = 0; i < f->n_threads; i++)
		if (thread_tell(&k, i, hint, n_hints, cap_hints) < 0)
			return -ENOMEM;
	return 0;
}
