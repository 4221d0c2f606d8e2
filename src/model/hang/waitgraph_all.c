/*
 * Waits that end when all of several holders have let go: a lock of a file that one wants alone and several share. Of
 * such a dead thread's arrows those matter that lead to who can never let go, and of these the ones that close a
 * circle: it is a proof whatever the other holders do.
 */
#include "model/hang/waitgraph_parts.h"

/* Threads in such waits from which circles are searched; of more, all arrows stay. */
#define STARTS_MOST 64

static bool needs_all(const struct waitgraph *g, uint32_t node)
{
	const struct waitgraph_node *n = &g->node[node];
	const struct waitgraph_edge *e = n->n_edges ? &g->edge[n->first_edge] : NULL;
	return n->dead && n->thread && n->thread->n == 1 && e && e->fact && e->fact->all;
}

/* One holder that can never let go is enough. */
static void drop_live(struct waitgraph *g, struct waitgraph_node *n)
{
	uint32_t kept = 0;
	struct waitgraph_edge *e = &g->edge[n->first_edge];
	for (uint32_t i = 0; i < n->n_edges; i++)
		if (g->node[e[i].to].dead)
			e[kept++] = e[i];
	n->n_edges = kept ? kept : n->n_edges;
}

/* True if the thread cannot go on before the other end of any of its arrows does. of_locks: of shared locks alone. */
static bool is_bound(const struct waitgraph *g, uint32_t node, bool of_locks)
{
	const struct waitgraph_node *n = &g->node[node];
	if (needs_all(g, node))
		return true;
	return !of_locks && n->dead && n->n_edges == 1 && g->edge[n->first_edge].quality == WAITGRAPH_PROOF;
}

/* The shortest way from a thread back to itself; from[] of each node on it is the one before. */
static bool circle_find(const struct waitgraph *g, uint32_t start, bool of_locks, uint32_t *from, uint32_t *queue)
{
	size_t n = 0, done = 0;
	for (size_t i = 0; i < g->n_nodes; i++)
		from[i] = WAITGRAPH_NONE;
	queue[n++] = start;
	for (; done < n; done++) {
		const struct waitgraph_node *x = &g->node[queue[done]];
		for (uint32_t k = 0; is_bound(g, queue[done], of_locks) && k < x->n_edges; k++) {
			const uint32_t to = g->edge[x->first_edge + k].to;
			if (from[to] != WAITGRAPH_NONE)
				continue;
			from[to] = queue[done];
			if (to == start)
				return true;
			queue[n++] = to;
		}
	}
	return false;
}

/* Of each node of the circle the arrow along it stays alone. */
static void circle_keep(struct waitgraph *g, uint32_t start, const uint32_t *from)
{
	uint32_t to = start;
	do {
		struct waitgraph_node *n = &g->node[from[to]];
		for (uint32_t k = 0; k < n->n_edges; k++)
			if (g->edge[n->first_edge + k].to == to)
				g->edge[n->first_edge] = g->edge[n->first_edge + k];
		n->n_edges = 1;
		to = from[to];
	} while (to != start);
}

/* Circles of those who share the lock come first: who waits for one of them while it shares it as well follows. */
int waitgraph_narrow_all(struct waitgraph *g)
{
	size_t starts = 0;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (!needs_all(g, i))
			continue;
		starts++;
		drop_live(g, &g->node[i]);
	}
	if (starts == 0 || starts > STARTS_MOST)
		return 0;
	cleanup(freep) uint32_t *from = calloc(g->n_nodes + 1, sizeof(*from));
	cleanup(freep) uint32_t *queue = calloc(g->n_nodes + 1, sizeof(*queue));
	if (!from || !queue)
		return -ENOMEM;
	for (int of_locks = 1; of_locks >= 0; of_locks--)
		for (uint32_t i = 0; i < g->n_nodes; i++)
			if (needs_all(g, i) && g->node[i].n_edges > 1 && circle_find(g, i, of_locks, from, queue))
				circle_keep(g, i, from);
	return 0;
}
