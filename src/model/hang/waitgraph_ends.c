/*
 * Where the arrows end: the parts of the graph that wait for each other (strongly connected components, Tarjan 1972,
 * without recursion), those of them that no arrow leaves, and which main processes come to which.
 */
#include <string.h>

#include "base/vec.h"
#include "model/hang/waitgraph_parts.h"
#include "model/jobs/role.h"
#include "sense/rank.h"

/* One visit of Tarjan's algorithm: the node, and its next arrow. */
struct visit {
	uint32_t node, next;
};

struct search {
	struct waitgraph *g;
	uint32_t *index, *low, *stack;
	bool *on_stack;
	struct visit *visit;
	size_t n_stack, n_visits;
	uint32_t n_indexed, n_components;
};

static void visit_begin(struct search *s, uint32_t node)
{
	s->index[node] = s->low[node] = ++s->n_indexed;
	s->stack[s->n_stack++] = node;
	s->on_stack[node] = true;
	s->visit[s->n_visits++] = (struct visit){node, 0};
}

static void component_end(struct search *s, uint32_t root)
{
	uint32_t node;
	do {
		node = s->stack[--s->n_stack];
		s->on_stack[node] = false;
		s->g->node[node].component = s->n_components;
	} while (node != root);
	s->n_components++;
}

static void visit_step(struct search *s)
{
	struct visit *v = &s->visit[s->n_visits - 1];
	const struct waitgraph_node *n = &s->g->node[v->node];
	if (v->next < n->n_edges) {
		uint32_t to = s->g->edge[n->first_edge + v->next++].to;
		if (s->index[to] == 0)
			visit_begin(s, to);
		else if (s->on_stack[to])
			s->low[v->node] = MIN(s->low[v->node], s->index[to]);
		return;
	}
	uint32_t node = v->node;
	s->n_visits--;
	if (s->n_visits > 0) {
		uint32_t above = s->visit[s->n_visits - 1].node;
		s->low[above] = MIN(s->low[above], s->low[node]);
	}
	if (s->low[node] == s->index[node])
		component_end(s, node);
}

static int components_find(struct waitgraph *g, uint32_t *ret_n)
{
	size_t n = g->n_nodes + 1;
	cleanup(freep) uint32_t *index = calloc(n, sizeof(*index)), *low = calloc(n, sizeof(*low));
	cleanup(freep) uint32_t *stack = calloc(n, sizeof(*stack));
	cleanup(freep) bool *on_stack = calloc(n, sizeof(*on_stack));
	cleanup(freep) struct visit *visit = calloc(n, sizeof(*visit));
	struct search s = {.g = g, .index = index, .low = low, .stack = stack, .on_stack = on_stack, .visit = visit};
	if (!index || !low || !stack || !on_stack || !visit)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (index[i] != 0)
			continue;
		visit_begin(&s, i);
		while (s.n_visits > 0)
			visit_step(&s);
	}
	*ret_n = s.n_components;
	return 0;
}

/* ---- sinks ---- */

static void sink_rank_add(struct waitgraph_sink *s, int32_t rank)
{
	for (size_t i = 0; i < s->n_ranks; i++)
		if (s->rank[i] == rank)
			return;
	if (rank != NO_RANK && s->n_ranks < WAITGRAPH_RANKS)
		s->rank[s->n_ranks++] = rank;
}

/* The rank to whom a process belongs: its own, or that of the process that started it. */
static int32_t rank_of(const struct waitgraph_in *in, const struct waitgraph_node *n)
{
	const struct waitfact_process *p = n->process;
	for (int up = 0; p && up < 8; up++) {
		const struct waitgraph_who *who = waitgraph_who_of(in, p->pid);
		if (who && who->rank != NO_RANK)
			return who->rank;
		p = p->ppid > 1 ? waitfacts_process(in->now, p->ppid) : NULL;
	}
	return NO_RANK;
}

/* How well a node stands for its end. */
static int telling(const struct waitgraph_node *n)
{
	return (n->who && n->who->main && n->main ? 4 : 0) + (n->main ? 2 : 0) + (n->thread ? 1 : 0);
}

static bool leaves(const struct waitgraph *g, const struct waitgraph_node *n)
{
	for (uint32_t i = 0; i < n->n_edges; i++)
		if (g->node[g->edge[n->first_edge + i].to].component != n->component)
			return true;
	return false;
}

