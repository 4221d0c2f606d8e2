/*
 * Rules of loops that try again and again: calls to an address at which nobody is, and children that fail each time.
 */
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "base/units.h"
#include "judge/hang/hang_advice.h"

/* A server that is started again, or late, has this time before its caller is told of, as a loop of tries has. */
static const uint64_t call_refused_ns = 2 * 60 * NS_PER_S, call_again_ns = 30 * NS_PER_S;
/* Children that fail are looked at again after this time. */
static const uint64_t child_again_ns = 30 * NS_PER_S;

/* ---- calls ---- */

/*
 * The main thread of a rank that others wait for, where it waits for the answer of a call and its arrows do not leave
 * its process: no connection was found by which the answer could come. NULL: there is none.
 */
static const struct waitgraph_node *unconnected_call(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_sink *s = g && g->n_sinks > 0 ? &g->sink[0] : NULL;
	const struct waitgraph_node *n = s && s->one_process && s->n_followers > 0 ? &g->node[s->node] : NULL;
	const bool main_calls = n && n->main && n->calls && n->who && n->who->main && n->hint;
	return main_calls && !n->hint->limit_ns && !n->hint->left_ns ? n : NULL;
}

bool hang_call_refused(struct hang_work *w)
{
	char who[HANG_WHO];
	const struct waitgraph_node *n = unconnected_call(w);
	if (!n || !hang_is_refused(w, n->who->rank))
		return false;
	uint64_t most_ns = MIN(hang_time(w->s->sleep_ns, HANG_SLEEP_NS), call_refused_ns);
	most_ns = w->s->has_after ? MIN(most_ns, w->s->after_ns) : most_ns;
	hang_who(n->who->rank, who);
	if (w->standstill_ns < most_ns) {
		w->v->kind = HANG_NONE;
		w->v->benign = true;
		TEXT_COPY(w->v->id, "call_refused");
		hang_says(w, "its server may come back: %s waits for the %s", who, n->hint->text);
		w->v->again_ns = MAX(MIN(call_again_ns, most_ns - w->standstill_ns), NS_PER_S);
		return true;
	}
	hang_is(w, "call_unanswered", CONFIDENCE_MEDIUM);
	hang_accuse(w, n->who->rank);
	who[0] = n->who->rank == NO_RANK ? 'T' : 'R';
	hang_says(w, "%s waits for the %s.", who, n->hint->text);
	ignore(hang_says_refused(w, n->who->rank), "it is, as was asked");
	ignore(hang_says_who_left_then(w), "nobody need have left");
	hang_says_who_waits(w);
	return true;
}

/* A worker of a server asks the server that it is itself; other workers may be busy, and come to the door. */
bool hang_asks_itself(struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	char who[160], stood[24];
	uint32_t i = 0;
	while (g && i < g->n_nodes && !(g->node[i].knocks && g->node[i].fact))
		i++;
	if (!g || i == g->n_nodes || w->standstill_ns < call_refused_ns)
		return false;
	hang_is(w, "waits_for_process", CONFIDENCE_LOW);
	waitgraph_who_text(g, i, who, sizeof(who));
	text_capital(who);
	hang_says(w, "%s waits for an answer over %s, which was not accepted for %s.", who, g->node[i].fact->text,
		  duration_format(w->standstill_ns, stood));
	hang_says(w, "It has that listening socket itself, and has no other thread; nobody else waits there for "
		     "connections: it asks the server that it is.");
	hang_advise(w, "give the server more workers or threads than it asks of itself, or let it call its own "
		       "function instead of its own address");
	return true;
}

/* ---- children that fail and are started anew ---- */

/* What all others of the job do meanwhile. */
enum others { OTHERS_WAIT, OTHERS_MAY_ACT, OTHERS_WORK };

/* Processor time that was not spent by what failed. */
static bool others_compute(const struct hang_work *w, const struct respawn *r)
{
	const double most_cores = 0.3;
	const double over_ns = (double)sub_floor(renewals_last_ns(&r->failed), r->since_ns);
	const double failed = over_ns > 0 ? (double)r->spent_ns / over_ns : 0;
	double all = 0;
	for (size_t i = 0; i < w->p->n; i++)
		all += w->p->rank[i].trace[LIVENESS_CPU].known ? w->p->rank[i].trace[LIVENESS_CPU].rate / 1e9 : 0;
	return all > most_cores + failed * (1 + most_cores);
}

static const struct waitfact_process *process_with(const struct waitgraph *g, pid_t pid)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].thread && g->node[i].process && g->node[i].process->pid == pid)
			return g->node[i].process;
	return NULL;
}

static bool in_dump(const struct stackdump *d, pid_t pid)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->processes[i].pid == pid)
			return true;
	return false;
}

/* True if this process starts a child that fails again and again; name: of that name, NULL: any. */
static bool starts_such(const struct hang_work *w, pid_t pid, const char *name)
{
	for (size_t i = 0; i < w->p->respawns.n; i++) {
		const struct respawn *r = &w->p->respawns.of[i];
		if (r->parent == pid && hang_child_goes_on(w->p, r) && (!name || strcmp(r->name, name) == 0))
			return true;
	}
	return false;
}

