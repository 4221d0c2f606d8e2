/*
 * A process that left while others wait for what it should have brought. Where a process and its children wait for each
 * other, over a pipe or lock that all of them share, one of the children that has ended may be the one whose part is
 * missing: none of those that live could bring it. That it had the same in its hands is what it has from its parent.
 */
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/text.h"
#include "base/units.h"
#include "judge/hang/hang_advice.h"
#include "judge/hang/hang_gone.h"

static bool is_in(const struct waitgraph *g, const struct waitgraph_sink *s, const struct waitgraph_node *n)
{
	return n->thread && n->component == g->node[s->node].component;
}

/* So far from each other are the end of a process and the standstill that it leaves behind. */
static const uint64_t leaving_ns = 10 * NS_PER_S;
/* Where more processes end than these, that one did then says little. */
static const uint32_t ends_most = 4;

bool hang_then(const struct hang_work *w, uint64_t at_ns)
{
	const double slack = (double)leaving_ns + MAX(w->gap_ns, w->p->gap_ns);
	return at_ns > 0 && fabs((double)at_ns - (double)w->m->since_ns) < slack;
}

/* What a process and its children hand on to each other. */
static bool is_shared(const struct waitfact *f)
{
	return f && (f->kind == WAITFACT_PIPE || f->kind == WAITFACT_UNIX || f->kind == WAITFACT_EVENTFD ||
		     f->kind == WAITFACT_SHARED || f->kind == WAITFACT_SEMAPHORE || f->kind == WAITFACT_MESSAGE);
}

/* True if the parent is in the end and waits for a child of its own, by what they share. */
static bool waits_for_a_child(const struct waitgraph *g, const struct waitgraph_sink *s, pid_t parent)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!is_in(g, s, n) || n->process->pid != parent)
			continue;
		for (uint32_t k = 0; k < n->n_edges; k++) {
			const struct waitgraph_edge *e = &g->edge[n->first_edge + k];
			const struct waitgraph_node *to = &g->node[e->to];
			if (to->process && to->process->ppid == parent && is_shared(e->fact))
				return true;
		}
	}
	return false;
}

/* True if children of this process, all of the end, wait for one another by what they have from it. */
static bool wait_for_siblings(const struct waitgraph *g, const struct waitgraph_sink *s, pid_t parent)
{
	size_t n = 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		if (!is_in(g, s, x))
			continue;
		if (x->process->ppid != parent || !is_shared(x->fact) || x->fact->n_holders < 2)
			return false;
		n++;
	}
	return n > 1;
}

/* A child that has ended, beside one that lives and for which its parent waits, or beside siblings that do. */
static bool has_left(const struct waitgraph *g, const struct waitgraph_sink *s, const struct waitgraph_node *n)
{
	bool child = n->main && n->thread && n->thread->ended && n->process->state == 'Z';
	return child && !(n->who && n->who->main) &&
	       (waits_for_a_child(g, s, n->process->ppid) || wait_for_siblings(g, s, n->process->ppid));
}

static void one_says(struct hang_work *w, const struct waitgraph_node *n)
{
	char how[48] = "has ended";
	const int status = n->process->exit_status;
	if (n->process->has_exit && WIFSIGNALED(status))
		TEXT_FORMAT(how, "was ended by signal %d", WTERMSIG(status));
	else if (n->process->has_exit)
		TEXT_FORMAT(how, "has left with status %d", WEXITSTATUS(status));
	hang_says(w, "Process %d (%s), another child of process %d, %s: what is missing may have been its part.",
		  (int)n->process->pid, n->process->name, (int)n->process->ppid, how);
}

void hang_says_who_left(struct hang_work *w, const struct waitgraph_sink *s)
{
	const size_t most = 3; /* that are named one by one */
	const struct waitgraph *g = w->c->graph;
	size_t n = 0;
	if (s->end != WAITEND_CIRCLE && s->end != WAITEND_NOBODY && s->end != WAITEND_OWN && s->end != WAITEND_ANY)
		return;
	for (size_t i = 0; i < g->n_nodes; i++)
		n += has_left(g, s, &g->node[i]);
	for (size_t i = 0; n <= most && i < g->n_nodes; i++)
		if (has_left(g, s, &g->node[i]))
			one_says(w, &g->node[i]);
	if (n > most)
		hang_says(w, "%zu other children of theirs have left: what is missing may have been the part of one.",
			  n);
}

