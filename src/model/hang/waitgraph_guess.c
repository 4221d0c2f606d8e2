/*
 * Arrows that no single fact draws: to the ranks for which others wait without a connection to them, because they
 * wait for visitors, or look again and again whether something has come.
 */
#include <string.h>

#include "base/vec.h"
#include "model/hang/waitgraph_parts.h"
#include "sense/rank.h"

static bool is_main(const struct waitgraph_node *n)
{
	return n->main && n->who && n->who->main && n->who->rank != NO_RANK;
}

/* What of its waits anybody may end, also who has nothing to do with it yet; NULL: none. */
static const struct waitfact *awaits_visitors(const struct waitgraph_in *in, const struct waitgraph_node *n)
{
	if (n->handles && n->end == WAITEND_VISITOR)
		return n->fact; /* another call */
	for (uint32_t i = 0; n->thread && i < n->thread->n; i++) {
		const struct waitfact *f = &in->now->fact[n->thread->first + i];
		if (f->kind == WAITFACT_LISTEN || f->kind == WAITFACT_DATAGRAM || f->kind == WAITFACT_FIFO ||
		    waitgraph_nobody_known(in->now, n, f))
			return f;
	}
	return NULL;
}

/* A data loader's worker hands out what it has loaded: nobody but its own rank comes to its door. */
static bool serves_its_rank_alone(const struct waitgraph_node *n)
{
	return n->who && strcmp(n->who->role, "loader") == 0;
}

/* The first node of an end of the ranks that waits for visitors; WAITGRAPH_NONE: none. */
static uint32_t host_of(const struct waitgraph_in *in, const struct waitgraph *g, const struct waitgraph_sink *s)
{
	/* A server that belongs to no rank, such as a store of keys, is one for which ranks wait. */
	bool of_job = (s->n_ranks > 0 || (!s->outside && s->n_followers > 0)) && !s->dead;
	bool open = s->end == WAITEND_VISITOR || s->end == WAITEND_ANY || s->end == WAITEND_CIRCLE;
	if (!of_job || !(s->of_main || s->n_followers > 0) || !open)
		return WAITGRAPH_NONE;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].component == g->node[s->node].component && awaits_visitors(in, &g->node[i]) &&
		    !serves_its_rank_alone(&g->node[i]))
			return i;
	return WAITGRAPH_NONE;
}

static int edges_move_to_end(struct waitgraph *g, uint32_t node)
{
	struct waitgraph_node *n = &g->node[node];
	if (vec_room(&g->edge, &g->cap_edges, g->n_edges + n->n_edges + 1) < 0)
		return -ENOMEM;
	if (n->n_edges)
		memmove(&g->edge[g->n_edges], &g->edge[n->first_edge], n->n_edges * sizeof(*g->edge));
	n->first_edge = (uint32_t)g->n_edges;
	g->n_edges += n->n_edges;
	return 0;
}

/* True for a rank that comes to another end than this one, and does not wait for the same kind of visitors itself. */
static bool is_missing(const struct waitgraph_in *in, const struct waitgraph *g, const struct waitgraph_node *n,
		       size_t sink, const struct waitfact *f)
{
	if (!is_main(n) || n->thread->ended || n->sink == WAITGRAPH_NONE || n->sink == sink || n->idle)
		return false; /* one that has ended was there, or is told of otherwise; a server comes to nobody */
	const struct waitgraph_node *end = &g->node[g->sink[n->sink].node];
	const struct waitfact *own = awaits_visitors(in, end);
	/* It has come, and waits for a goroutine of the very process that waits for visitors. */
	if (end->thread && end->thread->goroutine && end->process == g->node[g->sink[sink].node].process &&
	    n->process != end->process)
		return false;
	return n->component != g->node[g->sink[sink].node].component && (!own || own->kind != f->kind);
}

/* The main thread of a rank that waits for visitors of this kind. */
static bool at_its_own_door(const struct waitgraph_in *in, const struct waitgraph *g, uint32_t i,
			    const struct waitfact *f)
{
	const struct waitgraph_node *n = &g->node[i];
	const struct waitfact *own = is_main(n) && n->end == WAITEND_VISITOR ? awaits_visitors(in, n) : NULL;
	return own && own->kind == f->kind;
}

