/* Waits for graphviz, in DOT (graphviz.org/doc/info/lang.html): a box for each process, arrows between threads. */
#include "base/buf.h"
#include "tell/stacks/waits_parts.h"

/* Longer texts make boxes that hide the graph. */
#define LABEL_COLUMNS 72

/* The inside of a quoted string, in which only '"' and '\' are special. */
static void put_text(const char *text, FILE *to)
{
	char clean[700];
	textout_clean(text, clean, sizeof(clean));
	size_t columns = 0;
	for (const char *c = clean; *c; c++) {
		columns += ((unsigned char)*c & 0xc0) != 0x80;
		if (columns > LABEL_COLUMNS) {
			(void)fputs("…", to);
			return;
		}
		if (*c == '"' || *c == '\\')
			(void)fputc('\\', to);
		(void)fputc(*c, to);
	}
}

static void put_name(const struct waitgraph *g, uint32_t node, FILE *to)
{
	const struct waitgraph_node *n = &g->node[node];
	if (n->thread)
		(void)fprintf(to, "t%d_%d", (int)n->thread->pid, (int)n->thread->tid);
	else
		(void)fprintf(to, "o%u", (unsigned)node);
}

static void thread_dot(const struct waits_view *v, uint32_t node, FILE *to)
{
	const struct waitgraph_node *n = &v->graph->node[node];
	char what[600];
	waits_what(n, what, sizeof(what));
	(void)fputs("    ", to);
	put_name(v->graph, node, to);
	char thread[40];
	struct buf b = BUF_ON(thread);
	buf_reset(&b);
	waitgraph_thread_text(n->thread, "", &b);
	(void)fprintf(to, " [label=\"%s%s\\n", n->main && !n->thread->goroutine ? "main " : "", thread);
	put_text(what[0] ? what : waits_does(n), to);
	(void)fprintf(to, "\"%s];\n", n->dead ? ", color=red" : n->end == WAITEND_RUNS ? ", color=darkgreen" : "");
}

static uint32_t process_dot(const struct waits_view *v, uint32_t first, const bool *shown, FILE *to)
{
	const struct waitgraph *g = v->graph;
	const struct waitfact_process *p = g->node[first].process;
	char who[240], text[300];
	uint32_t i = first;
	waitgraph_who_text(g, first, who, sizeof(who));
	TEXT_FORMAT(text, "%s, process %d (%s)", who, (int)p->pid, p->name);
	(void)fprintf(to, "  subgraph cluster_%d {\n    label=\"", (int)p->pid);
	put_text(g->node[first].who && g->node[first].who->rank != NO_RANK ? text : who, to);
	(void)fputs("\";\n", to);
	for (; i < g->n_nodes && g->node[i].thread && g->node[i].process == p; i++)
		if (shown[i])
			thread_dot(v, i, to);
	(void)fputs("  }\n", to);
	return i;
}

static void outside_dot(const struct waits_view *v, uint32_t node, FILE *to)
{
	char who[240];
	waitgraph_who_text(v->graph, node, who, sizeof(who));
	(void)fprintf(to, "  o%u [shape=ellipse, label=\"", (unsigned)node);
	put_text(who, to);
	(void)fputs("\"];\n", to);
}

/* One thread of several: a node of its own, as many arrows would hide the others. */
static void any_dot(const struct waits_view *v, uint32_t from, const struct waits_arrow *a, FILE *to)
{
	const struct waitfact_process *p = v->graph->node[a->edge->to].process;
	unsigned id = (unsigned)(a->edge - v->graph->edge);
	char who[240];
	waitgraph_who_text(v->graph, a->edge->to, who, sizeof(who));
	(void)fprintf(to, "  any%u [shape=ellipse, style=dotted, label=\"any of %u threads of ", id, (unsigned)a->n);
	put_text(p ? who : "it", to);
	(void)fputs("\"];\n  ", to);
	put_name(v->graph, from, to);
	(void)fprintf(to, " -> any%u", id);
}

static void arrows_dot(const struct waits_view *v, uint32_t from, FILE *to)
{
	static const char *const styles[] = {
		[WAITGRAPH_POSSIBLE] = "dotted", [WAITGRAPH_LIKELY] = "dashed", [WAITGRAPH_PROOF] = "solid"};
	struct waits_arrow a;
	for (uint32_t at = 0; waits_arrow_next(v->graph, &v->graph->node[from], &at, &a);) {
		if (a.n > 1) {
			any_dot(v, from, &a, to);
		} else {
			(void)fputs("  ", to);
			put_name(v->graph, from, to);
			(void)fputs(" -> ", to);
			put_name(v->graph, a.edge->to, to);
		}
		(void)fprintf(to, " [style=%s, label=\"", styles[a.edge->quality]);
		put_text(waits_arrow_kind(a.edge), to);
		(void)fputs("\"];\n", to);
	}
}

void waits_dot(const struct waits_view *v, const struct waits_how *how, FILE *to)
{
	const struct waitgraph *g = v->graph;
	cleanup(freep) bool *shown = waits_shown(v, how);
	(void)fputs("digraph waits {\n  rankdir=LR;\n  node [shape=box];\n  label=\"", to);
	put_text(v->title, to);
	(void)fputs("\";\n", to);
	for (uint32_t i = 0; shown && i < g->n_nodes;)
		if (g->node[i].thread) {
			i = process_dot(v, i, shown, to);
		} else {
			if (shown[i])
				outside_dot(v, i, to);
			i++;
		}
	for (uint32_t i = 0; shown && i < g->n_nodes; i++)
		if (shown[i])
			arrows_dot(v, i, to);
	(void)fputs("}\n", to);
}
