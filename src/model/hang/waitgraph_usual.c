/*
 * The third set of a wait, beside who could end it and who has to: who usually did. It singles out one of several that
 * could; it is likely at most, and of what is proved it changes nothing.
 */
#include "base/vec.h"
#include "model/hang/waitgraph_parts.h"

/* True if the kernel's facts allow that this thread ends the wait. */
static bool could(const struct build *b, const struct waitgraph_node *n, const struct waitfact_thread *by,
		  const struct waitfact *f)
{
	if (f->n_holders == 0)
		return f->kind == WAITFACT_FUTEX && by->pid == n->thread->pid;
	for (uint32_t i = 0; i < f->n_holders; i++) {
		const struct waitfact_holder *h = &b->in->now->holder[f->first_holder + i];
		if (h->pid == by->pid && (h->tid == 0 || h->tid == by->tid))
			return true;
	}
	return false;
}

static const struct waitfact *fact_by(const struct build *b, const struct waitgraph_node *n,
				      const struct waitfact_thread *by)
{
	size_t n_facts;
	const struct waitfact *f = waitgraph_facts(b, n, &n_facts);
	for (size_t i = 0; i < n_facts; i++)
		if (could(b, n, by, &f[i]))
			return &f[i];
	return NULL;
}

static const struct waithint *usual_of(const struct build *b, const struct waitgraph_node *n)
{
	size_t n_hints;
	const struct waithint *const *h = waitgraph_hints(b, n->thread->pid, n->thread->tid, &n_hints);
	for (size_t i = 0; i < n_hints; i++)
		if (h[i]->kind == WAITHINT_USUAL)
			return h[i];
	return NULL;
}

int waitgraph_usual(struct build *b, uint32_t node)
{
	struct waitgraph *g = b->g;
	struct waitgraph_node *n = &g->node[node];
	const struct waithint *h = n->thread && n->end == WAITEND_NONE ? usual_of(b, n) : NULL;
	uint32_t to = h && h->owner_tid ? waitgraph_node_of(b, h->owner_pid, h->owner_tid) : WAITGRAPH_NONE;
	n->usual = h;
	if (to == WAITGRAPH_NONE || to == node)
		return 0;
	for (uint32_t i = 0; i < n->n_edges; i++)
		if (g->edge[n->first_edge + i].quality == WAITGRAPH_PROOF)
			return 0;
	const struct waitfact *f = fact_by(b, n, g->node[to].thread);
	if (!f)
		return 0;
	/* Of a loop that waits for several things habit does not tell which of them is missing now. */
	enum waitgraph_quality q = n->thread->n > 1 ? WAITGRAPH_POSSIBLE : WAITGRAPH_LIKELY;
	if (n->thread->n > 1 && n->n_edges > 0)
		return 0;
	/* They are the last that were drawn. */
	g->n_edges = n->first_edge;
	if (vec_room(&g->edge, &g->cap_edges, g->n_edges + 1) < 0)
		return -ENOMEM;
	g->edge[g->n_edges++] = (struct waitgraph_edge){to, q, f, h};
	n->n_edges = 1;
	n->fact = f;
	g->by_history |= g->node[to].process != n->process;
	return 1;
}