static int arrow_add(struct waitgraph *g, uint32_t from, uint32_t to, const struct waitfact *f)
{
	if (edges_move_to_end(g, from) < 0)
		return -ENOMEM;
	g->edge[g->n_edges++] = (struct waitgraph_edge){.to = to, .quality = WAITGRAPH_LIKELY, .fact = f};
	g->node[from].n_edges++;
	g->node[from].end = WAITEND_NONE;
	return 0;
}

/* True if each other rank waits for one of these two itself: who waits for somebody else may be about to come. */
static bool all_have_come(const struct waitgraph *g, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		bool here = i == a || i == b || !is_main(n) || n->thread->ended;
		for (uint32_t k = 0; k < n->n_edges && !here; k++)
			here = g->edge[n->first_edge + k].to == a || g->edge[n->first_edge + k].to == b;
		if (!here)
			return false;
	}
	return true;
}

/* Two ranks wait at doors of one kind, and all others have come: each of them waits for the other one. */
static int arrows_of_a_pair(const struct waitgraph_in *in, struct waitgraph *g, size_t sink, uint32_t from)
{
	const struct waitfact *f = awaits_visitors(in, &g->node[from]);
	uint32_t other = WAITGRAPH_NONE;
	size_t n = 0;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (i != from && at_its_own_door(in, g, i, f)) {
			other = i;
			n++;
		}
	if (n != 1 || g->sink[sink].n_followers == 0 || !at_its_own_door(in, g, from, f) ||
	    !all_have_come(g, from, other))
		return 0;
	if (arrow_add(g, from, other, f) < 0 || arrow_add(g, other, from, awaits_visitors(in, &g->node[other])) < 0)
		return -ENOMEM;
	return 2;
}

static int arrows_to_missing(const struct waitgraph_in *in, struct waitgraph *g, size_t sink, uint32_t from)
{
	const struct waitfact *f = awaits_visitors(in, &g->node[from]);
	size_t n = 0;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		n += is_missing(in, g, &g->node[i], sink, f);
	if (n == 0)
		return arrows_of_a_pair(in, g, sink, from);
	if (edges_move_to_end(g, from) < 0 || vec_room(&g->edge, &g->cap_edges, g->n_edges + n) < 0)
		return -ENOMEM;
	/* ranks meet by their main processes; what a helper of one opens may be for anybody */
	const bool of_ranks = f->kind != WAITFACT_FIFO || is_main(&g->node[from]);
	enum waitgraph_quality q = n == 1 && of_ranks ? WAITGRAPH_LIKELY : WAITGRAPH_POSSIBLE;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (!is_missing(in, g, &g->node[i], sink, f))
			continue;
		g->edge[g->n_edges++] = (struct waitgraph_edge){.to = i, .quality = q, .fact = f};
		g->node[from].n_edges++;
	}
	g->node[from].end = WAITEND_NONE;
	return (int)n;
}