static void sink_take(const struct waitgraph_in *in, struct waitgraph *g, struct waitgraph_sink *s, uint32_t i)
{
	const struct waitgraph_node *n = &g->node[i];
	bool first = s->n_nodes == 0;
	s->n_nodes++;
	s->one_process = first || (s->one_process && n->process == g->node[s->node].process);
	if (first || telling(n) > telling(&g->node[s->node]))
		s->node = i;
	s->dead = (first || s->dead) && n->dead;
	s->outside = (first || s->outside) && !n->thread;
	s->of_main |= n->main && n->who && n->who->main;
	bool by_history = n->n_edges == 1 && n->usual && g->edge[n->first_edge].hint == n->usual;
	s->closed = (first || s->closed) && n->n_edges == 1 && !by_history;
	for (uint32_t k = 0; k < n->n_edges; k++)
		s->circle = MIN(s->circle, g->edge[n->first_edge + k].quality);
	if (n->thread)
		sink_rank_add(s, rank_of(in, n));
}

/* Who all wait for one thing that they share are rivals, not a circle: none of them has it. */
static bool is_one_thing(const struct waitgraph *g, uint32_t component, const struct waitgraph_sink *s)
{
	const struct waitfact *thing = g->node[s->node].fact;
	if (!thing || thing->kind != WAITFACT_SHARED)
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitfact *fact = g->node[i].component == component ? g->node[i].fact : thing;
		if (!fact || fact->kind != thing->kind || fact->id != thing->id)
			return false;
	}
	return true;
}

/* What a circle is: of threads of one process whose arrows are only possible ones, it is no circle. */
static enum waitgraph_end circle_end(const struct waitgraph *g, uint32_t component, const struct waitgraph_sink *s)
{
	const struct waitfact_process *p = NULL;
	if (s->closed && is_one_thing(g, component, s))
		return WAITEND_NOBODY;
	for (size_t i = 0; i < g->n_nodes; i++) {
		if (g->node[i].component != component)
			continue;
		if (p && g->node[i].process != p)
			return WAITEND_CIRCLE;
		p = g->node[i].process;
	}
	return s->closed ? WAITEND_CIRCLE : WAITEND_OWN;
}

static int sinks_list(const struct waitgraph_in *in, struct waitgraph *g, uint32_t n_components)
{
	cleanup(freep) bool *open = calloc(n_components + 1, sizeof(*open));
	cleanup(freep) uint32_t *sink_of = calloc(n_components + 1, sizeof(*sink_of));
	if (!open || !sink_of)
		return -ENOMEM;
	for (size_t i = 0; i < g->n_nodes; i++)
		open[g->node[i].component] |= leaves(g, &g->node[i]);
	for (size_t i = 0; i < g->n_nodes; i++) {
		uint32_t c = g->node[i].component;
		if (open[c])
			continue;
		if (sink_of[c] == 0) {
			if (vec_room(&g->sink, &g->cap_sinks, g->n_sinks + 1) < 0)
				return -ENOMEM;
			g->sink[g->n_sinks] =
				(struct waitgraph_sink){.quality = WAITGRAPH_PROOF, .circle = WAITGRAPH_PROOF};
			sink_of[c] = (uint32_t)++g->n_sinks;
		}
		sink_take(in, g, &g->sink[sink_of[c] - 1], (uint32_t)i);
	}
	for (size_t i = 0; i < g->n_sinks; i++) {
		struct waitgraph_sink *s = &g->sink[i];
		const struct waitgraph_node *n = &g->node[s->node];
		s->end = s->n_nodes > 1 || n->n_edges > 0 ? circle_end(g, n->component, s) : n->end;
		s->closed &= s->end == WAITEND_CIRCLE;
		s->holds = s->dead && s->of_main;
	}
	return 0;
}

/* ---- who comes to which ---- */

struct reach {
	const struct waitgraph *g;
	uint32_t *stack;
	uint8_t *best; /* of each node: 1 + quality of the best way to it; 0: none */
};

