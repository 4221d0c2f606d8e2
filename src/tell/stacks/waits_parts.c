/* What the text, JSON and DOT of waits have in common. */
#include "tell/stacks/waits_parts.h"

#include "base/buf.h"

bool waits_arrow_next(const struct waitgraph *g, const struct waitgraph_node *n, uint32_t *at, struct waits_arrow *ret)
{
	if (*at >= n->n_edges)
		return false;
	const struct waitgraph_edge *first = &g->edge[n->first_edge + *at];
	const struct waitfact_process *p = g->node[first->to].process;
	*ret = (struct waits_arrow){.edge = first, .n = 1};
	bool any = first->quality == WAITGRAPH_POSSIBLE && p && g->node[first->to].thread;
	while (any && *at + ret->n < n->n_edges) {
		const struct waitgraph_edge *e = &first[ret->n];
		if (e->quality != first->quality || e->fact != first->fact || e->hint != first->hint ||
		    g->node[e->to].process != p || !g->node[e->to].thread)
			break;
		ret->n++;
	}
	*at += ret->n;
	return true;
}

/* Nodes are followed over arrows that name one thread. */
static void follow(const struct waitgraph *g, bool *shown, uint32_t *todo, size_t n)
{
	while (n > 0) {
		const struct waitgraph_node *x = &g->node[todo[--n]];
		struct waits_arrow a;
		for (uint32_t at = 0; waits_arrow_next(g, x, &at, &a);) {
			if (a.n > 1 || shown[a.edge->to])
				continue;
			shown[a.edge->to] = true;
			todo[n++] = a.edge->to;
		}
	}
}

/* True of a thread of the first end's process that waits in a circle with it; of a pool's many threads none is. */
static bool is_of_first_end(const struct waitgraph *g, uint32_t node)
{
	const uint32_t most = 8;
	const struct waitgraph_sink *s = g->n_sinks ? &g->sink[0] : NULL;
	const struct waitgraph_node *n = &g->node[node];
	return s && s->n_followers > 0 && s->n_nodes > 1 && s->n_nodes <= most && n->thread &&
	       n->process == g->node[s->node].process && n->component == g->node[s->node].component;
}

bool *waits_shown(const struct waits_view *v, const struct waits_how *how)
{
	const struct waitgraph *g = v->graph;
	bool *shown = calloc(g->n_nodes + 1, sizeof(*shown));
	cleanup(freep) uint32_t *todo = calloc(g->n_nodes + 1, sizeof(*todo));
	size_t n = 0;
	if (!shown || !todo) {
		free(shown);
		return NULL;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		bool first_end = g->n_sinks > 0 && g->sink[0].n_followers > 0 && g->sink[0].node == i;
		shown[i] = how->all || g->node[i].main || first_end || is_of_first_end(g, i);
		if (shown[i])
			todo[n++] = i;
	}
	follow(g, shown, todo, n);
	return shown;
}

const char *waits_arrow_kind(const struct waitgraph_edge *e)
{
	if (e->fact)
		return waitfact_kind_name(e->fact->kind);
	if (e->hint && e->hint->kind == WAITHINT_CALL)
		return "call";
	if (e->hint && e->hint->kind == WAITHINT_RESULT)
		return "result";
	return e->hint && e->hint->kind == WAITHINT_RANK ? "collective" : "lock";
}

const char *waits_end_name(enum waitgraph_end e)
{
	static const char *const names[] = {
		[WAITEND_NONE] = "none",	  [WAITEND_RUNS] = "runs",	 [WAITEND_CLOCK] = "sleeps",
		[WAITEND_NOBODY] = "nobody",	  [WAITEND_GONE] = "gone",	 [WAITEND_CIRCLE] = "circle",
		[WAITEND_STOPPED] = "stopped",	  [WAITEND_TRACED] = "traced",	 [WAITEND_FROZEN] = "frozen",
		[WAITEND_OUTSIDE] = "outside",	  [WAITEND_VISITOR] = "visitor", [WAITEND_STORAGE] = "storage",
		[WAITEND_DEVICE] = "device",	  [WAITEND_PERSON] = "person",	 [WAITEND_OWN] = "own_thread",
		[WAITEND_ANY] = "any_of_several", [WAITEND_UNKNOWN] = "unknown",
	};
	return (size_t)e < ARRAY_SIZE(names) ? names[e] : "unknown";
}

const char *waits_does(const struct waitgraph_node *n)
{
	if (n->end == WAITEND_RUNS)
		return "runs";
	if (n->end == WAITEND_CLOCK)
		return "sleeps";
	return n->thread && n->thread->ended ? "ended" : "waits";
}

/* "its thread 812", "goroutine 7 of rank 0". */
static void thread_who(const struct waitgraph_node *n, const char *process, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	if (!process[0])
		buf_add(&b, "its ");
	waitgraph_thread_text(n->thread, process[0] ? " of " : "", &b);
	buf_add(&b, process);
}

void waits_who(const struct waitgraph *g, uint32_t node, uint32_t in, char *dst, size_t cap)
{
	char process[200], text[240];
	const struct waitgraph_node *n = &g->node[node];
	bool same = in != WAITGRAPH_NONE && n->process && g->node[in].process == n->process;
	waitgraph_who_text(g, node, process, sizeof(process));
	if (!n->thread || (n->main && !same))
		TEXT_COPY(text, process);
	else if (same && n->main && !n->thread->goroutine)
		TEXT_FORMAT(text, "its main thread %d", (int)n->thread->tid);
	else
		thread_who(n, same ? "" : process, text, sizeof(text));
	textout_clean(text, dst, cap);
}

void waits_what(const struct waitgraph_node *n, char *dst, size_t cap)
{
	char text[600];
	waitgraph_wait_text(n, text, sizeof(text));
	textout_clean(text, dst, cap);
}
