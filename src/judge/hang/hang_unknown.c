/* Nothing says why a job stands: what is known of it is told, and that it is not known why. */
#include "base/buf.h"
#include "base/units.h"
#include "judge/hang/hang_parts.h"

/* On a crowded machine a job that is ready to go on may stand for minutes. What hangs asks for no processor. */
static bool lacks_processors(const struct hang_work *w)
{
	const double much = 0.2;
	for (size_t i = 0; i < w->g.n; i++)
		if (hang_queues(w, w->g.rank[i].rank) >= much)
			return true;
	return false;
}

static const uint64_t look_again_ns = 25 * NS_PER_S;

/* True if something of the job takes a little of a processor all along, which is no standstill, be it work or not. */
static bool computes_a_little(const struct hang_work *w)
{
	const double little = 0.02;
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (!l->serves && !l->seen.exited && l->trace[LIVENESS_CPU].known &&
		    l->trace[LIVENESS_CPU].rate / 1e9 >= little)
			return true;
	}
	return false;
}

/*
 * How it waits is not known, but its process tries in vain to connect, maybe in a thread of a library's, and that is
 * what it may wait for. The only rank that is left is named.
 */
static bool refused_beside(struct hang_work *w, const struct stackgroup_rank *r)
{
	char doing[300], who[HANG_WHO];
	bool ended;
	if (!hang_is_refused(w, r->rank))
		return false;
	hang_is(w, "network_wait", CONFIDENCE_LOW);
	w->v->unexplained = true;
	hang_doing(w, r, doing, sizeof(doing));
	hang_who(r->rank, who);
	who[0] = r->rank == NO_RANK ? 'T' : 'R';
	hang_says(w, "%s stands %s.", who, doing);
	ignore(hang_says_refused(w, r->rank), "it is, as was asked");
	hang_says_ranks_left_then(w);
	if (r->rank != NO_RANK && hang_live_ranks(w->p, &ended) == 1)
		hang_accuse(w, r->rank);
	return true;
}

/* ---- processes of one job that wait for messages of each other ---- */

/* True if a thread of its process is in the circle. */
static bool is_of_circle(const struct waitgraph *g, const struct waitgraph_node *main, const struct waitgraph_sink *s)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].process == main->process && g->node[i].component == g->node[s->node].component)
			return true;
	return false;
}

static bool sleeps_long(const struct waitgraph_node *n)
{
	return n->end == WAITEND_CLOCK && !n->naps;
}

/* True of a thread by which the wait of the others may be over: it works, or something may come to it from outside. */
static bool may_go_on(const struct waitgraph_node *n)
{
	return n->end == WAITEND_RUNS || n->end == WAITEND_OUTSIDE || n->end == WAITEND_STORAGE ||
	       n->end == WAITEND_DEVICE || n->end == WAITEND_PERSON || n->end == WAITEND_VISITOR ||
	       n->end == WAITEND_UNKNOWN || (n->end == WAITEND_CLOCK && n->naps);
}

/* Adds the numbers of the processes beside the main one, which sleep, or do not: "process 7 sleeps". */
static size_t others_add(const struct hang_work *w, const struct waitgraph_sink *s, bool sleep, struct buf *b)
{
	const struct waitgraph *g = w->c->graph;
	size_t n = 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		if (!x->main || !x->thread || x->thread->ended || (x->who && x->who->main) || !is_of_circle(g, x, s) ||
		    sleeps_long(x) != sleep)
			continue;
		buf_printf(b, "%s%d", n ? ", " : "", (int)x->process->pid);
		n++;
	}
	return n;
}

/*
 * The circle by which the one main process and others of a job of steps wait for messages of each other, which no
 * single arrow proves, while nothing of the job works; NULL: there is none.
 */
static const struct waitgraph_sink *messages_circle(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_sink *s = g && g->n_sinks > 0 ? &g->sink[0] : NULL;
	if (!s || w->many || !w->stepping || w->g.n != 1 || s->end != WAITEND_CIRCLE || s->one_process ||
	    (!s->of_main && s->n_followers == 0))
		return NULL;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].thread && !g->node[i].thread->ended && may_go_on(&g->node[i]))
			return NULL;
	return s;
}

/*
 * One of them has sent one message too few, or somebody who is none of the job. Which is not known.
 */