/* The best way from a node to every other: ways are as good as their weakest arrow. */
static void reach_from(struct reach *r, uint32_t from)
{
	memset(r->best, 0, r->g->n_nodes);
	r->best[from] = WAITGRAPH_PROOF + 1;
	for (int level = WAITGRAPH_PROOF; level >= WAITGRAPH_POSSIBLE; level--) {
		size_t n = 0;
		for (uint32_t i = 0; i < r->g->n_nodes; i++)
			if (r->best[i] > level)
				r->stack[n++] = i;
		while (n > 0) {
			const struct waitgraph_node *x = &r->g->node[r->stack[--n]];
			for (uint32_t k = 0; k < x->n_edges; k++) {
				const struct waitgraph_edge *e = &r->g->edge[x->first_edge + k];
				if ((int)e->quality < level || r->best[e->to] != 0)
					continue;
				r->best[e->to] = (uint8_t)(level + 1);
				r->stack[n++] = e->to;
			}
		}
	}
}

/* Counts a main process for the ends to which its best ways lead. */
static void follow(struct waitgraph *g, const struct reach *r, uint32_t from)
{
	uint8_t best = 0;
	for (size_t i = 0; i < g->n_sinks; i++)
		best = MAX(best, r->best[g->sink[i].node]);
	for (size_t i = 0; i < g->n_sinks && best > 0; i++) {
		struct waitgraph_sink *s = &g->sink[i];
		if (r->best[s->node] != best || g->node[s->node].component == g->node[from].component)
			continue;
		s->n_followers++;
		s->holds |= s->dead && g->node[from].dead;
		s->quality = MIN(s->quality, (enum waitgraph_quality)(best - 1));
	}
}

static size_t weight(const struct waitgraph_sink *s)
{
	return s->n_followers * 2 + s->of_main;
}

static int sinks_compare(const void *a, const void *b)
{
	const struct waitgraph_sink *x = a, *y = b;
	if (weight(x) != weight(y))
		return weight(x) < weight(y) ? 1 : -1;
	if (x->holds != y->holds)
		return x->holds ? -1 : 1;
	if (x->dead != y->dead)
		return x->dead ? -1 : 1;
	if (x->quality != y->quality)
		return x->quality < y->quality ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

/*
 * An end that can never go on is the most telling, unless it is not proved that it holds anybody up and another one, to
 * which as many come, goes on by itself: they may wait for that.
 */
static void acting_end_first(struct waitgraph *g)
{
	const struct waitgraph_sink *first = g->sink;
	if (g->n_sinks == 0 || !first->dead || first->holds || first->n_followers == 0)
		return;
	for (size_t i = 1; i < g->n_sinks && weight(&g->sink[i]) == weight(first); i++) {
		const struct waitgraph_sink s = g->sink[i];
		if ((s.end != WAITEND_CLOCK && s.end != WAITEND_RUNS) || s.quality < first->quality)
			continue;
		memmove(&g->sink[1], &g->sink[0], i * sizeof(s));
		g->sink[0] = s;
		return;
	}
}

static void end_of_main(struct waitgraph *g, const struct reach *r, uint32_t from)
{
	uint8_t best = 0;
	for (size_t i = 0; i < g->n_sinks; i++) {
		uint8_t way = r->best[g->sink[i].node];
		if (way > best) {
			best = way;
			g->node[from].sink = (uint32_t)i;
		}
	}
}

/* An end outside of the job, or a process of no rank: the ranks that wait for it themselves. */
static void ranks_before(const struct waitgraph_in *in, struct waitgraph *g)
{
	for (size_t i = 0; i < g->n_sinks; i++) {
		struct waitgraph_sink *s = &g->sink[i];
		s->of_waiters = s->n_ranks == 0;
		for (size_t k = 0; s->of_waiters && k < g->n_nodes; k++) {
			const struct waitgraph_node *n = &g->node[k];
			for (uint32_t e = 0; e < n->n_edges; e++)
				if (g->edge[n->first_edge + e].to == s->node)
					sink_rank_add(s, rank_of(in, n));
		}
	}
}

/* Whether all ranks are in an end, or come to it, and none of them wakes up by itself. */
static void all_wait_find(struct waitgraph *g)
{
	size_t n = 0;
	uint32_t sink = WAITGRAPH_NONE;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		if (!x->main || !x->who || !x->who->main || x->who->rank == NO_RANK)
			continue;
		if (x->timed || x->sink == WAITGRAPH_NONE || (n > 0 && x->sink != sink))
			return;
		sink = x->sink;
		n++;
	}
	if (n > 1)
		g->sink[sink].all_wait = true;
}