/* True of a process that came during the look, and of the only child of a parent and name that fails; and theirs. */
static bool is_child(const struct hang_work *w, const struct waitfact_process *x)
{
	const struct waitgraph *g = w->c->graph;
	const int most = 8;
	for (int up = 0; x && up < most; up++, x = process_with(g, x->ppid)) {
		size_t like = 0;
		if (w->c->n_dumps > 1 && !in_dump(w->c->dumps[0], x->pid))
			return true;
		if (!starts_such(w, x->ppid, x->name))
			continue;
		for (size_t i = 0; i < g->n_nodes; i++)
			like += g->node[i].main && g->node[i].thread && g->node[i].process->ppid == x->ppid &&
				strcmp(g->node[i].process->name, x->name) == 0;
		return like == 1;
	}
	return false;
}

static enum others main_thread_is(const struct hang_work *w, const struct respawn *r, const struct waitgraph_node *n)
{
	const bool sleeps_on = MAX(n->thread->limit_ns, n->thread->left_ns) >= HANG_SLEEP_SURE_NS;
	switch (n->end) {
	case WAITEND_NONE:
	case WAITEND_NOBODY:
	case WAITEND_GONE:
	case WAITEND_CIRCLE:
	case WAITEND_OWN:
	case WAITEND_ANY:
		return OTHERS_WAIT;
	case WAITEND_VISITOR: /* without steps a server that nobody asks is well, whatever fails beside it */
		if (hang_child_errs(r) && n->fact && n->fact->kind == WAITFACT_SIGNAL)
			return OTHERS_WAIT;
		return w->stepping ? OTHERS_WAIT : OTHERS_WORK;
	case WAITEND_OUTSIDE:
	case WAITEND_DEVICE:
		return w->stepping ? OTHERS_WAIT : OTHERS_WORK;
	case WAITEND_RUNS:
		return n->glances ? OTHERS_WAIT : OTHERS_WORK;
	case WAITEND_CLOCK:
		/* Who sleeps for half an hour may bring what is asked for, not mend what fails. */
		return n->naps || (sleeps_on && hang_child_errs(r)) ? OTHERS_WAIT : OTHERS_MAY_ACT;
	default:
		return OTHERS_MAY_ACT;
	}
}

/* True if a device of the job works, or, where no steps tell, if bytes come or go over the network. */
static bool others_move(const struct hang_work *w)
{
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		const bool net =
			liveness_moves(w->p, l, LIVENESS_NET_SENT) || liveness_moves(w->p, l, LIVENESS_NET_RECEIVED);
		if (hang_gpu_works(w, l->rank) || (net && !w->stepping))
			return true;
	}
	return false;
}

/*
 * True if a thread of who starts the child, or of another process, ran in each dump, or was ready to. The main thread
 * of who starts it may be ready for long on a crowded machine; that it makes no step tells that it does not compute.
 */
static bool others_run(const struct hang_work *w)
{
	const struct stackdump *d = hang_newest(w);
	for (size_t i = 0; d && i < d->n; i++) {
		const struct dump_process *x = &d->processes[i];
		const struct waitfact_process *f = w->c->graph ? process_with(w->c->graph, x->pid) : NULL;
		const bool starts = starts_such(w, x->pid, NULL);
		if (!starts && (!f || is_child(w, f)))
			continue;
		for (size_t k = 0; k < x->n_threads; k++)
			if (!(starts && w->stepping && x->threads[k].main) &&
			    hang_all_along(w, x->pid, x->threads[k].tid, WAIT_RUNNING))
				return true;
	}
	return false;
}

static enum others what_others_do(const struct hang_work *w, const struct respawn *r)
{
	const struct waitgraph *g = w->c->graph;
	enum others most = OTHERS_WAIT;
	if (others_compute(w, r) || others_move(w) || others_run(w))
		return OTHERS_WORK;
	for (size_t i = 0; g && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->main || !n->thread || !n->process || starts_such(w, n->process->pid, NULL) ||
		    (n->who && n->who->launcher) || is_child(w, n->process))
			continue;
		most = MAX(most, main_thread_is(w, r, n));
	}
	return g ? most : MAX(most, OTHERS_MAY_ACT);
}

/* True if a process that is neither this one nor a child of it waits for one of these. */
static bool some_wait_for(const struct waitgraph *g, pid_t pid)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->process || n->process->pid == pid || n->process->ppid == pid)
			continue;
		for (uint32_t k = 0; k < n->n_edges; k++) {
			const struct waitfact_process *to = g->node[g->edge[n->first_edge + k].to].process;
			if (to && (to->pid == pid || to->ppid == pid))
				return true;
		}
	}
	return false;
}

/*
 * True if it is this child that the job waits for: the main thread of who starts it does nothing else, and is a rank's
 * or what others wait for. A helper beside a rank may fail for ever while that one waits for something else.
 */
