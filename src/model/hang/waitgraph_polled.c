/*
 * Whom a thread waits for that never blocks: it looks, sleeps for a moment, and looks again. That it has a file open
 * which another process has locked, or maps memory that others may write, does not prove that it looks there. So the
 * arrows are likely at best; and those of memory, which nearly every process shares with some other, are drawn only
 * where none of the others can go on. So are those to workers that have a task of the thread's own pool, whatever it
 * does between its looks.
 */
#include <string.h>

#include "base/vec.h"
#include "model/hang/waitgraph_parts.h"

/* The same thing as the look before told it; NULL: it did not. */
static const struct waitfact *seen_before(const struct waitgraph_in *in, const struct waitfact_thread *t,
					  const struct waitfact *f)
{
	const struct waitfact_thread *b = in->before ? waitfacts_thread(in->before, t->pid, t->tid) : NULL;
	for (uint32_t i = 0; b && i < b->n_polled; i++) {
		const struct waitfact *x = &in->before->fact[b->first_polled + i];
		if (x->kind == f->kind && x->id == f->id)
			return x;
	}
	return NULL;
}

static bool held_by(const struct waitfacts *facts, const struct waitfact *f, pid_t pid)
{
	for (uint32_t i = 0; i < f->n_holders; i++)
		if (facts->holder[f->first_holder + i].pid == pid)
			return true;
	return false;
}

/* ---- locks of files ---- */

static int to_lock_holders(struct build *b, uint32_t from, const struct waitfact *f)
{
	const struct waitfacts *now = b->in->now;
	const struct waitfact *before = seen_before(b->in, b->g->node[from].thread, f);
	int n = 0;
	for (uint32_t k = 0; before && k < f->n_holders; k++) {
		pid_t pid = now->holder[f->first_holder + k].pid;
		if (!held_by(b->in->before, before, pid))
			continue; /* the lock is passed on */
		if (waitgraph_to_process(b, from, pid, WAITGRAPH_LIKELY, f) < 0)
			return -ENOMEM;
		n++;
	}
	return n;
}

int waitgraph_polled_locks(struct build *b, uint32_t from)
{
	const struct waitfact_thread *t = b->g->node[from].thread;
	int n = 0;
	for (uint32_t i = 0; b->g->node[from].naps && i < t->n_polled; i++) {
		const struct waitfact *f = &b->in->now->fact[t->first_polled + i];
		int added = f->kind == WAITFACT_FILE_LOCK ? to_lock_holders(b, from, f) : 0;
		if (added < 0)
			return -ENOMEM;
		if (added > 0)
			b->g->node[from].polled = f;
		n += added;
	}
	const struct waitgraph_node *x = &b->g->node[from];
	for (uint32_t i = 0; n > 1 && i < x->n_edges; i++)
		b->g->edge[x->first_edge + i].quality = WAITGRAPH_POSSIBLE;
	return n;
}

/* ---- memory ---- */

/* Processes that share memory with one thread; where there are more, nothing is told. */
#define SHARERS_MOST 64

enum stuck {
	STUCK_NOT, /* something on its way may go on */
	STUCK_WAITS_FOR_IT, /* it waits for the very thread that looks */
	STUCK_PROVED, /* nobody is left who could wake it */
	STUCK_STOPPED, /* it is stopped or frozen, or waits for nobody else than such a process */
};

struct walk {
	const struct waitgraph *g;
	uint32_t *queue; /* nodes that were reached */
	size_t n, done;
	bool *seen;
	bool timers; /* a side thread that only sleeps is none that may go on: heartbeats, monitors */
};

static void walk_to(struct walk *w, uint32_t node)
{
	if (w->seen[node])
		return;
	w->seen[node] = true;
	w->queue[w->n++] = node;
}

static void walk_begin(struct walk *w, const struct waitfact_process *p)
{
	w->n = w->done = 0;
	memset(w->seen, 0, w->g->n_nodes * sizeof(*w->seen));
	for (uint32_t i = 0; i < w->g->n_nodes; i++) {
		const struct waitfact_thread *t = w->g->node[i].thread;
		if (t && w->g->node[i].process == p && !t->ended)
			walk_to(w, i);
	}
}

static bool held_still(const struct waitgraph_node *n)
{
	return n->end == WAITEND_STOPPED || n->end == WAITEND_FROZEN;
}

