/* Jobs of which every process that does not wait naps, and those beside a loop of naps that can never go on. */
#include "base/units.h"
#include "judge/standstill/hang_ask.h"

/* True of a thread that may bring something: it runs, or waits for somebody outside. */
static bool may_bring(const struct waitgraph_node *n)
{
	return n->end == WAITEND_RUNS || n->end == WAITEND_OUTSIDE || n->end == WAITEND_STORAGE ||
	       n->end == WAITEND_DEVICE || n->end == WAITEND_PERSON || n->end == WAITEND_VISITOR;
}

static bool naps(const struct waitgraph_node *n)
{
	return n->main && n->end == WAITEND_CLOCK && n->naps;
}

bool hang_all_nap(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	size_t n = 0;
	for (size_t i = 0; g && i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		if (!x->thread || x->thread->ended)
			continue;
		if (may_bring(x) || (x->main && x->end == WAITEND_CLOCK && !naps(x)))
			return false;
		n += naps(x);
	}
	return n > 1;
}

const struct waitgraph_node *hang_dead_beside(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *self = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	const struct waitgraph_node *one = NULL;
	for (size_t i = 0; self && naps(self) && i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		const bool serves = x->who && (x->who->main || x->who->launcher);
		if (x->main && x->thread && !x->thread->ended && x->dead && !serves && x->process != self->process)
			one = one ? one : x;
	}
	return one && hang_nobody_acts_but(w, self) ? one : NULL;
}

/* It may be a helper that is left over, so that the other one waits for it is no more than likely. */
static bool dead_says(struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph_node *x = hang_dead_beside(w, r);
	char who[160], wait[480];
	if (!x)
		return false;
	waitgraph_who_text(w->c->graph, (uint32_t)(x - w->c->graph->node), who, sizeof(who));
	waitgraph_wait_text(x, wait, sizeof(wait));
	text_capital(who);
	hang_says(w, "%s can never go on: %s. Nothing else of the job works, so what is waited for may be its part.",
		  who, wait);
	return true;
}

/* True of a thread that waits for a lock of its own process, for as long as it takes. */
static bool waits_for_lock(const struct waitgraph_node *x)
{
	const enum waitfact_kind kind = x->fact ? x->fact->kind : WAITFACT_UNKNOWN;
	const bool native = kind == WAITFACT_LOCK || (kind == WAITFACT_OBJECT && x->fact->lock);
	return x->thread && !x->thread->ended && !x->thread->timed && (native || (x->hint && x->hint->lock));
}

const struct waitgraph_node *hang_lock_waiter(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	if (!n || !n->naps || n->end != WAITEND_CLOCK)
		return NULL;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (&g->node[i] != n && g->node[i].process == n->process && waits_for_lock(&g->node[i]))
			return &g->node[i];
	return NULL;
}

/* What it looks for in memory is most likely to be that one's doing. */
static bool lock_waiter_says(struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph_node *x = hang_lock_waiter(w, r);
	char wait[480];
	if (!x)
		return false;
	waitgraph_wait_text(x, wait, sizeof(wait));
	hang_says(w, "Thread %d of it waits for a lock meanwhile: %s%s%s.", (int)x->thread->tid, wait,
		  x->hint && x->hint->owner_text[0] ? "; held by " : "", x->hint ? x->hint->owner_text : "");
	return true;
}

void hang_says_who_naps(struct hang_work *w, const struct stackgroup_rank *r)
{
	const size_t most = 2; /* that are named */
	const struct waitgraph *g = w->c->graph;
	char who[160];
	size_t n = 0;
	if (dead_says(w, r) || lock_waiter_says(w, r) || !hang_all_nap(w))
		return;
	hang_says(w, "Nothing of the job works: its other processes that do not wait nap as well.");
	for (uint32_t i = 0; i < g->n_nodes && n < most; i++) {
		const struct waitgraph_node *x = &g->node[i];
		if (!x->thread || x->thread->ended || !naps(x) || (r->process && r->process->pid == x->thread->pid))
			continue;
		if (x->who && x->who->launcher) /* it looks after the ranks, and makes nothing that they look for */
			continue;
		const bool looks = x->hint && x->hint->kind == WAITHINT_RETRY;
		waitgraph_who_text(g, i, who, sizeof(who));
		text_capital(who);
		hang_says(w, "%s %s.", who, looks ? x->hint->text : "naps again and again");
		n++;
	}
}