static bool child_is_waited_for(const struct hang_work *w, const struct respawn *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g ? waitgraph_thread(g, r->parent, 0) : NULL;
	if (!n)
		return false;
	const bool by_fact = n->fact && (n->fact->kind == WAITFACT_CHILD || n->fact->kind == WAITFACT_PIPE);
	/* One that naps may have arrows, as if it looked for what others bring. */
	if (!by_fact && !n->naps && n->end != WAITEND_RUNS && n->end != WAITEND_CLOCK)
		return false;
	return (n->who && (n->who->main || (n->who->launcher && !w->many))) || some_wait_for(g, r->parent);
}

static void child_says(struct hang_work *w, const struct respawn *r)
{
	char text[400];
	hang_child_text(w, r, text, sizeof(text));
	hang_says(w, "%s.", text);
	if (respawn_words_of(r) != RESPAWN_SILENT)
		hang_says(w, "The last line each time: %s", r->words);
}

/* Not yet: false if others may say something meanwhile. */
static bool child_too_young(struct hang_work *w, uint64_t stood_ns, uint64_t due_ns)
{
	if (stood_ns >= due_ns)
		return false;
	w->v->kind = HANG_NONE;
	w->v->again_ns = MAX(MIN(due_ns - stood_ns, child_again_ns), NS_PER_S);
	TEXT_COPY(w->v->text, "a child fails again and again, but not for long enough to be sure");
	return true;
}

/*
 * Accuses the ranks that start a child which fails, unless all of them do: then it is what they have in common. Says of
 * a second one.
 */
static void child_accuses(struct hang_work *w, const struct respawn *first)
{
	const struct respawn *second = NULL;
	int32_t rank[RESPAWNS_KEPT];
	size_t n = 0;
	bool ended;
	for (size_t i = 0; i < w->p->respawns.n; i++) {
		const struct respawn *r = &w->p->respawns.of[i];
		size_t k = 0;
		if (r->rank == NO_RANK || !hang_child_goes_on(w->p, r) || !hang_child_errs(r))
			continue;
		while (k < n && rank[k] != r->rank)
			k++;
		second = !second && r->rank != first->rank ? r : second;
		if (k == n)
			rank[n++] = r->rank;
	}
	for (size_t i = 0; i < n && n < hang_live_ranks(w->p, &ended); i++)
		hang_accuse(w, rank[i]);
	if (second)
		child_says(w, second);
}

bool hang_child_fails(struct hang_work *w)
{
	const struct respawn *r = hang_child_of(w->p);
	if (!r || !hang_child_errs(r) || what_others_do(w, r) != OTHERS_WAIT || !child_is_waited_for(w, r))
		return false;
	if (child_too_young(w, sub_floor(w->p->now_ns, hang_child_since_ns(w->p, r)),
			    hang_child_due_ns(w->s, w->p, true)))
		return true;
	hang_is(w, "child_fails", CONFIDENCE_MEDIUM);
	child_says(w, r);
	if (w->many) {
		child_accuses(w, r);
		hang_says_who_waits(w);
	}
	return true;
}

/* What this process, or a child of it that has ended, tries to connect to; NULL: nothing is known. */
static const struct hang_refused *child_asks_at(const struct hang_work *w, const struct respawn *r)
{
	for (size_t i = 0; i < w->c->n_refused; i++)
		if (w->c->refused[i].pid == r->parent && hang_refused_goes_on(w, &w->c->refused[i]))
			return &w->c->refused[i];
	return NULL;
}

/* A silent child that prints other lines, or others that do: something goes on. */
static bool others_print(const struct hang_work *w, const struct respawn *r)
{
	const uint64_t lately_ns = 10 * NS_PER_S;
	bool prints = false;
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness_trace *t = &w->p->rank[i].trace[LIVENESS_LOG_LINES];
		prints |= t->known && t->ever_moved && sub_floor(w->p->now_ns, t->moved_ns) < lately_ns;
	}
	return prints && respawn_words_of(r) == RESPAWN_SILENT;
}

bool hang_child_asks(struct hang_work *w)
{
	const struct respawn *r = hang_child_of(w->p);
	const enum others others = r ? what_others_do(w, r) : OTHERS_WORK;
	if (!r || others == OTHERS_WORK || (others == OTHERS_MAY_ACT && !hang_child_errs(r)) || others_print(w, r))
		return false;
	const uint64_t stood_ns = sub_floor(w->p->now_ns, hang_child_since_ns(w->p, r));
	if (child_too_young(w, stood_ns, hang_child_due_ns(w->s, w->p, false)))
		return w->made_anew;
	const struct hang_refused *at = child_asks_at(w, r);
	hang_is(w, "child_fails", CONFIDENCE_LOW);
	w->advice = HANG_ADVICE_ASKS;
	if (at)
		hang_says(w, "The job waits for somebody to answer at %s: %s.", at->address, hang_refused_why(at));
	child_says(w, r);
	if (!at && !hang_child_errs(r))
		hang_says(w, "It may ask each time for something that is not there yet.");
	return true;
}
