/* Rules of what processes that have ended leave undone, and of memory that nobody else has. */
#include <string.h>
#include <sys/wait.h>

#include "base/units.h"
#include "judge/hang/hang_advice.h"

/* So long may one go on asking its own pipe, as it may count its tries and start anew who has failed. */
static const uint64_t own_pipe_ns = 80 * NS_PER_S, own_pipe_well_ns = 2 * 60 * NS_PER_S;

/* The rank that is made anew; NULL: none, or several, or it has been left alone for a while. */
static const struct liveness *restarted(const struct hang_work *w)
{
	const size_t least = 5;
	const uint64_t newest_ns = 20 * NS_PER_S;
	const struct liveness *one = NULL;
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (l->serves || l->rank == NO_RANK || renewals_since(&l->renewals, w->m->since_ns) < least)
			continue;
		if (one || w->p->now_ns - renewals_last_ns(&l->renewals) > newest_ns)
			return NULL;
		one = l;
	}
	return one;
}

/* Who lives for longer than this, and of whom it is not known how it ends, may do a part of its work each time. */
static const uint64_t crash_ns = 5 * NS_PER_S;

bool hang_restarts(struct hang_work *w)
{
	const struct liveness *l = w->many && w->stepping ? restarted(w) : NULL;
	if (!l)
		return false;
	const struct renewals *r = &l->renewals;
	/* which ends well each time has done a part of its work, as a script does that goes from file to file */
	if (r->has_status && r->wait_status == 0)
		return false;
	const size_t n = renewals_since(r, w->m->since_ns);
	const uint64_t span_ns = n < RENEWALS_KEPT ? w->standstill_ns
						   : sub_floor(w->p->now_ns, r->at_ns[r->n % RENEWALS_KEPT]);
	const bool may_work = !r->has_status && span_ns / n > crash_ns;
	if (!hang_old_enough(w, HANG_EXPLAINED) || (may_work && !hang_outlasts_helpers(w)))
		return true;
	hang_is(w, "dead_rank", r->has_status ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW);
	hang_accuse(w, l->rank);
	w->advice = HANG_ADVICE_RESTARTS;
	hang_says(w,
		  "Rank %d ends and is started anew again and again: its main process became another one %zu "
		  "times%s since the job came to a stand.",
		  (int)l->rank, n, n == RENEWALS_KEPT ? " and more" : "");
	if (r->has_status && WIFSIGNALED(r->wait_status))
		hang_says(w, "One of them was ended by signal %d.", WTERMSIG(r->wait_status));
	else if (r->has_status)
		hang_says(w, "One of them left with status %d.", WEXITSTATUS(r->wait_status));
	hang_says_who_waits(w);
	return true;
}

/* True if no main process can go on, were their shared memory nobody else's, and some thread waits on such memory. */
static bool is_closed(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	size_t mains = 0, alive = 0;
	for (size_t i = 0; g && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->main || !n->who || !n->who->main)
			continue;
		if (!n->dead_within)
			return false;
		mains++;
		alive += !n->dead;
	}
	return mains > 0 && alive > 0;
}

/* The others of them that open a FIFO, or wait on shared memory, as the first is in the way already. */
static void others_say(struct hang_work *w, const struct waitgraph_sink *s, enum waitfact_kind kind)
{
	const struct waitgraph *g = w->c->graph;
	size_t said = 0;
	for (size_t i = 0; i < g->n_nodes && said < 3; i++) {
		const struct waitgraph_node *n = &g->node[i];
		char what[200], who[HANG_WHO];
		if (i == s->node || !n->dead_within || !n->thread || !n->fact || n->fact->kind != kind)
			continue;
		said++;
		waitgraph_who_text(g, (uint32_t)i, who, sizeof(who));
		waitgraph_wait_text(n, what, sizeof(what));
		if (kind == WAITFACT_FIFO)
			hang_says(w, "The other end of another one is waited for by %s: %s.", who, what);
		else
			hang_says(w, "And so %s waits: %s.", who, what);
	}
}

