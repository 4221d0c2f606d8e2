#include "model/stacks/calls_stackset.h"

#include "sense/rank.h"

/* Values of a node with all nodes below it, and of the node alone (own). */
struct weight {
	uint64_t samples, own_samples;
	uint64_t ns, own_ns;
};

struct making {
	const struct stackset *set;
	const struct stack_node *nodes;
	size_t n;
	struct calls *calls;
	struct weight *weight;
	uint32_t *function; /* of a node; UINT32_MAX for a root */
	bool *hidden; /* a node further out has the same function (recursion) */
};

static void making_done(struct making *m)
{
	free(m->weight);
	free(m->function);
	free(m->hidden);
	(void)calls_free(m->calls);
}

/* Nodes come after their parents, so one pass from the end sums all subtrees. */
static void weigh(struct making *m)
{
	for (size_t i = m->n; i-- > 0;) {
		const struct stack_node *node = &m->nodes[i];
		struct weight *w = &m->weight[i];
		for (int k = 0; k < SAMPLE_STATE_MAX; k++) {
			w->own_samples += node->self_samples[k];
			w->own_ns += node->self_weight[k];
		}
		w->samples += w->own_samples;
		w->ns += w->own_ns;
		if (node->parent != i) {
			m->weight[node->parent].samples += w->samples;
			m->weight[node->parent].ns += w->ns;
		}
	}
}

static int name(struct making *m, size_t i)
{
	const struct stack_node *node = &m->nodes[i];
	m->function[i] = UINT32_MAX;
	if (node->parent == i || node->frame == UINT32_MAX)
		return 0;
	const struct frame *f = stackset_frame(m->set, node->frame);
	/* native code and notes have no source file and are named as cProfile names built-ins */
	const char *file = f->file[0] ? f->file : "~";
	int r = calls_function(m->calls, file, MAX(f->first_line, 0), f->name, &m->function[i]);
	if (r < 0)
		return r;
	for (uint32_t up = node->parent; m->nodes[up].parent != up && !m->hidden[i]; up = m->nodes[up].parent)
		m->hidden[i] = m->function[up] == m->function[i];
	return 0;
}

static int count(struct making *m, size_t i)
{
	const struct weight *w = &m->weight[i];
	const uint32_t f = m->function[i], caller = m->function[m->nodes[i].parent];
	const double own_s = (double)w->own_ns / 1e9, all_s = m->hidden[i] ? 0 : (double)w->ns / 1e9;
	const struct pstats_number n = {w->own_samples, m->hidden[i] ? 0 : w->samples, own_s, all_s};
	calls_count(m->calls, f, &n);
	if (caller == UINT32_MAX)
		return 0;
	const struct call_edge e = {caller, n.n_calls, n.n_primitive, own_s, all_s};
	return calls_edge(m->calls, f, &e);
}

static bool same_part(const struct stack_lane *a, const struct stack_lane *b)
{
	return a->rank == NO_RANK && b->rank == NO_RANK ? a->pid == b->pid : a->rank == b->rank;
}

/* Counts all nodes of the lanes that are in one part with lane `first`. */
static int count_part(struct making *m, const struct stack_lane *lanes, size_t first)
{
	for (size_t i = 0; i < m->n; i++) {
		int r = 0;
		if (m->function[i] != UINT32_MAX && same_part(&lanes[first], &lanes[m->nodes[i].lane]))
			r = count(m, i);
		if (r < 0)
			return r;
	}
	calls_part_end(m->calls, lanes[first].rank);
	return 0;
}

int calls_from_stackset(const struct stackset *s, struct calls **ret)
{
	size_t n_lanes, n;
	const struct stack_lane *lanes = stackset_lanes(s, &n_lanes);
	const struct stack_node *nodes = stackset_nodes(s, &n);
	cleanup(making_done) struct making m = {.set = s,
						.nodes = nodes,
						.n = n,
						.calls = calls_new(),
						.weight = calloc(n + 1, sizeof(*m.weight)),
						.function = calloc(n + 1, sizeof(*m.function)),
						.hidden = calloc(n + 1, sizeof(*m.hidden))};
	if (!m.calls || !m.weight || !m.function || !m.hidden)
		return -ENOMEM;
	calls_set_sampled(m.calls);
	weigh(&m);
	int r = 0;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = name(&m, i);
	for (size_t i = 0; r == 0 && i < n_lanes; i++) {
		bool seen = false;
		for (size_t k = 0; k < i && !seen; k++)
			seen = same_part(&lanes[k], &lanes[i]);
		r = seen ? 0 : count_part(&m, lanes, i);
	}
	if (r < 0)
		return r;
	*ret = take(&m.calls);
	return 0;
}