/* Whether any thread of a process can go on, or anybody for whom one of them waits; of: the thread that looks. */
static enum stuck is_stuck(struct walk *w, const struct waitfact_process *p, uint32_t of)
{
	bool waits_for_it = false, moves = false, held = false, dead = true;
	for (walk_begin(w, p); w->done < w->n; w->done++) {
		const uint32_t at = w->queue[w->done];
		const struct waitgraph_node *x = &w->g->node[at];
		waits_for_it |= at == of;
		if (at == of || held_still(x)) {
			held |= held_still(x);
			continue;
		}
		if (w->timers && !x->main && x->end == WAITEND_CLOCK)
			continue;
		moves |= x->n_edges == 0 && !x->dead;
		dead &= x->dead;
		for (uint32_t k = 0; k < x->n_edges; k++)
			walk_to(w, w->g->edge[x->first_edge + k].to);
	}
	if (waits_for_it)
		return STUCK_WAITS_FOR_IT;
	return moves || w->n == 0 ? STUCK_NOT : held ? STUCK_STOPPED : dead ? STUCK_PROVED : STUCK_NOT;
}

/* One who shares memory with the thread that looks. */
struct sharer {
	pid_t pid;
	const struct waitfact *fact;
	enum stuck stuck;
};

/* Those who shared it at both looks. SIZE_MAX: too many, or one who came or went meanwhile. */
static size_t sharers_list(const struct waitgraph_in *in, const struct waitfact_thread *t, struct sharer *sharer)
{
	size_t n = 0;
	for (uint32_t i = 0; i < t->n_polled; i++) {
		const struct waitfact *f = &in->now->fact[t->first_polled + i];
		const struct waitfact *before = f->kind == WAITFACT_SHARED ? seen_before(in, t, f) : NULL;
		if (f->kind == WAITFACT_SHARED && (!before || before->n_holders != f->n_holders))
			return SIZE_MAX;
		for (uint32_t k = 0; before && k < f->n_holders; k++) {
			pid_t pid = in->now->holder[f->first_holder + k].pid;
			bool known = false;
			for (size_t j = 0; j < n; j++)
				known |= sharer[j].pid == pid;
			if (!held_by(in->before, before, pid) || (!known && n == SHARERS_MOST))
				return SIZE_MAX;
			if (!known)
				sharer[n++] = (struct sharer){.pid = pid, .fact = f};
		}
	}
	return n;
}

static const struct waitfact_process *process_with_threads(const struct waitfacts *f, pid_t pid)
{
	const struct waitfact_process *p = waitfacts_process(f, pid);
	return p && p->n_threads > 0 ? p : NULL;
}

/* How stuck those are that the thread may wait for; STUCK_NOT: one of them may go on, or there is none. */
static enum stuck all_stuck(const struct waitgraph_in *in, struct walk *w, struct sharer *sharer, size_t n, uint32_t of)
{
	size_t n_held = 0, n_dead = 0;
	for (size_t i = 0; i < n; i++) {
		const struct waitfact_process *p = process_with_threads(in->now, sharer[i].pid);
		sharer[i].stuck = p ? is_stuck(w, p, of) : STUCK_NOT;
		if (sharer[i].stuck == STUCK_NOT)
			return STUCK_NOT;
		n_held += sharer[i].stuck == STUCK_STOPPED;
		n_dead += sharer[i].stuck == STUCK_PROVED;
	}
	/* A helper that was left over and stands for ever is no news: only the single one counts. */
	return n_held > 0 ? STUCK_STOPPED : n_dead == 1 && n == 1 ? STUCK_PROVED : STUCK_NOT;
}

/* True if all who could write memory of the thread wait for it, in the end. */
static bool all_wait_for_it(const struct sharer *sharer, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (sharer[i].stuck != STUCK_WAITS_FOR_IT)
			return false;
	return n > 0;
}

/* True if a main thread of these naps. */
static bool one_naps(const struct waitgraph *g, const struct sharer *sharer, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct waitgraph_node *x = waitgraph_thread(g, sharer[i].pid, 0);
		if (x && x->end == WAITEND_CLOCK && x->naps)
			return true;
	}
	return false;
}