bool hang_closed_job(struct hang_work *w)
{
	const struct waitgraph_sink *s = w->c->graph && w->c->graph->n_sinks > 0 ? &w->c->graph->sink[0] : NULL;
	char way[600], ranks[96] = "";
	int32_t all[HANG_CULPRITS];
	size_t n = 0;
	if (!s || !is_closed(w) || hang_first_waiting(w))
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	const struct waitfact *f = w->c->graph->node[s->node].fact;
	const bool fifo = f && f->kind == WAITFACT_FIFO, notice = f && f->kind == WAITFACT_SIGNAL;
	hang_is(w, "orphaned_wait", CONFIDENCE_LOW);
	for (size_t i = 0; i < w->g.n && n < ARRAY_SIZE(all); i++)
		if (w->g.rank[i].rank != NO_RANK)
			all[n++] = w->g.rank[i].rank;
	hang_ranks_text(all, n, ranks, sizeof(ranks));
	ranks[0] = 'R'; /* "ranks" begins a sentence here */
	waitgraph_way_text(w->c->graph, s, way, sizeof(way));
	hang_says(w, "%s.", way);
	hang_says(w, "%s wait for one another by %s: none could go on, and nobody else is seen to have %s.",
		  n > 1 ? ranks : "All its processes",
		  notice ? "signals"
		  : fifo ? "FIFOs that they open"
			 : "memory that they share",
		  notice ? "a reason to send one"
		  : fifo ? "one of them open"
			 : "it");
	if (fifo || (!notice && n < 2))
		others_say(w, s, fifo ? WAITFACT_FIFO : WAITFACT_SHARED);
	/* Its failure explains who should have gone on. Who ended well may have done its part. */
	const bool explained = hang_says_who_left_then(w);
	if (!explained)
		hang_says_who_left(w, s);
	else if (hang_failed_then(w) && (!w->many || s->n_followers > 0))
		w->v->confidence = CONFIDENCE_MEDIUM;
	return true;
}

/* ---- a barrier for more than there are ---- */

/* A barrier of Python's, and who is at it. */
struct barrier {
	const struct waitgraph_node *one;
	uint32_t parties, n;
};

/*
 * False unless it is known of each thread that waits at a barrier as which one it came to that. Two barriers would
 * have two that came first.
 */
static bool barrier_find(const struct waitgraph *g, struct barrier *ret)
{
	uint64_t places = 0;
	*ret = (struct barrier){.n = 0};
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waithint *h = n->hint;
		if (!h || h->parties == 0)
			continue;
		if (n->timed || h->place == 0 || h->place >= 64 || (places >> h->place & 1) ||
		    (ret->one && h->parties != ret->parties))
			return false;
		places |= UINT64_C(1) << h->place;
		ret->parties = h->parties;
		ret->one = h->place == 1 ? n : ret->one ? ret->one : n;
		ret->n++;
	}
	return ret->n > 0 && ret->n < ret->parties && places == ((UINT64_C(1) << ret->n) - 1) << 1;
}

/* True if it is at the barrier, or waits for a thread that is, as that of a Manager's server. */
static bool is_at_barrier(const struct waitgraph *g, const struct waitgraph_node *n)
{
	bool at = n->hint && n->hint->parties > 0;
	for (uint32_t k = 0; k < n->n_edges && !at; k++) {
		const struct waitgraph_node *to = &g->node[g->edge[n->first_edge + k].to];
		at = to->hint && to->hint->parties > 0;
	}
	return at && !n->timed;
}

/* True of a launcher that does no more than wait for the end of a child; its ranks' barrier may be for it as well. */
static bool only_joins(const struct waitgraph_node *n)
{
	return n->main && !n->timed && n->fact && n->fact->kind == WAITFACT_CHILD;
}

/*
 * True if all main processes are at it and nobody else may come. But for launchers, whose children were forked with it:
 * only what they do says that they do not come.
 */
static bool nobody_else_comes(const struct hang_work *w, const struct barrier *x)
{
	const struct waitgraph *g = w->c->graph;
	const bool of_rank = x->one->who && x->one->who->main;
	const struct waitgraph_node *server = of_rank ? NULL : waitgraph_thread(g, x->one->process->pid, 0);
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const bool main = n->main && n->who && n->who->main && n->who->rank != NO_RANK;
		const bool launches = n->who && n->who->launcher && !n->thread->ended;
		if ((main && !is_at_barrier(g, n)) || (launches && !only_joins(n)))
			return false;
	}
	/* a Manager's main thread waits within limits for its end alone */
	return hang_nobody_acts_but(w, server);
}

/*
 * True if somebody on another machine may come to the door of the process that has the barrier, or a signal's handler,
 * as an alarm's, may take one out of it.
 */
static bool may_be_broken(const struct waitgraph *g, const struct barrier *x)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->hint && n->hint->parties > 0 && (n->signalled || n->doubtful))
			return true;
		if (n->process == x->one->process && n->fact && n->fact->kind == WAITFACT_LISTEN &&
		    strncmp(n->fact->text, "unix", 4) != 0)
			return true;
	}
	return false;
}

