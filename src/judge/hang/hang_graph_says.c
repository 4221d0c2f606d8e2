/* A verdict by the graph of waits: its words, and the advice for its kind of end. */
#include <string.h>

#include "judge/hang/hang_advice.h"
#include "judge/hang/hang_parts.h"

static void way_says(struct hang_work *w, const struct waitgraph_sink *s)
{
	char way[600];
	waitgraph_way_text(w->c->graph, s, way, sizeof(way));
	hang_says(w, "%s.", way);
	hang_evidence(w, "waits", "system calls, descriptors and memory of the threads",
		      "who waits for whom: %zu thread%s can never run again; the arrows are %s", w->c->graph->n_dead,
		      w->c->graph->n_dead == 1 ? "" : "s",
		      s->n_followers == 0 || s->quality == WAITGRAPH_PROOF ? "proved"
		      : s->quality == WAITGRAPH_LIKELY			   ? "likely"
									   : "possible ones");
}

/* One thread alone waits for what it has itself, by the lock or by Python. */
static bool is_own_lock(const struct hang_work *w, const struct waitgraph_sink *s, const char *id)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	const struct waithint *h = n->hint;
	const bool says = h && h->kind == WAITHINT_OWNER && h->owner_tid == h->tid && h->owner_pid == h->pid;
	const bool lock = n->fact && n->fact->kind == WAITFACT_LOCK;
	return strcmp(id, "deadlock") == 0 && s->end == WAITEND_CIRCLE && s->n_nodes == 1 && (says || lock);
}

/* A lock of Python's that does not say who has it, and that nobody is left to release. */
static bool is_lost_lock(const struct hang_work *w, const struct waitgraph_sink *s, const char *id)
{
	const struct waithint *h = w->c->graph->node[s->node].hint;
	return strcmp(id, "orphaned_wait") == 0 && s->end == WAITEND_NOBODY && h && h->kind != WAITHINT_OWNER &&
	       strncmp(h->text, "threading.Lock", strlen("threading.Lock")) == 0;
}

bool hang_is_apart(const struct waitgraph_node *n)
{
	return n->fact && n->fact->apart;
}

/* True if a thread of a circle within one process waits for a pipe or connection, and so for no lock. */
static bool is_by_pipe(const struct hang_work *w, const struct waitgraph_sink *s, const char *id)
{
	const struct waitgraph *g = w->c->graph;
	if (strcmp(id, "deadlock") != 0 || s->end != WAITEND_CIRCLE || !s->one_process)
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitfact *f = g->node[i].fact;
		if (g->node[i].component == g->node[s->node].component && f &&
		    (f->kind == WAITFACT_PIPE || f->kind == WAITFACT_UNIX || f->kind == WAITFACT_TCP))
			return true;
	}
	return false;
}

/* Its advice is not that for a circle of several, or for any wait. */
static void own_lock_says(struct hang_work *w, const struct waitgraph_sink *s, const char *id)
{
	const struct waithint *h = w->c->graph->node[s->node].hint;
	if (is_own_lock(w, s, id)) {
		hang_says(w, "It waits for a lock that it has already%s%s.",
			  h && h->owner_text[0] ? ", which it took before: " : "", h ? h->owner_text : "");
		w->advice = HANG_ADVICE_OWN_LOCK;
	} else if (is_lost_lock(w, s, id)) {
		w->advice = HANG_ADVICE_LOST_LOCK;
	} else if (is_by_pipe(w, s, id)) {
		hang_says(w, "Only threads of this process are left that could bring it, and they wait as well.");
		w->advice = HANG_ADVICE_BY_PIPE;
	} else if (hang_is_apart(&w->c->graph->node[s->node])) {
		hang_says(w, "That lies in memory which other processes of the job have as well, but was made for the "
			     "threads of one process: no other one can wake it.");
		w->advice = HANG_ADVICE_APART;
	}
}

/* Of a wait that any of several threads of its own could end, none of which ever will: who they are. */
static void own_threads_say(struct hang_work *w, const struct waitgraph_sink *s)
{
	const size_t room = sizeof(w->v->text) / 2; /* for what is said after it */
	char threads[240];
	if (s->end != WAITEND_OWN || !s->dead || waitgraph_awaits_its_own(&w->c->graph->node[s->node]))
		return;
	waitgraph_own_threads_text(w->c->graph, s, threads, sizeof(threads));
	if (!threads[0])
		return;
	w->advice = HANG_ADVICE_OWN_THREADS;
	if (strlen(w->v->text) < room)
		hang_says(w, "Only threads of its own could end that, and they wait as well: %s.", threads);
}

/* The file for which the end looks between its naps, or its parent between those that it makes; NULL: none. */
static const struct waithint *file_looked_for(const struct waitgraph *g, const struct waitgraph_node *n)
{
	const struct waitgraph_node *parent = n->process ? waitgraph_thread(g, n->process->ppid, 0) : NULL;
	const struct waithint *h = n->hint || !parent ? n->hint : parent->hint;
	return h && h->kind == WAITHINT_RETRY && h->missing && h->text[0] ? h : NULL;
}

/* Of ranks that all look for one and the same file none is about to make it, so that the first is accused in vain. */
static void lookers_say(struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waithint *file = s->end == WAITEND_CLOCK ? file_looked_for(g, &g->node[s->node]) : NULL;
	int32_t rank[HANG_CULPRITS];
	char ranks[96];
	size_t n = 0;
	for (size_t i = 0; file && i < g->n_nodes && n < ARRAY_SIZE(rank); i++) {
		const struct waitgraph_node *x = &g->node[i];
		const struct waithint *h = x->main && x->who && x->who->rank != NO_RANK ? x->hint : NULL;
		bool seen = !h || h->kind != WAITHINT_RETRY || strcmp(h->text, file->text) != 0;
		for (size_t k = 0; k < n && !seen; k++)
			seen = rank[k] == x->who->rank;
		if (!seen)
			rank[n++] = x->who->rank;
	}
	if (n < 2)
		return;
	w->v->n_culprits = 0;
	w->v->confidence = CONFIDENCE_LOW;
	hang_ranks_text(rank, n, ranks, sizeof(ranks));
	ranks[0] = 'R'; /* "ranks" begins a sentence here */
	hang_says(w, "%s look for the very same, so that none of them is about to make it.", ranks);
	hang_advise(w, "compare the names that the ranks make with the one they look for: one of them may write its "
		       "number in another way");
}

void hang_graph_is(struct hang_work *w, const struct waitgraph_sink *s, const char *id, enum confidence c)
{
	hang_is(w, id, c);
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	/* a process of no rank that several ranks wait for is nobody's, nor is a server that waits for itself */
	bool theirs = !s->of_waiters || s->outside || (s->n_ranks == 1 && !waitgraph_waits_for_itself(n));
	for (size_t i = 0; theirs && i < s->n_ranks; i++)
		hang_accuse(w, s->rank[i]);
	w->v->lost_pid = n->process && n->hint && n->hint->lost ? n->process->pid : 0;
	way_says(w, s);
	lookers_say(w, s);
	own_lock_says(w, s, id);
	own_threads_say(w, s);
	hang_says_who_left(w, s);
}
