/* Waits for people: the ways to the ends first, then a line for each process. */
#include <string.h>

#include "base/buf.h"
#include "tell/stacks/waits_parts.h"

/* Ends that are shown; most jobs have one or two. */
#define ENDS_SHOWN 4
#define TARGETS_SHOWN 4

static const char *proof_text(const struct waitgraph_sink *s)
{
	if (s->dead)
		return "proved: none of its threads can ever go on";
	const bool among = s->end == WAITEND_CIRCLE || s->end == WAITEND_OWN;
	switch (among ? MIN(s->quality, s->circle) : s->quality) {
	case WAITGRAPH_PROOF:
		return "each step is read from the system, but that it lasts is not proved";
	case WAITGRAPH_LIKELY:
		return "likely: a step on the way could mislead";
	default:
		return "possible: on the way it is one of several that could be meant";
	}
}

static enum textout_ink end_ink(const struct waitgraph_sink *s)
{
	return s->dead ? INK_RED : s->end == WAITEND_RUNS || s->end == WAITEND_CLOCK ? INK_PLAIN : INK_YELLOW;
}

/* How many main processes wait for an end. */
static void followers_text(const struct waitgraph_sink *s, char *dst, size_t cap)
{
	if (s->n_followers == 0)
		text_format(dst, cap, "nobody else waits for it");
	else
		text_format(dst, cap, "%zu %s for it", s->n_followers, s->n_followers == 1 ? "waits" : "wait");
}

/*
 * True of threads of which one waits within a limit, or for any of several things, or for one that several could bring:
 * what they wait for need not be each other.
 */
static bool may_be_others(const struct waitgraph *g, const struct waitgraph_sink *s)
{
	bool several = s->circle == WAITGRAPH_POSSIBLE;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		several |= n->component == g->node[s->node].component && (n->timed || (n->thread && n->thread->n > 1));
	}
	return several && !s->dead;
}

static void waits_text_end(const struct waits_view *v, const struct waitgraph_sink *s, const struct textout *p)
{
	char who[240], way[2048], followers[64];
	waits_who(v->graph, s->node, WAITGRAPH_NONE, who, sizeof(who));
	waitgraph_way_text(v->graph, s, way, sizeof(way));
	followers_text(s, followers, sizeof(followers));
	fputs("  ", p->to);
	textout_ink(p, end_ink(s));
	const struct waitgraph_node *n = &v->graph->node[s->node];
	const char *may = may_be_others(v->graph, s) ? "may " : "";
	if (s->end == WAITEND_CIRCLE)
		textout_text(p, 2, "%u threads %swait for each other in a circle; %s", (unsigned)s->n_nodes, may,
			     followers);
	else if (s->end == WAITEND_OWN && s->n_nodes > 1)
		textout_text(p, 2, "%s: %u of its threads %swait for one another; %s", who, (unsigned)s->n_nodes, may,
			     followers);
	else
		textout_text(p, 2, "%s: %s; %s", who,
			     s->end == n->end ? waitgraph_node_end_text(n) : waitgraph_end_text(s->end), followers);
	textout_ink(p, INK_PLAIN);
	fputs("    ", p->to);
	textout_text(p, 4, "%s", way);
	fputs("    ", p->to);
	textout_text(p, 4, "(%s)", proof_text(s));
}

/* An end that somebody waits for, or at which a main process stands for a reason that is worth a line. */
static bool is_told(const struct waitgraph_sink *s)
{
	bool usual = s->end == WAITEND_RUNS || s->end == WAITEND_CLOCK;
	return s->n_followers > 0 || (s->of_main && !usual) || s->dead;
}

static void waits_text_ends(const struct waits_view *v, const struct textout *p)
{
	size_t told = 0, left = 0;
	textout_heading(p, "Where the waiting ends");
	for (size_t i = 0; i < v->graph->n_sinks; i++) {
		if (!is_told(&v->graph->sink[i]))
			continue;
		if (told < ENDS_SHOWN)
			waits_text_end(v, &v->graph->sink[i], p);
		else
			left++;
		told++;
	}
	if (told == 0)
		(void)fputs("  no main process waits for another\n", p->to);
	if (left)
		(void)fprintf(p->to, "  and %zu more %s (--json has all)\n", left, left == 1 ? "end" : "ends");
}

/* ---- processes ---- */

static const char *quality_text(const struct waits_arrow *a)
{
	return a->edge->quality == WAITGRAPH_PROOF    ? ""
	       : a->edge->quality == WAITGRAPH_LIKELY ? " (likely)"
						      : " (possibly)";
}

/* " → rank 0; → any of 12 threads of rank 1 (possibly)" */
static void targets_add(const struct waits_view *v, uint32_t node, struct buf *b)
{
	const struct waitgraph *g = v->graph;
	struct waits_arrow a;
	size_t n = 0, left = 0;
	for (uint32_t at = 0; waits_arrow_next(g, &g->node[node], &at, &a); n++) {
		char who[240];
		if (n >= TARGETS_SHOWN) {
			left++;
			continue;
		}
		waits_who(g, a.edge->to, node, who, sizeof(who));
		bool own = g->node[a.edge->to].process == g->node[node].process;
		buf_add(b, n ? ", " : " → ");
		if (a.n > 1 && own) {
			buf_printf(b, "any of %u other threads of it", (unsigned)a.n);
		} else if (a.n > 1) {
			waitgraph_who_text(g, a.edge->to, who, sizeof(who));
			buf_printf(b, "any of %u threads of %s", (unsigned)a.n, who);
		} else {
			buf_add(b, who);
		}
		buf_add(b, quality_text(&a));
	}
	if (left)
		buf_printf(b, " and %zu more", left);
}