/* How the process ended, as the end of a sentence. */
static const char *left_how(const struct liveness_counters *c, char dst[static 48])
{
	const bool by_signal = c->last_gone.has_status && WIFSIGNALED(c->last_gone.wait_status);
	if (by_signal)
		text_format(dst, 48, "was ended by signal %d", WTERMSIG(c->last_gone.wait_status));
	else if (c->last_gone.has_status)
		text_format(dst, 48, "left with status %d", WEXITSTATUS(c->last_gone.wait_status));
	else
		text_copy(dst, 48, "ended");
	return dst;
}

const struct liveness *hang_left_then(const struct hang_work *w)
{
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (l->seen.last_gone.pid != 0 && l->seen.n_gone <= ends_most && hang_then(w, l->gone_ns))
			return l;
	}
	return NULL;
}

bool hang_failed_then(const struct hang_work *w)
{
	const struct liveness *l = hang_left_then(w);
	return l && l->seen.last_gone.has_status && l->seen.last_gone.wait_status != 0;
}

static bool is_crash(int status)
{
	static const int crashes[] = {SIGKILL, SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE};
	for (size_t i = 0; WIFSIGNALED(status) && i < ARRAY_SIZE(crashes); i++)
		if (WTERMSIG(status) == crashes[i])
			return true;
	return false;
}

bool hang_sibling_crashed(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct waitgraph *g = w->c->graph;
	const struct liveness *l = w->stepping && n->main && n->naps ? hang_left_then(w) : NULL;
	for (size_t i = 0; l && i < g->n_nodes; i++) {
		const struct waitfact_process *p = g->node[i].process;
		if (p && g->node[i].main && p->pid == l->seen.last_gone.pid)
			return p->ppid == n->process->ppid && p->state == 'Z' && p->has_exit &&
			       is_crash(p->exit_status);
	}
	return false;
}

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

bool hang_restarts(struct hang_work *w)
{
	const struct liveness *l = w->many && w->stepping ? restarted(w) : NULL;
	if (!l)
		return false;
	if (!hang_old_enough(w, HANG_EXPLAINED))
		return true;
	hang_is(w, "dead_rank", CONFIDENCE_MEDIUM);
	hang_accuse(w, l->rank);
	w->advice = HANG_ADVICE_RESTARTS;
	const struct renewals *r = &l->renewals;
	const size_t n = renewals_since(r, w->m->since_ns);
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

bool hang_is_left_then(const struct hang_work *w, const struct liveness *l)
{
	return !l->serves && l->seen.exited && hang_then(w, l->exited_ns);
}

bool hang_rank_left_then(const struct hang_work *w)
{
	for (size_t i = 0; i < w->p->n; i++)
		if (hang_is_left_then(w, &w->p->rank[i]))
			return true;
	return false;
}

void hang_says_ranks_left_then(struct hang_work *w)
{
	char text[200];
	int32_t left[HANG_CULPRITS];
	size_t n = 0;
	for (size_t i = 0; i < w->p->n && n < ARRAY_SIZE(left); i++)
		if (hang_is_left_then(w, &w->p->rank[i]))
			left[n++] = w->p->rank[i].rank;
	if (n == 0)
		return;
	hang_ranks_text(left, n, text, sizeof(text));
	text[0] = 'R'; /* "ranks" begins a sentence here */
	hang_says(w, "%s ended when the job came to a stand: what is missing may have been %s part.", text,
		  n == 1 ? "its" : "their");
}

bool hang_says_who_left_then(struct hang_work *w)
{
	char how[48];
	const struct liveness *l = hang_left_then(w);
	const struct liveness_counters *c = l ? &l->seen : NULL;
	if (!c)
		return false;
	hang_says(w, "Process %d (%s%s%s) %s when the job came to a stand: what is missing may have been its part.",
		  (int)c->last_gone.pid, c->last_gone.name, c->last_gone.role[0] ? ", " : "", c->last_gone.role,
		  left_how(c, how));
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
	/* Who it was that should have gone on is explained by its end alone. */
	const bool explained = hang_says_who_left_then(w);
	if (!explained)
		hang_says_who_left(w, s);
	else if (!w->many || s->n_followers > 0)
		w->v->confidence = CONFIDENCE_MEDIUM;
	return true;
}

/* So long may one go on asking its own pipe, as it may count its tries and start anew who has failed. */
static const uint64_t own_pipe_ns = 80 * NS_PER_S;

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
	if (!asks_its_own_pipe(n) || g->one_look || !is_left_alone(g, n) || !hang_failed_then(w))
		return false;
	if (!hang_old_enough(w, HANG_EXPLAINED))
		return true;
	if (!w->s->has_after && w->standstill_ns < own_pipe_ns) {
		w->v->again_ns = sub_floor(own_pipe_ns, w->standstill_ns);
		return true;
	}
	hang_is(w, "abandoned_wait", CONFIDENCE_MEDIUM);
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
