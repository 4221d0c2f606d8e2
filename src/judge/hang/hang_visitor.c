/*
 * A rank that all the others wait for, and that waits for what does not come: a visitor, or bytes beyond those that lie
 * there.
 */
#include "base/units.h"
#include "judge/hang/hang_parts.h"

/* True if it is waited for because it has a lock, so that nobody but itself can let the others go on. */
static bool has_a_lock(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	size_t n = 0;
	for (size_t i = 0; i < g->n_edges; i++) {
		const struct waitgraph_edge *e = &g->edge[i];
		if (e->to != s->node)
			continue;
		if (!e->fact || e->fact->kind != WAITFACT_FILE_LOCK)
			return false;
		n++;
	}
	return n > 0;
}

/* True if no rank is left that the end could wait for: each one waits for it. */
static bool all_have_come(const struct hang_work *w, const struct waitgraph_sink *s)
{
	size_t ranks = 0;
	for (size_t i = 0; i < w->p->n; i++)
		ranks += !w->p->rank[i].serves && !w->p->rank[i].seen.exited;
	return w->many && s->n_followers + s->of_main >= ranks && !has_a_lock(w, s);
}

/* True if the end is its process's main thread, or one whose end that thread waits for. */
static bool of_the_main_thread(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	if (g->node[s->node].main)
		return true;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
		if (e && n->main && n->process == g->node[s->node].process && e->to == s->node && e->fact &&
		    e->fact->kind == WAITFACT_THREAD)
			return true;
	}
	return false;
}

/*
 * All other ranks wait for one that waits for somebody, and that is none of them. In a job that has made steps it is
 * this rank that holds the others up; before, a person may have to come. Of a server in a thread of its own it is not
 * known what its clients miss.
 */
void hang_visitor_of_none(struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	if (!n->who || !n->who->main || !all_have_come(w, s))
		return;
	if (n->handles) { /* the others have come, and have no answer */
		w->v->confidence = w->stepping ? w->v->confidence : CONFIDENCE_LOW;
		hang_says(w, "No rank is left whose request could bring it.");
		return;
	}
	if (w->stepping && w->v->confidence > CONFIDENCE_LOW && of_the_main_thread(w, s)) {
		hang_says(w, "No rank is left that could come, so it is somebody else, or nobody.");
		return;
	}
	w->v->confidence = CONFIDENCE_LOW;
	w->v->n_culprits = 0;
}

/* ---- what lies there already ---- */

static const struct waitgraph_edge *unread_edge(const struct waitgraph *g, const struct waitgraph_node *n)
{
	for (uint32_t i = 0; i < n->n_edges; i++) {
		const struct waitgraph_edge *e = &g->edge[n->first_edge + i];
		if (e->fact && e->fact->unread > 0)
			return e;
	}
	return NULL;
}

const struct waitgraph_node *hang_unread_by(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *one = NULL;
	for (size_t i = 0; i < g->n_nodes && s->end == WAITEND_CIRCLE; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->component != g->node[s->node].component || !unread_edge(g, n))
			continue;
		if (one)
			return NULL;
		one = n;
	}
	return one && one->who && one->who->rank != NO_RANK ? one : NULL;
}

void hang_unread_says(struct hang_work *w, const struct waitgraph_node *n)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_edge *e = unread_edge(g, n);
	char who[160], bytes[16];
	w->v->n_culprits = 0;
	hang_accuse(w, n->who->rank);
	waitgraph_who_text(g, (uint32_t)(n - g->node), who, sizeof(who));
	hang_says(w, "%s has not read the %s that lie in its socket (%s), and waits for the next ones.", who,
		  size_format(e->fact->unread, bytes), e->fact->text);
	hang_advise(w, "read until there is nothing left: an edge-triggered wait (EPOLLET) tells of new bytes only");
}