/* Further requests of the same server that wait for the same object wait for the same ranks. */
static int alike_arrows_add(const struct waitgraph_in *in, struct waitgraph *g, size_t sink, uint32_t first)
{
	for (size_t i = sink + 1; i < g->n_sinks && g->node[first].thread->goroutine; i++) {
		uint32_t from = host_of(in, g, &g->sink[i]);
		const struct waitgraph_node *a = &g->node[first], *b = from == WAITGRAPH_NONE ? NULL : &g->node[from];
		bool alike = b && a->process == b->process && a->fact && b->fact && a->fact->kind == WAITFACT_OBJECT &&
			     b->fact->kind == WAITFACT_OBJECT && a->fact->id == b->fact->id;
		if (alike && arrows_to_missing(in, g, i, from) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Ranks that wait for connections, or for anything else that anybody may bring, wait for the ranks that do not come to
 * them. Adds arrows to those; *ret: there were any.
 */
static int missing_arrows_add(const struct waitgraph_in *in, struct waitgraph *g, bool *ret)
{
	for (size_t i = 0; i < g->n_sinks; i++) {
		uint32_t from = host_of(in, g, &g->sink[i]);
		int n = from == WAITGRAPH_NONE ? 0 : arrows_to_missing(in, g, i, from);
		if (n == 0)
			continue;
		*ret = n > 0;
		g->by_absence = *ret;
		return n > 0 ? alike_arrows_add(in, g, i, from) : n;
	}
	return 0;
}

/* ---- ranks that look again and again ---- */

/* A main thread of a rank that sleeps between looks, and ran meanwhile. */
static bool polls(const struct waitgraph_in *in, const struct waitgraph_node *n)
{
	bool sleeps = is_main(n) && n->end == WAITEND_CLOCK && n->fact && n->fact->kind == WAITFACT_CLOCK;
	const struct waitfact_thread *before =
		sleeps && in->before ? waitfacts_thread(in->before, n->thread->pid, n->thread->tid) : NULL;
	return before && before->runs_so_far != n->thread->runs_so_far;
}

/* The one end of all ranks that do not poll; SIZE_MAX: none, or several. */
static size_t end_of_others(const struct waitgraph_in *in, const struct waitgraph *g)
{
	size_t end = SIZE_MAX;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!is_main(n) || polls(in, n))
			continue;
		if (n->sink == WAITGRAPH_NONE || (end != SIZE_MAX && end != n->sink))
			return SIZE_MAX;
		end = n->sink;
	}
	return end;
}

/*
 * The one rank of at least three that does not try for a lock file which is there, if all others do: it has had its
 * turn, or has it. WAITGRAPH_NONE: there is no such rank.
 */
static uint32_t only_one_without_a_try(const struct waitgraph_in *in, const struct waitgraph *g)
{
	uint32_t one = WAITGRAPH_NONE;
	size_t n = 0;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		if (!is_main(x))
			continue;
		n++;
		if (polls(in, x) && x->hint && x->hint->kind == WAITHINT_RETRY && x->hint->exists)
			continue;
		if (one != WAITGRAPH_NONE)
			return WAITGRAPH_NONE;
		one = i;
	}
	return n > 2 ? one : WAITGRAPH_NONE;
}

static int polling_arrows_to(const struct waitgraph_in *in, struct waitgraph *g, uint32_t to, enum waitgraph_quality q)
{
	int n = 0;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (!polls(in, &g->node[i]) || g->node[i].n_edges > 0)
			continue;
		if (edges_move_to_end(g, i) < 0)
			return -ENOMEM;
		g->edge[g->n_edges++] = (struct waitgraph_edge){.to = to, .quality = q, .fact = g->node[i].fact};
		g->node[i].n_edges = 1;
		g->node[i].end = WAITEND_NONE;
		n++;
	}
	return n;
}

/*
 * Ranks that poll wait for something that they look at. Where all others come to one end, it is that. One that waits
 * for a rank which tries for a lock file, as all others do, is what these wait for: the lock is passed round.
 */
static int polling_arrows_add(const struct waitgraph_in *in, struct waitgraph *g, bool *ret)
{
	size_t end = end_of_others(in, g);
	const struct waitgraph_sink *s = end != SIZE_MAX ? &g->sink[end] : NULL;
	if (!s || s->end == WAITEND_VISITOR || !g->node[s->node].thread)
		return 0;
	const bool circle = s->end == WAITEND_CLOCK && polls(in, &g->node[s->node]);
	const uint32_t one = circle ? only_one_without_a_try(in, g) : WAITGRAPH_NONE;
	if (s->end == WAITEND_CLOCK && one == WAITGRAPH_NONE)
		return 0;
	int n = one == WAITGRAPH_NONE ? polling_arrows_to(in, g, s->node, WAITGRAPH_POSSIBLE)
				      : polling_arrows_to(in, g, one, WAITGRAPH_LIKELY);
	*ret = n > 0;
	g->by_polling = n > 0 && one == WAITGRAPH_NONE;
	return MIN(n, 0);
}

int waitgraph_guess(const struct waitgraph_in *in, struct waitgraph *g, bool *ret)
{
	*ret = false;
	int r = missing_arrows_add(in, g, ret);
	return r || *ret ? r : polling_arrows_add(in, g, ret);
}
