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
#include "judge/standstill/hang_ask.h"

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