static int compare_ranks(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static int ends_once(const struct waitgraph_in *in, struct waitgraph *g)
{
	uint32_t n_components = 0;
	cleanup(freep) uint32_t *stack = calloc(g->n_nodes * 2 + 1, sizeof(*stack));
	cleanup(freep) uint8_t *best = calloc(g->n_nodes + 1, sizeof(*best));
	struct reach r = {.g = g, .stack = stack, .best = best};
	g->n_sinks = 0;
	if (!stack || !best || components_find(g, &n_components) < 0 || sinks_list(in, g, n_components) < 0)
		return -ENOMEM;
	for (int turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0; i < g->n_nodes; i++) {
			const struct waitgraph_node *n = &g->node[i];
			if (!n->main || !n->who || !n->who->main)
				continue;
			reach_from(&r, i);
			if (turn == 0)
				follow(g, &r, i);
			else
				end_of_main(g, &r, i);
		}
		if (turn == 0 && g->n_sinks)
			qsort(g->sink, g->n_sinks, sizeof(*g->sink), sinks_compare);
		if (turn == 0)
			acting_end_first(g);
	}
	return 0;
}

static bool in_shared_memory(enum waitfact_kind k)
{
	return k == WAITFACT_SHARED || k == WAITFACT_SEMAPHORE || k == WAITFACT_MESSAGE || k == WAITFACT_EVENTFD;
}

/* True if a thread of its own to which it has an arrow waits for a process that is no rank: a broker, a server. */
static bool asks_a_helper(const struct waitgraph *g, const struct waitgraph_node *n)
{
	for (uint32_t i = 0; i < n->n_edges; i++) {
		const struct waitgraph_node *own = &g->node[g->edge[n->first_edge + i].to];
		for (uint32_t k = 0; own->process == n->process && k < own->n_edges; k++) {
			const struct waitgraph_node *to = &g->node[g->edge[own->first_edge + k].to];
			if (to->process != n->process && (!to->who || to->who->rank == NO_RANK))
				return true;
		}
	}
	return false;
}

bool waitgraph_waits_for_itself(const struct waitgraph_node *n)
{
	const struct waitfact *f = n->fact;
	return n->end == WAITEND_OWN && f && !n->timed && n->thread->n == 1 && n->process->n_threads == 1 &&
	       (f->kind == WAITFACT_TCP || f->kind == WAITFACT_UNIX) && f->n_holders == 1;
}

bool waitgraph_awaits_its_own(const struct waitgraph_node *n)
{
	return n->hint && n->hint->kind == WAITHINT_TEXT && !n->hint->proof && !n->timed && n->thread->n > 1;
}

/* True if not all of the circle are such loops: of these none is more the end than another. */
static bool has_others(const struct waitgraph *g, uint32_t component)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].component == component && !waitgraph_awaits_its_own(&g->node[i]))
			return true;
	return false;
}

/* In a circle of several processes such loops are the ends. True if there were any. */
static bool own_arrows_drop(struct waitgraph *g, uint32_t component)
{
	bool dropped = false, others = has_others(g, component);
	for (size_t i = 0; others && i < g->n_nodes; i++) {
		struct waitgraph_node *n = &g->node[i];
		if (n->component != component || !waitgraph_awaits_its_own(n))
			continue;
		n->n_edges = 0;
		n->end = WAITEND_OWN;
		dropped = true;
	}
	return dropped;
}

/* True of a circle of which none can ever go on, and all wait on something shared: none is more its end than others. */
static bool is_dead_and_vague(const struct waitgraph *g, uint32_t component)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->component == component && (!n->dead || !n->fact || !in_shared_memory(n->fact->kind)))
			return false;
	}
	return true;
}

/*
 * In a circle of ranks, the arrows of a thread that waits on something shared lead to all who share it, and say
 * little. Without them the circle may have an end: that thread. True if there were any.
 */