/* Of those that have ended only such are known for sure as their parents have not waited for. */
static bool ended_say(struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitfact_process *p = g->node[i].process;
		if (!p || !g->node[i].main || p->state != 'Z')
			continue;
		hang_says(w,
			  "Process %d (%s) has ended, and its parent has not waited for it yet: it may have been the "
			  "one that is missing.",
			  (int)p->pid, p->name);
		return true;
	}
	return false;
}

bool hang_barrier_short(struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	struct barrier x;
	char wait[300], ranks[96];
	int32_t all[HANG_CULPRITS];
	size_t n = 0;
	if (!g || g->one_look || !w->many || !barrier_find(g, &x) || !nobody_else_comes(w, &x))
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "orphaned_wait", may_be_broken(g, &x) ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < w->g.n && n < ARRAY_SIZE(all); i++)
		if (w->g.rank[i].rank != NO_RANK)
			all[n++] = w->g.rank[i].rank;
	hang_ranks_text(all, n, ranks, sizeof(ranks));
	waitgraph_wait_text(x.one, wait, sizeof(wait));
	ranks[0] = 'R'; /* "ranks" begins a sentence here */
	hang_says(w, "%s wait at a barrier for %u, to which %u have come: %s.", ranks, (unsigned)x.parties,
		  (unsigned)x.n, wait);
	hang_says(w, "Nobody else of the job is left who could come to it.");
	if (!hang_says_who_left_then(w) && !ended_say(w)) {
		/* that number may be wrong, or who was the last one has long gone */
		w->v->confidence = CONFIDENCE_LOW;
		for (size_t i = 0; i < n; i++)
			hang_accuse(w, all[i]);
	}
	hang_advise(w,
		    "compare the number that the barrier was made for (%u) with how many call wait(), also at the end "
		    "of an epoch or after a failure",
		    (unsigned)x.parties);
	hang_advise(w, "give wait() a timeout, so that it raises BrokenBarrierError instead of waiting for ever");
	return true;
}

/* True of a main thread that waits, within a limit, for a pipe that its own process alone has open to write. */
static bool asks_its_own_pipe(const struct waitgraph_node *n)
{
	const struct waitfact *f = n && n->thread && n->thread->n == 1 && n->timed ? n->fact : NULL;
	return f && f->kind == WAITFACT_PIPE && !f->to_write && f->complete && f->n_holders == 1 && n->n_edges == 0;
}

/* True if nobody but this thread does anything: the others of the job have ended, or wait for work of their own. */
static bool is_left_alone(const struct waitgraph *g, const struct waitgraph_node *n)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		const bool idle = x->thread && !x->timed && !x->hint && x->fact && x->fact->kind == WAITFACT_FUTEX;
		if (x != n && !(x->thread && x->thread->ended) && !idle && !(x->who && x->who->launcher))
			return false;
	}
	return true;
}

bool hang_writer_failed(struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	const struct stackgroup_rank *r = w->g.n == 1 && w->stepping && !w->many ? &w->g.rank[0] : NULL;
	const struct waitgraph_node *n = g && r && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	char wait[300];
	if (!asks_its_own_pipe(n) || g->one_look || !is_left_alone(g, n) || !hang_left_then(w))
		return false;
	if (!hang_old_enough(w, HANG_EXPLAINED))
		return true;
	/* who ended well may have written all that it had to, and this one go on by a time of its own */
	const bool failed = hang_failed_then(w);
	const uint64_t most_ns = failed ? own_pipe_ns : own_pipe_well_ns;
	if (!w->s->has_after && w->standstill_ns < most_ns) {
		w->v->again_ns = sub_floor(most_ns, w->standstill_ns);
		return true;
	}
	hang_is(w, "abandoned_wait", failed ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW);
	if (r->rank != NO_RANK)
		hang_accuse(w, r->rank);
	waitgraph_wait_text(n, wait, sizeof(wait));
	hang_says(w,
		  "Process %d (%s) waits again and again, within a limit each time, for a pipe that nobody else has "
		  "open to write: %s.",
		  (int)n->process->pid, n->process->name, wait);
	hang_says_who_left_then(w);
	hang_advise(w, "look whether who should write is alive at each try that comes to nothing (process.is_alive(), "
		       "exitcode), and raise if it is not");
	return true;
}