static bool wait_for_messages(struct hang_work *w)
{
	char circle[160], asleep[160], doing[300];
	struct buf in = {.text = circle, .cap = sizeof(circle)}, out = {.text = asleep, .cap = sizeof(asleep)};
	const struct waitgraph_sink *s = messages_circle(w);
	if (!s)
		return false;
	buf_reset(&in);
	buf_reset(&out);
	const size_t n_in = others_add(w, s, false, &in), n_out = others_add(w, s, true, &out);
	if (n_in + n_out == 0)
		return false;
	hang_is(w, "wait_circle", CONFIDENCE_LOW); /* whose message is missing is not known, and may be a visitor's */
	w->v->unexplained = true;
	hang_doing(w, &w->g.rank[0], doing, sizeof(doing));
	hang_says(w, "Process %d stands %s.", (int)w->g.rank[0].process->pid, doing);
	if (n_in > 0)
		hang_says(w, "It and process%s %s wait for a message of each other.", n_in == 1 ? "" : "es", circle);
	if (n_out > 0)
		hang_says(w, "%s process%s %s sleep%s, by whom one could come as well.", n_in > 0 ? "And" : "But",
			  n_out == 1 ? "" : "es", asleep, n_out == 1 ? "s" : "");
	hang_says(w, "None of the job works, so one message was lost or never sent; by whom is not known.");
	ignore(hang_says_who_left_then(w), "nobody need have left");
	hang_advise(w, "look for a process that takes a request and sends no answer when it fails: an exception that "
		       "is only logged, a `continue`; or for a message that was dropped: a peer that is not there yet "
		       "or has another name, a queue that is full or keeps the newest one only");
	return true;
}

/* ---- a signal that who waits for it in turn would have to send ---- */

/* Somebody of another process who waits, likely at least, for this thread; NULL: nobody. */
static const struct waitgraph_node *waiter_for(const struct waitgraph *g, const struct waitgraph_node *end)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		for (uint32_t k = 0; n->thread && n->process != end->process && k < n->n_edges; k++) {
			const struct waitgraph_edge *e = &g->edge[n->first_edge + k];
			if (&g->node[e->to] == end && e->quality >= WAITGRAPH_LIKELY)
				return n;
		}
	}
	return NULL;
}

/*
 * The one main process of a job of steps, which has no other thread and no timers, waits for a signal without a limit;
 * another process waits for it, and nobody of the job does anything else: who waits for it. Somebody outside may send
 * one.
 */
static const struct waitgraph_node *signal_waiter(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	if (!n || w->many || !w->stepping || w->g.n != 1 || n->timed || n->process->n_threads != 1 ||
	    n->process->has_timers || n->thread->n != 1 || !n->fact || n->fact->kind != WAITFACT_SIGNAL ||
	    !hang_nobody_acts_but(w, n))
		return NULL;
	return waiter_for(g, n);
}

static bool waits_for_signal(struct hang_work *w, const struct stackgroup_rank *r)
{
	char doing[300], who[160], wait[300];
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *x = signal_waiter(w, r);
	const struct waitgraph_node *n = x ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	if (!n)
		return false;
	hang_is(w, "wait_circle", CONFIDENCE_LOW);
	w->v->unexplained = true;
	hang_doing(w, r, doing, sizeof(doing));
	waitgraph_who_text(g, (uint32_t)(x - g->node), who, sizeof(who));
	waitgraph_wait_text(x, wait, sizeof(wait));
	hang_says(w, "Process %d (%s) stands %s: it waits for a signal.", (int)n->process->pid, n->process->name,
		  doing);
	hang_says(w, "In turn %s waits for it%s%s, and nobody else of the job does anything.", who,
		  wait[0] ? ": " : "", wait);
	hang_says(w, "An alarm, or somebody outside, may still send one.");
	ignore(hang_says_who_left_then(w), "nobody need have left");
	hang_advise(w, "look at what should have sent the signal: mq_notify(3) tells only of a message that comes to "
		       "an empty queue, SIGIO only of what is new, and signals that come together are told once; so "
		       "take all that is there each time");
	return true;
}

/* ---- an event loop that nothing is left to wake ---- */

/* True of a thread that waits for others of its own process alone, and has no limit: it has no work. */
static bool is_without_work(const struct waitgraph *g, const struct waitgraph_node *n)
{
	for (uint32_t i = 0; i < n->n_edges; i++)
		if (g->node[g->edge[n->first_edge + i].to].process != n->process)
			return false;
	return n->n_edges > 0 && !n->timed;
}

/* A timer that has not gone off twice since may be the pause that the program makes. */
static bool may_pause(const struct hang_work *w, const struct waitgraph_node *n)
{
	return n->timed && (n->thread->limit_ns == 0 || n->thread->limit_ns * 2 > w->standstill_ns);
}

/*
 * The main thread of a job that has made steps waits for visitors, for its timers and for what its other threads bring,
 * which all wait for work themselves: an event loop, where whoever awaits something else in it has no thread. Nobody
 * is left to bring that, but a visitor may.
 */
static bool loop_idles(struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *main = g ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	char doing[300], limit[24];
	size_t beside = 0;
	if (!main || w->many || !w->stepping || !main->door)
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n == main || !n->thread || n->thread->ended || (n->who && n->who->launcher))
			continue;
		if (n->process != main->process || !is_without_work(g, n))
			return false;
		beside++;
	}
	if (beside == 0 || may_pause(w, main))
		return false;
	hang_is(w, "waits_for_visitor", CONFIDENCE_LOW);
	w->v->unexplained = true;
	hang_doing(w, r, doing, sizeof(doing));
	hang_says(w, "Process %d (%s) stands %s.", (int)main->process->pid, main->process->name, doing);
	hang_says(w, "Its event loop waits for visitors alone (%s)", main->door->text);
	hang_says(w, "and its %zu other thread%s for work.", beside, beside == 1 ? "" : "s");
	if (main->timed)
		hang_says(w, "A timer wakes it after %s at most, and nothing came of that.",
			  duration_format(main->thread->limit_ns, limit));
	hang_says(w, "Nothing else is left that could bring what its program awaits.");
	ignore(hang_says_who_left_then(w), "nobody need have left");
	hang_advise(w, "look for an event or a promise that is awaited and can no longer come: one that was told "
		       "before somebody listened, or whose condition is not met; give it a time limit");
	return true;
}