static bool vague_arrows_drop(struct waitgraph *g)
{
	bool dropped = false;
	const struct waitgraph_sink *s = g->n_sinks ? &g->sink[0] : NULL;
	if (!s || s->end != WAITEND_CIRCLE || (s->closed && s->circle > WAITGRAPH_POSSIBLE))
		return false;
	uint32_t component = g->node[s->node].component;
	if (!s->one_process && own_arrows_drop(g, component))
		return true;
	if (is_dead_and_vague(g, component))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
		/* To the one thread of its own that is not idle. */
		bool one = e && e->quality == WAITGRAPH_POSSIBLE && g->node[e->to].process == n->process;
		if (n->component != component || (n->n_edges < 2 && !one) || n->thread->n != 1 || n->calls ||
		    !in_shared_memory(n->fact->kind) || asks_a_helper(g, n))
			continue;
		n->n_edges = 0;
		n->end = WAITEND_ANY;
		dropped = true;
	}
	return dropped;
}

int waitgraph_find_ends(const struct waitgraph_in *in, struct waitgraph *g)
{
	bool guessed = false;
	int r = waitgraph_polled_memory(in, g);
	if (r == 0)
		r = ends_once(in, g);
	if (r == 0)
		r = waitgraph_guess(in, g, &guessed);
	if (r == 0 && (guessed || vague_arrows_drop(g)))
		r = ends_once(in, g);
	if (r)
		return r;
	ranks_before(in, g);
	all_wait_find(g);
	for (size_t i = 0; i < g->n_sinks; i++)
		qsort(g->sink[i].rank, g->sink[i].n_ranks, sizeof(g->sink[i].rank[0]), compare_ranks);
	return 0;
}

const struct waitgraph_sink *waitgraph_end_of(const struct waitgraph *g, pid_t pid)
{
	const struct waitgraph_node *n = waitgraph_thread(g, pid, 0);
	return n && n->sink != WAITGRAPH_NONE ? &g->sink[n->sink] : NULL;
}

bool waitgraph_waits(const struct waitgraph *g, pid_t pid)
{
	const struct waitgraph_node *n = waitgraph_thread(g, pid, 0);
	const struct waitgraph_sink *s = waitgraph_end_of(g, pid);
	if (!s || !n->who || g->node[s->node].component == n->component)
		return false;
	for (size_t i = 0; i < s->n_ranks; i++)
		if (s->rank[i] == n->who->rank)
			return false;
	return s->n_ranks > 0 && n->who->rank != NO_RANK;
}

#define LEADS_MOST 256 /* threads of its own rank that are looked through */

static int32_t rank_at(const struct waitgraph_node *n)
{
	return n->who ? n->who->rank : NO_RANK;
}

/* Whether it leads to another rank; the threads of its own rank on the way, itself first. */
static bool leads(const struct waitgraph *g, uint32_t node, uint32_t queue[static LEADS_MOST], size_t *ret_n)
{
	size_t n = 0, done = 0;
	int32_t own = rank_at(&g->node[node]);
	queue[n++] = node;
	*ret_n = n;
	for (; done < n && own != NO_RANK; done++) {
		const struct waitgraph_node *x = &g->node[queue[done]];
		for (uint32_t k = 0; k < x->n_edges; k++) {
			uint32_t to = g->edge[x->first_edge + k].to;
			int32_t rank = rank_at(&g->node[to]);
			bool seen = rank != own;
			if (rank != own && rank != NO_RANK)
				return true;
			for (size_t i = 0; i < n && !seen; i++)
				seen = queue[i] == to;
			if (!seen && n < LEADS_MOST)
				queue[n++] = to;
		}
	}
	*ret_n = n;
	return false;
}

bool waitgraph_leads_to_rank(const struct waitgraph *g, uint32_t node)
{
	uint32_t queue[LEADS_MOST];
	size_t n;
	return leads(g, node, queue, &n);
}

size_t waitgraph_own_running(const struct waitgraph *g, uint32_t node, pid_t *ret, size_t cap)
{
	uint32_t queue[LEADS_MOST];
	size_t n, found = 0;
	if (leads(g, node, queue, &n))
		return 0;
	for (size_t i = 1; i < n && found < cap; i++)
		if (g->node[queue[i]].thread && g->node[queue[i]].thread->runs)
			ret[found++] = g->node[queue[i]].thread->tid;
	return found;
}
