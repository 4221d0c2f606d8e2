#include "agent/hang/hangwaits.h"

#include <string.h>

#include "agent/wait/waitargs.h"
#include "agent/wait/waitcalls.h"
#include "agent/wait/waitlocks.h"
#include "agent/wait/waitwho.h"
#include "agent/wait/wakeplace.h"
#include "base/buf.h"
#include "base/vec.h"
#include "model/hang/activity.h"

/* Processes whose waits are read: of a larger job the main ones come first. */
#define HANGWAITS_PIDS 2048
/* Time for reading Python's locks of all processes; those of main processes come first. */
static const uint64_t locks_budget_ns = 2 * NS_PER_S;
/* Of the clock, not of the processor: where others have that, a search of some milliseconds takes this long. */
static const uint64_t search_budget_ns = NS_PER_S;
/* Time for the goroutines of all processes at one look. */
static const uint64_t go_budget_ns = NS_PER_S;

static size_t pids_choose(const struct hangprocs *c, pid_t *pids, size_t cap)
{
	size_t n = 0;
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < c->n_now && n < cap; i++)
			if (c->now[i].main == (turn == 0))
				pids[n++] = c->now[i].pid;
	return n;
}

static bool has_ranks(const struct hangprocs *c)
{
	for (size_t i = 0; i < c->n_now; i++)
		if (c->now[i].main && c->now[i].who.rank != NO_RANK)
			return true;
	return false;
}

static void hangwaits_who_fill(struct hangwaits *h, const struct hangprocs *c)
{
	bool ranks = has_ranks(c);
	free(h->who);
	h->n_who = 0;
	h->who = calloc(c->n_now ? c->n_now : 1, sizeof(*h->who));
	for (size_t i = 0; h->who && i < c->n_now; i++)
		h->who[h->n_who++] = waitwho_of(c->now[i].pid, &c->now[i].who, c->now[i].main, ranks);
}

void hangwaits_look(struct hangwaits *h, const struct world *w, const struct hangprocs *procs)
{
	static pid_t pids[HANGWAITS_PIDS]; /* large; one watcher takes one look at a time */
	size_t n = pids_choose(procs, pids, HANGWAITS_PIDS), at = MIN(h->n_looks, (size_t)1);
	struct waitfacts look;
	int r = n ? waitfacts_read(w, pids, n, search_budget_ns, &look) : WORLD_GONE;
	if (r) {
		TEXT_COPY(h->note, r == WORLD_GONE ? "the job has no process" : "/proc cannot be read");
		return;
	}
	if (h->n_looks == 2)
		waitfacts_done(&h->look[1]);
	if (at == 1)
		waitalarms_take(h->alarms, w, &look);
	h->look[at] = look;
	h->n_looks = at + 1;
	hangwaits_who_fill(h, procs);
	waitgo_done(&h->go[at]);
	uint64_t until_ns = w->mono_ns() + go_budget_ns;
	if (h->who && !h->threads_only &&
	    waitgo_look(w, &h->look[at], h->who, h->n_who, at == 1, until_ns, &h->go[at]) != 0)
		TEXT_COPY(h->note, "no memory");
}

/* ---- what is known beside the facts ---- */

static int hint_add(struct hangwaits *h, const struct waithint *hint)
{
	if (vec_room(&h->hint, &h->cap_hints, h->n_hints + 1) < 0)
		return -ENOMEM;
	h->hint[h->n_hints++] = *hint;
	return 0;
}

static int locks_read(struct hangwaits *h, const struct world *w)
{
	int e = waitlocks_read(w, h->n_looks > 1 ? &h->look[0] : NULL, &h->look[h->n_looks - 1], h->who, h->n_who,
			       w->mono_ns() + locks_budget_ns, NULL, &h->hint, &h->n_hints, &h->cap_hints);
	return e == WAITLOCKS_LATE ? 0 : e; /* the facts alone count where no hint came in time */
}

/* Where each thread stands in the program's own files. */
static int places_take(struct hangwaits *h, const struct stackdump *d)
{
	for (size_t i = 0; d && i < d->n; i++)
		for (size_t k = 0; k < d->processes[i].n_threads; k++) {
			const struct dump_thread *t = &d->processes[i].threads[k];
			struct waithint hint = {.kind = WAITHINT_PLACE, .pid = d->processes[i].pid, .tid = t->tid};
			struct activity_found found;
			activity_of(t, &found);
			const struct dump_frame *f = found.user;
			if (!f || !f->file)
				continue;
			TEXT_FORMAT(hint.text, "%s:%d in %s", frame_file_short(f->file), f->line, f->name);
			if (hint_add(h, &hint) < 0)
				return -ENOMEM;
		}
	return 0;
}