/* The only main process of a job that has made no step, as a launcher of several nodes is, waits for others to come. */
static bool at_a_rendezvous(struct hang_work *w)
{
	const struct stackgroup_rank *r = w->g.n == 1 ? &w->g.rank[0] : NULL;
	char doing[300];
	if (!r || !r->process || w->many || w->stepping || r->activity.kind != ACTIVITY_STORE)
		return false;
	hang_is(w, "rendezvous", CONFIDENCE_LOW);
	w->v->unexplained = true;
	hang_doing(w, r, doing, sizeof(doing));
	hang_says(w, "Process %d (%s) waits in %s for nodes or ranks that have not come.", (int)r->process->pid,
		  r->process->name, doing);
	hang_says(w, "They may be on other machines, so whether they were started is not known.");
	hang_advise(w, "see whether the others were started, and with the same address, port and number of them "
		       "(--nnodes, MASTER_ADDR and WORLD_SIZE, TF_CONFIG)");
	return true;
}

/*
 * The only main process reads from a FIFO with a name that nobody but it has open to write, and has no other thread: so
 * does a script that keeps one open for both ways. Anybody may open it by its name.
 */
static bool reads_its_own_fifo(struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && !w->many ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	const struct waitfact *f = n && !n->timed && n->thread->n == 1 ? n->fact : NULL;
	if (!f || n->end != WAITEND_OWN || n->process->n_threads != 1 || f->kind != WAITFACT_PIPE || f->to_write ||
	    f->complete || f->n_holders != 1)
		return false;
	hang_is(w, "waits_for_visitor", CONFIDENCE_LOW);
	w->v->unexplained = true;
	hang_says(w, "Process %d (%s) reads from the FIFO %s, and it alone has it open to write:",
		  (int)n->process->pid, n->process->name, f->text);
	hang_says(w, "so the end of that file never comes to it, and words only from somebody who opens it by its "
		     "name.");
	ignore(hang_says_who_left_then(w), "nobody need have left");
	hang_advise(w, "where it reads to the end, close its own end for writing before (exec N>&-), or let the last "
		       "writer say that it was the last");
	return true;
}

void hang_unknown(struct hang_work *w)
{
	char stood[24], doing[300], who[HANG_WHO];
	const struct stackgroup_rank *r = hang_culprit(w);
	bool little = w->has_stacks && computes_a_little(w);
	const bool lost = !little && messages_circle(w) && hang_nobody_acts(w);
	const bool explained = lost || hang_left_then(w) || signal_waiter(w, r);
	enum hang_proof need = little ? HANG_DOUBTFUL : explained ? HANG_EXPLAINED : HANG_VAGUE;
	if (!hang_old_enough(w, need)) {
		if (little) /* the next look may find more */
			w->v->again_ns = MIN(w->v->again_ns, look_again_ns);
		return;
	}
	if (!w->stalled_rank && w->s->rule != HANG_RULE_IO_GPU && lacks_processors(w)) {
		TEXT_COPY(w->v->text, "its threads are ready, and others have the processors");
		return;
	}
	for (size_t i = 0; i < w->g.n && !w->stalled_rank; i++)
		if (w->g.rank[i].compared && !w->g.rank[i].unchanged && w->s->rule != HANG_RULE_IO_GPU) {
			TEXT_COPY(w->v->text, "nothing moves but the stacks");
			return;
		}
	if (at_a_rendezvous(w) || (r && refused_beside(w, r)))
		return;
	if (r && r->process &&
	    (wait_for_messages(w) || loop_idles(w, r) || waits_for_signal(w, r) || reads_its_own_fifo(w, r)))
		return;
	hang_is(w, "hang_unknown", CONFIDENCE_LOW);
	w->v->unexplained = true;
	hang_says(w, "Nothing has moved for %s, and nothing that was looked at says why.",
		  duration_format(w->standstill_ns, stood));
	if (!w->has_stacks) {
		hang_says(w, "No stacks could be read.");
		return;
	}
	if (!r)
		return;
	hang_doing(w, r, doing, sizeof(doing));
	hang_who(r->rank, who);
	who[0] = r->rank == NO_RANK ? 'T' : 'R';
	hang_says(w, "%s stands %s.", who, doing);
	hang_says_who_left_then(w);
	if (hang_first_waiting(w) || w->stalled_rank)
		hang_accuse_all(w);
}