/* One more arrow of the node whose arrows are the last ones so far. */
static int last_arrow_add(struct waitgraph *g, uint32_t from, struct waitgraph_edge e)
{
	if (vec_room(&g->edge, &g->cap_edges, g->n_edges + 1) < 0)
		return -ENOMEM;
	g->edge[g->n_edges++] = e;
	g->node[from].n_edges++;
	g->node[from].end = WAITEND_NONE;
	return 0;
}

static int arrows_to_sharers(struct waitgraph *g, uint32_t from, const struct sharer *sharer, size_t n,
			     enum stuck stuck)
{
	struct waitgraph_node *x = &g->node[from];
	x->first_edge = (uint32_t)g->n_edges;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *to = &g->node[i];
		for (size_t k = 0; to->thread && to->main && k < n; k++) {
			if (sharer[k].pid != to->thread->pid || sharer[k].stuck != stuck)
				continue;
			const struct waitgraph_edge e = {
				.to = i,
				.quality = stuck == STUCK_STOPPED ? WAITGRAPH_LIKELY : WAITGRAPH_POSSIBLE,
				.fact = sharer[k].fact,
			};
			if (last_arrow_add(g, from, e) < 0)
				return -ENOMEM;
			x->polled = sharer[k].fact;
		}
	}
	return 0;
}

/* ---- the tasks of a pool ---- */

static const struct waithint *task_hint(const struct waitgraph_in *in, pid_t napper, pid_t worker)
{
	for (size_t i = 0; i < in->n_hints; i++) {
		const struct waithint *h = &in->hint[i];
		if (h->kind == WAITHINT_TASK && h->pid == napper && (worker == 0 || h->owner_pid == worker))
			return h;
	}
	return NULL;
}

/* True of what a main thread does that looks, and sleeps or asks somebody in between. */
static bool may_look(const struct waitgraph_in *in, const struct waitgraph_node *x)
{
	return (x->end == WAITEND_CLOCK && x->naps) || (x->end == WAITEND_RUNS && waitgraph_is_light(in, x->thread));
}

/* True if a thread of its own, or of a process that it has started, works, or may be brought something from outside. */
static bool others_may_go_on(const struct waitgraph_in *in, const struct waitgraph *g, uint32_t of)
{
	const struct waitgraph_node *x = &g->node[of];
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *y = &g->node[i];
		if (!y->thread || i == of || (y->process != x->process && y->process->ppid != x->process->pid))
			continue;
		bool outside = y->end == WAITEND_STORAGE || y->end == WAITEND_OUTSIDE || y->end == WAITEND_DEVICE;
		if (outside || (y->end == WAITEND_RUNS && !waitgraph_is_light(in, y->thread)))
			return true;
	}
	return false;
}

static bool tasks_are_stuck(const struct waitgraph_in *in, struct walk *w, uint32_t of)
{
	const struct waitgraph *g = w->g;
	bool any = false;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *y = &g->node[i];
		if (!y->thread || !y->main || !task_hint(in, g->node[of].thread->pid, y->thread->pid))
			continue;
		enum stuck stuck = is_stuck(w, y->process, of);
		if (stuck == STUCK_NOT)
			return false;
		any |= stuck != STUCK_WAITS_FOR_IT;
	}
	return any;
}

/*
 * Who looks for results of its pool again and again waits for the workers that have a task, if none of these can go on
 * and nobody else works whom it could wait for.
 */
static int arrows_to_tasks(const struct waitgraph_in *in, struct waitgraph *g, struct walk *w, uint32_t from)
{
	struct waitgraph_node *x = &g->node[from];
	const struct waithint *h = task_hint(in, x->thread->pid, 0);
	if (!h || !may_look(in, x) || others_may_go_on(in, g, from) || !tasks_are_stuck(in, w, from))
		return 0;
	x->first_edge = (uint32_t)g->n_edges;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *to = &g->node[i];
		h = to->thread && to->main ? task_hint(in, x->thread->pid, to->thread->pid) : NULL;
		enum stuck stuck = h ? is_stuck(w, to->process, from) : STUCK_NOT;
		if (stuck != STUCK_PROVED && stuck != STUCK_STOPPED)
			continue;
		const struct waitgraph_edge e = {.to = i, .quality = WAITGRAPH_LIKELY, .hint = h};
		if (last_arrow_add(g, from, e) < 0)
			return -ENOMEM;
		x->hint = h;
	}
	return 0;
}

