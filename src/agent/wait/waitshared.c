#include "agent/wait/waitshared.h"

#include <string.h>

#include "agent/inspect/pywaits.h"
#include "base/buf.h"
#include "base/vec.h"

#define PROCESSES_MOST 256 /* that are looked into */

/* Somebody who holds a lock in shared memory. */
struct shared_holder {
	uint64_t id; /* as of the facts */
	pid_t pid;
	struct pywaits_held held;
};

struct sharing {
	const struct world *w;
	const struct waitfacts *facts;
	uint64_t until_ns;
	pid_t seen[PROCESSES_MOST];
	size_t n_seen;
	struct shared_holder *holder; /* owned */
	size_t n, cap;
};

static int holders_of(struct sharing *x, pid_t pid)
{
	struct fault fault = {.text = ""};
	const struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *view = NULL;
	cleanup(maps_done) struct maps maps = {.n = 0};
	cleanup(freep) struct pywaits_held *held = NULL;
	size_t n = 0;
	if (procview_open(x->w, pid, &want, &view, &fault) != 0 || pywaits_held_read(x->w, view, &held, &n) != 0 ||
	    n == 0 || maps_read(x->w, pid, &maps) != 0)
		return 0; /* without Python, or not to be looked into */
	if (vec_room(&x->holder, &x->cap, x->n + n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		bool shared = strcmp(held[i].type, "SemLock") == 0 && !held[i].may_release;
		const struct map_row *row = shared ? maps_find(&maps, held[i].word) : NULL;
		if (row && row->flags & MAP_IS_SHARED)
			x->holder[x->n++] =
				(struct shared_holder){waitfacts_shared_id(row, held[i].word), pid, held[i]};
	}
	return 0;
}

/* Looks once into each process that maps what a fact is about. */
static int processes_look(struct sharing *x, const struct waitfact *f)
{
	for (uint32_t i = 0; i < f->n_holders; i++) {
		pid_t pid = x->facts->holder[f->first_holder + i].pid;
		bool seen = x->n_seen == PROCESSES_MOST || x->w->mono_ns() > x->until_ns;
		for (size_t k = 0; k < x->n_seen && !seen; k++)
			seen = x->seen[k] == pid;
		if (seen)
			continue;
		x->seen[x->n_seen++] = pid;
		if (holders_of(x, pid) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* NULL: nobody, or several, so that it cannot be told. */
static const struct shared_holder *only_holder(const struct sharing *x, uint64_t id)
{
	const struct shared_holder *found = NULL;
	for (size_t i = 0; i < x->n; i++) {
		if (x->holder[i].id != id || (found && found->held.tid == x->holder[i].held.tid))
			continue;
		if (found)
			return NULL;
		found = &x->holder[i];
	}
	return found;
}

static int owner_tell(const struct waitfact_thread *t, const struct shared_holder *o, struct waithint **hint,
		      size_t *n_hints, size_t *cap_hints)
{
	struct waithint *h = NULL;
	for (size_t i = 0; i < *n_hints && !h; i++)
		if ((*hint)[i].pid == t->pid && (*hint)[i].tid == t->tid && (*hint)[i].kind != WAITHINT_PLACE)
			h = &(*hint)[i];
	if (h && h->kind != WAITHINT_TEXT)
		return 0; /* the lock itself has named its owner */
	if (!h) {
		if (vec_room(hint, cap_hints, *n_hints + 1) < 0)
			return -ENOMEM;
		h = &(*hint)[(*n_hints)++];
		*h = (struct waithint){.pid = t->pid, .tid = t->tid, .text = "multiprocessing lock"};
	}
	h->kind = WAITHINT_OWNER;
	h->owner_pid = o->pid;
	h->owner_tid = o->held.tid;
	h->proof = false;
	TEXT_COPY(h->owner_text, o->held.text);
	return 0;
}

int waitshared_read(const struct world *w, const struct waitfacts *facts, uint64_t until_ns, struct waithint **hint,
		    size_t *n_hints, size_t *cap_hints)
{
	struct sharing x = {.w = w, .facts = facts, .until_ns = until_ns};
	int e = 0;
	for (size_t i = 0; i < facts->n_threads && e == 0; i++) {
		const struct waitfact_thread *t = &facts->thread[i];
		const struct waitfact *f = t->n == 1 ? &facts->fact[t->first] : NULL;
		if (!f || f->kind != WAITFACT_SHARED)
			continue;
		e = processes_look(&x, f);
		const struct shared_holder *o = e ? NULL : only_holder(&x, f->id);
		if (o && o->held.tid != t->tid)
			e = owner_tell(t, o, hint, n_hints, cap_hints);
	}
	free(x.holder);
	return e;
}
