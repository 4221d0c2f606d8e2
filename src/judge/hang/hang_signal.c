/*
 * Waits that the handler of a signal may end. Nothing tells whether one will come: an alarm that was set is seen by
 * nobody else without BPF, and whoever lives may send a signal.
 */
#include <signal.h>
#include <string.h>

#include "judge/hang/hang_parts.h"

/*
 * True of a process that has a handler for alarms and for no other word, where no process of the job has an alarm or a
 * timer set, which the kernel was asked, and nobody of it acts: no alarm comes, and none will be set.
 */
static bool no_alarm_comes(const struct hang_work *w, const struct waitfact_process *p)
{
	const uint64_t alarm = UINT64_C(1) << (SIGALRM - 1);
	const uint64_t no_word = alarm | UINT64_C(1) << (SIGINT - 1) | UINT64_C(1) << (SIGPIPE - 1);
	const struct waitgraph *g = w->c->graph;
	if (!p || !(p->handled & alarm) || (p->handled & ~no_word))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitfact_process *x = g->node[i].process;
		if (x && (x->has_timers || x->alarm_unknown))
			return false;
	}
	return hang_nobody_acts(w);
}

/* Of a circle of several processes: one that an alarm or a timer of its own may take out of it; NULL: none. */
static const struct waitgraph_node *alarmed_in_circle(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; s->end == WAITEND_CIRCLE && !s->one_process && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->component == g->node[s->node].component && n->process &&
		    ((n->process->has_timers && !s->dead) ||
		     (n->signalled && n->process->handled >> (SIGALRM - 1) & 1 && !no_alarm_comes(w, n->process))))
			return n;
	}
	return NULL;
}

bool hang_awaits_signal(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	return alarmed_in_circle(w, s) ||
	       (n->signalled && !no_alarm_comes(w, n->process) &&
		(s->end == WAITEND_NOBODY || s->end == WAITEND_OWN || (s->end == WAITEND_CIRCLE && s->one_process)));
}

bool hang_waiter_handles_signals(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const uint64_t those = UINT64_C(1) << (SIGALRM - 1) | UINT64_C(1) << (SIGUSR1 - 1) |
			       UINT64_C(1) << (SIGUSR2 - 1);
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		for (uint32_t k = 0; n->main && n->process && k < n->n_edges; k++)
			if (g->edge[n->first_edge + k].to == s->node && (n->process->handled & those) &&
			    (n->process->handled & those) != those)
				return true;
	}
	return false;
}

/* The handler that most likely is meant; NULL: it has timers of its own. */
static const char *handled_text(const struct waitfact_process *p)
{
	static const struct {
		int number;
		const char *text;
	} known[] = {
		{SIGALRM, "SIGALRM, and whether an alarm is set cannot be seen"},
		{SIGIO, "SIGIO, which tells it of input"},
		{SIGUSR1, "SIGUSR1, which anybody may send"},
		{SIGUSR2, "SIGUSR2, which anybody may send"},
		{SIGHUP, "SIGHUP, which anybody may send"},
		{SIGCONT, "SIGCONT, which anybody may send"},
		{SIGTERM, "SIGTERM, which a helper that sleeps may send"},
		{SIGCHLD, "SIGCHLD, which the end of a child that lives sends"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (p->handled >> (known[i].number - 1) & 1)
			return known[i].text;
	return p->has_timers ? NULL : "a signal that others may send";
}

/* The verdict says no more than that nobody ends a wait; others have a cause of their own. */
static bool is_of_a_wait(const char *id)
{
	static const char *const ids[] = {"orphaned_wait", "deadlock", "lock_wait", "missing_rank", "wait_circle"};
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (strcmp(id, ids[i]) == 0)
			return true;
	return false;
}

void hang_signal_joins(struct hang_work *w)
{
	const struct waitgraph_sink *s = w->c->graph && !w->v->proved ? hang_graph_end(w) : NULL;
	const struct waitgraph_node *n = s ? &w->c->graph->node[s->node] : NULL;
	if (!s || w->v->kind != HANG_HANG || !n->process || !is_of_a_wait(w->v->id))
		return;
	if (n->signalled && no_alarm_comes(w, n->process)) {
		w->v->confidence = MIN(w->v->confidence, CONFIDENCE_MEDIUM);
		hang_says(w, "It has a handler for SIGALRM, but no process of the job has an alarm or a timer set.");
	}
	if (!hang_may_be_woken(w, s))
		return;
	w->v->confidence = CONFIDENCE_LOW;
	if (!hang_awaits_signal(w, s))
		return;
	const struct waitgraph_node *alarmed = alarmed_in_circle(w, s);
	const char *text = handled_text(alarmed ? alarmed->process : n->process);
	char who[160] = "it";
	if (alarmed)
		waitgraph_who_text(w->c->graph, (uint32_t)(alarmed - w->c->graph->node), who, sizeof(who));
	if (text)
		hang_says(w, "That may still be the handler of a signal: %s has one for %s.", who, text);
	else
		hang_says(w, "That may still be a timer of its own (timer_create, alarm).");
}