/* ---- children ---- */

/*
 * True if two children at least can never go on, or are held, and no child may. One of them has to wait for another
 * process, as ranks do: helpers that were left over do not. And most are no idle helpers.
 */
static bool children_are_stuck(struct walk *w, uint32_t of)
{
	const struct waitgraph_node *x = &w->g->node[of];
	size_t stuck = 0, idle = 0, waiting = 0;
	for (uint32_t i = 0; i < w->g->n_nodes; i++) {
		const struct waitgraph_node *y = &w->g->node[i];
		if (!y->thread || !y->main || y->process->ppid != x->process->pid)
			continue;
		enum stuck how = is_stuck(w, y->process, of);
		if (how == STUCK_NOT)
			return false;
		stuck += how != STUCK_WAITS_FOR_IT;
		idle += how == STUCK_WAITS_FOR_IT;
		waiting += how != STUCK_WAITS_FOR_IT && y->n_edges > 0;
	}
	return stuck > 1 && stuck > idle && waiting > 0;
}

/*
 * A launcher of the program's own naps between looks at its children: it waits for them, if none of them can go on and
 * it does not belong to those for whom they wait.
 */
static int arrows_to_children(struct waitgraph *g, struct walk *w, uint32_t from)
{
	struct waitgraph_node *x = &g->node[from];
	w->timers = true;
	bool stuck = x->end == WAITEND_CLOCK && x->naps && children_are_stuck(w, from);
	if (stuck)
		x->first_edge = (uint32_t)g->n_edges;
	for (uint32_t i = 0; stuck && i < g->n_nodes; i++) {
		const struct waitgraph_node *to = &g->node[i];
		if (!to->thread || !to->main || to->process->ppid != x->process->pid ||
		    is_stuck(w, to->process, from) == STUCK_WAITS_FOR_IT)
			continue;
		const struct waitgraph_edge e = {.to = i, .quality = WAITGRAPH_LIKELY};
		if (last_arrow_add(g, from, e) < 0)
			return -ENOMEM;
	}
	x->watches = stuck;
	w->timers = false;
	return 0;
}

/* Of a thread that runs at both looks: who alone may change what it looks at, if that one does not run. */
static void beside_find(const struct waitgraph_in *in, struct waitgraph *g, uint32_t i)
{
	struct sharer sharer[SHARERS_MOST];
	struct waitgraph_node *x = &g->node[i];
	size_t n = x->thread->runs && x->end == WAITEND_RUNS ? sharers_list(in, x->thread, sharer) : 0;
	for (uint32_t k = 0; n == 1 && k < g->n_nodes; k++) {
		const struct waitgraph_node *y = &g->node[k];
		if (y->thread && y->main && y->thread->pid == sharer[0].pid && y->end != WAITEND_RUNS)
			x->beside = k;
	}
}

int waitgraph_polled_memory(const struct waitgraph_in *in, struct waitgraph *g)
{
	struct sharer sharer[SHARERS_MOST];
	cleanup(freep) uint32_t *queue = calloc(g->n_nodes + 1, sizeof(*queue));
	cleanup(freep) bool *seen = calloc(g->n_nodes + 1, sizeof(*seen));
	struct walk w = {.g = g, .queue = queue, .seen = seen};
	if (!queue || !seen)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct waitgraph_node *x = &g->node[i];
		if (x->thread && x->main)
			beside_find(in, g, i);
		if (x->thread && x->main && x->n_edges == 0 && arrows_to_tasks(in, g, &w, i) < 0)
			return -ENOMEM;
		if (!x->thread || !x->main || !x->naps || x->end != WAITEND_CLOCK || x->n_edges > 0)
			continue;
		size_t n = sharers_list(in, x->thread, sharer);
		enum stuck stuck = n == SIZE_MAX ? STUCK_NOT : all_stuck(in, &w, sharer, n, i);
		x->deserted = n != SIZE_MAX && all_wait_for_it(sharer, n);
		x->beside_nap = n != SIZE_MAX && one_naps(g, sharer, n);
		if (stuck != STUCK_NOT && arrows_to_sharers(g, i, sharer, n, stuck) < 0)
			return -ENOMEM;
		if (x->n_edges == 0 && arrows_to_children(g, &w, i) < 0)
			return -ENOMEM;
	}
	return 0;
}