static void waits_text_thread(const struct waits_view *v, uint32_t node, struct buf *b)
{
	const struct waitgraph_node *n = &v->graph->node[node];
	char what[600];
	waits_what(n, what, sizeof(what));
	if (n->end == WAITEND_CLOCK && n->hint && n->hint->kind == WAITHINT_RETRY)
		buf_add(b, what);
	else if (n->end == WAITEND_RUNS || n->end == WAITEND_CLOCK || (n->thread && n->thread->ended))
		buf_add(b, waits_does(n));
	else
		buf_printf(b, "waits%s%s", what[0] ? ": " : "", what);
	if (n->timed && n->end != WAITEND_CLOCK)
		buf_add(b, ", with a time limit");
	targets_add(v, node, b);
	if (n->hint && n->hint->owner_text[0])
		buf_printf(b, "; %s%s", strncmp(n->hint->owner_text, "with ", 5) == 0 ? "it is held by " : "that one ",
			   n->hint->owner_text);
	if (n->dead)
		buf_add(b, " [can never go on]");
}

static void process_name(const struct waits_view *v, uint32_t node, struct buf *b)
{
	const struct waitgraph_node *n = &v->graph->node[node];
	char who[240];
	waitgraph_who_text(v->graph, node, who, sizeof(who));
	buf_add(b, who);
	if (n->who && n->who->main && n->who->rank != NO_RANK)
		buf_printf(b, ", process %d (%s)", (int)n->process->pid, n->process->name);
	if (n->who && n->who->launcher)
		buf_add(b, ", launcher");
	else if (n->who && n->who->rank == NO_RANK && !n->who->main && n->who->role[0])
		buf_printf(b, ", %s", n->who->role);
}

/* The threads of a process stand one after the other, the main one first. Returns the node after the last one. */
static uint32_t waits_text_process(const struct waits_view *v, uint32_t first, const bool *shown,
				   const struct textout *p)
{
	const struct waitgraph *g = v->graph;
	const struct waitfact_process *process = g->node[first].process;
	size_t hidden = 0;
	uint32_t i = first;
	for (; i < g->n_nodes && g->node[i].thread && g->node[i].process == process; i++) {
		char text[2048];
		struct buf b = BUF_ON(text);
		buf_reset(&b);
		if (!shown[i]) {
			hidden++;
			continue;
		}
		if (i == first)
			process_name(v, i, &b);
		else
			waitgraph_thread_text(g->node[i].thread, "", &b);
		buf_add(&b, ": ");
		waits_text_thread(v, i, &b);
		textout_blank(p, i == first ? 2 : 4);
		textout_text(p, i == first ? 6 : 8, "%s", text);
	}
	if (hidden)
		(void)fprintf(p->to, "    and %zu more %s in nobody's way (--all shows %s)\n", hidden,
			      hidden == 1 ? "thread that is" : "threads that are", hidden == 1 ? "it" : "them");
	return i;
}

/* ---- what is missing ---- */

static void waits_text_notes(const struct waits_view *v, const struct textout *p)
{
	if (v->n_denied)
		textout_value(p, "not read", "%zu %s may not be looked into, so more could be waited for than is shown",
			      v->n_denied, v->n_denied == 1 ? "process" : "processes");
	if (v->graph->one_look)
		textout_value(p, "one look",
			      "%sa wait that is about to end looks like one that lasts, and nothing is "
			      "proved",
			      v->stopped ? "ended before the second look: " : "");
	if (v->cut || v->now->cut)
		textout_value(p, "cut", "there are more processes, threads or descriptors than are read");
	if (v->now->out_of_time)
		textout_value(p, "time", "the machine has more processes than were searched, so nothing is proved");
	if (v->hints_late)
		textout_value(p, "time",
			      "the time was up before all of Python's locks and tasks were read, so who waits "
			      "for whom may be missing; --seconds gives more");
}

/* The verdict of a job that hangs or is slow: it knows more than two looks do, such as stacks and steps. */
static void waits_text_told(const struct health *h, const struct textout *p)
{
	textout_heading(p, "Told by vigil");
	fputs("  ", p->to);
	if (h->incident[0])
		textout_text(p, 2, "%s The whole report: vigil why %s", h->sentence, h->incident);
	else
		textout_text(p, 2, "%s", h->sentence);
}

void waits_text(const struct waits_view *v, const struct waits_how *how, const struct textout *p)
{
	const struct waitgraph *g = v->graph;
	cleanup(freep) bool *shown = waits_shown(v, how);
	char looks[48] = "one look";
	if (!g->one_look)
		TEXT_FORMAT(looks, "two looks, %.1f s apart", (double)v->apart_ns / 1e9);
	textout_text(p, 0, "%s: %zu %s, %s", v->title, g->n_mains, g->n_mains == 1 ? "main process" : "main processes",
		     looks);
	if (v->health)
		waits_text_told(v->health, p);
	waits_text_ends(v, p);
	textout_heading(p, "Processes");
	for (uint32_t i = 0; shown && i < g->n_nodes;)
		i = g->node[i].thread ? waits_text_process(v, i, shown, p) : i + 1;
	waits_text_notes(v, p);
}