/* Which ranks have not come to the calls that the others are in. */
static int missing_take(struct hangwaits *h, const struct stackdump *d)
{
	cleanup(freep) struct waitcall *call = NULL;
	struct waitmissing_in in = {.facts = &h->look[h->n_looks - 1],
				    .who = h->who,
				    .n_who = h->n_who,
				    .arrow = h->arrow,
				    .n_arrows = h->n_arrows};
	if (!d)
		return 0;
	int e = waitcalls_of_dump(d, h->who, h->n_who, &call, &in.n_calls);
	in.call = call;
	return e ? e : waitmissing_add(&in, &h->hint, &h->n_hints, &h->cap_hints);
}

/* A hint of the same kind of this thread, of the first n; NULL: none. */
static struct waithint *hint_before(const struct hangwaits *h, size_t n, const struct waithint *hint)
{
	for (size_t i = 0; i < n; i++)
		if (h->hint[i].kind == hint->kind && h->hint[i].pid == hint->pid && h->hint[i].tid == hint->tid)
			return &h->hint[i];
	return NULL;
}

/*
 * Which files threads look for that are not there, or try to lock. What an exception says of a loop is more than what
 * it looks for, and less than who has the lock.
 */
static int lookups_add(struct hangwaits *h)
{
	enum { HINTS_MOST = 256 };
	cleanup(freep) struct waithint *hint = calloc(HINTS_MOST, sizeof(*hint));
	if (!hint)
		return -ENOMEM;
	size_t n = hanglookups_hints(h->lookups, &h->look[h->n_looks - 1], h->files, hint, HINTS_MOST);
	const size_t known = h->n_hints;
	for (size_t i = 0; i < n; i++) {
		struct waithint *before = hint_before(h, known, &hint[i]);
		if (before && hint[i].held) {
			*before = hint[i];
		} else if (before && before->exists && hint[i].orphan) {
			before->orphan = true;
			TEXT_COPY(before->owner_text, hint[i].owner_text);
		} else if (!before && hint_add(h, &hint[i]) < 0) {
			return -ENOMEM;
		}
	}
	return 0;
}

/* Who usually ended such waits. */
static int habits_take(struct hangwaits *h, const struct world *w, const struct wakehist *wakes)
{
	const struct waitfacts *now = &h->look[h->n_looks - 1];
	cleanup(freep) struct wakeplace *place = NULL;
	struct wakehint_in in = {.hist = wakes, .facts = now, .who = h->who, .n_who = h->n_who};
	if (!wakes || wakes->n == 0)
		return 0;
	if (wakeplaces_read(w, now, w->mono_ns() + locks_budget_ns, &place, &in.n_places) < 0)
		return -ENOMEM;
	in.place = place;
	return wakehint_add(&in, &h->hint, &h->n_hints, &h->cap_hints);
}

/* Goroutines in the place of threads. */
static int goroutines_take(struct hangwaits *h)
{
	bool two = h->n_looks > 1;
	const struct waitgo_into into = {.before = two ? &h->look[0] : NULL,
					 .now = &h->look[h->n_looks - 1],
					 .hint = &h->hint,
					 .n_hints = &h->n_hints,
					 .cap_hints = &h->cap_hints};
	return waitgo_put(two ? &h->go[0] : NULL, &h->go[h->n_looks - 1], &into);
}

const struct waitgraph *hangwaits_make(struct hangwaits *h, const struct world *w, const struct stackdump *dump,
				       const struct wakehist *wakes)
{
	if (h->made)
		return &h->graph;
	if (h->n_looks == 0 || !h->who)
		return NULL;
	int r = locks_read(h, w);
	if (r == 0)
		r = missing_take(h, dump);
	if (r == 0)
		r = waitargs_read(w, &h->look[h->n_looks - 1], h->who, h->n_who, w->mono_ns() + locks_budget_ns,
				  &h->hint, &h->n_hints, &h->cap_hints);
	if (r == 0)
		r = lookups_add(h);
	if (r == 0)
		r = places_take(h, dump);
	if (r == 0)
		r = habits_take(h, w, wakes);
	if (r == 0)
		r = goroutines_take(h);
	struct waitgraph_in in = {
		.before = h->n_looks > 1 ? &h->look[0] : NULL,
		.now = &h->look[h->n_looks - 1],
		.who = h->who,
		.n_who = h->n_who,
		.hint = h->hint,
		.n_hints = h->n_hints,
	};
	if (r < 0 || waitgraph_make(&in, &h->graph) < 0) {
		TEXT_COPY(h->note, "no memory");
		return NULL;
	}
	h->made = true;
	return &h->graph;
}

void hangwaits_done(struct hangwaits *h)
{
	waitgraph_done(&h->graph);
	for (size_t i = 0; i < h->n_looks; i++)
		waitfacts_done(&h->look[i]);
	for (size_t i = 0; i < ARRAY_SIZE(h->go); i++)
		waitgo_done(&h->go[i]);
	free(h->who);
	free(h->hint);
	memset(h, 0, sizeof(*h));
}
