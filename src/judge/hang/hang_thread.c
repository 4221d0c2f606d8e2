/*
 * Threads of one process that are waited for: by its main thread (which one it is, and where that stands), or by each
 * other, while the main thread sleeps.
 */
#include <string.h>

#include "judge/hang/hang_gone.h"
#include "model/hang/waitgraph.h"

#define THREADS_NAMED 2

bool hang_joins_thread(const struct stackgroup_rank *r)
{
	const char *op = r->activity.op ? r->activity.op : "";
	return strcmp(op, "a thread's end") == 0 || strcmp(op, "the interpreter's end (threads still run)") == 0;
}

/* The thread of its own that this main thread waits for; NULL: none, or several. */
static const struct waitgraph_node *own_thread(const struct waitgraph *g, const struct waitgraph_node *main)
{
	const struct waitgraph_node *one = NULL;
	for (uint32_t i = 0; i < main->n_edges; i++) {
		const struct waitgraph_node *to = &g->node[g->edge[main->first_edge + i].to];
		if (!to->thread || to->process != main->process || one)
			return NULL;
		one = to;
	}
	return one;
}

static void name_of(const struct hang_work *w, pid_t pid, pid_t tid, char *dst, size_t cap)
{
	const struct dump_thread *t = hang_thread_in(hang_newest(w), pid, tid);
	text_format(dst, cap, t && t->name[0] ? "%d (%s)" : "%d", (int)tid, t ? t->name : "");
}

bool hang_thread_of_graph(struct hang_work *w, pid_t pid)
{
	char name[100], wait[300];
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *main = g ? waitgraph_thread(g, pid, 0) : NULL;
	const struct waitgraph_node *to = main ? own_thread(g, main) : NULL;
	if (!to)
		return false;
	name_of(w, pid, to->thread->tid, name, sizeof(name));
	waitgraph_wait_text(to, wait, sizeof(wait));
	hang_says(w, "Its main thread waits for its own thread %s: %s.", name,
		  wait[0] ? wait : "where that stands could not be read");
	return true;
}

void hang_thread_of_stacks(struct hang_work *w, const struct stackgroup_rank *r)
{
	char name[100], place[300];
	size_t named = 0, more = 0;
	for (size_t i = 0; r->process && i < r->process->n_threads; i++) {
		const struct dump_thread *t = &r->process->threads[i];
		if (t == r->acting || t->main || !t->has_python || t->n_frames == 0)
			continue;
		if (named == THREADS_NAMED) {
			more++;
			continue;
		}
		named++;
		name_of(w, r->process->pid, t->tid, name, sizeof(name));
		hang_place(w, r->process, t, place, sizeof(place));
		hang_says(w, "Beside it stands thread %s: %s.", name, place);
	}
	if (more > 0)
		hang_says(w, "%zu more threads are in the stacks.", more);
}

bool hang_each_for_its_own(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; g && i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		const struct waitgraph_sink *s = r->process ? waitgraph_end_of(g, r->process->pid) : NULL;
		const struct waitgraph_node *n = s ? &g->node[s->node] : NULL;
		if (!n || !n->process || n->process->pid != r->process->pid || n->main || s->end != WAITEND_CLOCK)
			return false;
	}
	return g && w->g.n > 1;
}

/* ---- threads that wait for each other ---- */

/* The only thread that can end this one's wait, of the same process, by what the kernel or a lock says; NULL: none. */
static const struct waitgraph_node *owed_by(const struct waitgraph *g, const struct waitgraph_node *n)
{
	const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
	if (!n->dead || !n->thread || !e || !e->fact || e->hint || e->quality != WAITGRAPH_PROOF)
		return NULL;
	const struct waitgraph_node *to = &g->node[e->to];
	bool owner = e->fact->kind == WAITFACT_THREAD || e->fact->kind == WAITFACT_LOCK;
	return owner && to->thread && to->process == n->process ? to : NULL;
}

static bool is_in_circle(const struct waitgraph *g, const struct waitgraph_node *n)
{
	const struct waitgraph_node *at = owed_by(g, n);
	for (size_t i = 0; at && at != n && i < WAITGRAPH_RANKS; i++)
		at = owed_by(g, at);
	return at == n;
}

/* True if it is a main process's main thread that sleeps for hours: the others do the work. */
static bool only_sleeps(const struct waitgraph_node *n)
{
	return n && n->who && n->who->main && n->end == WAITEND_CLOCK && n->thread && n->thread->n == 1 &&
	       MAX(n->thread->limit_ns, n->thread->left_ns) >= HANG_SLEEP_SURE_NS;
}

static void circle_says(struct hang_work *w, const struct waitgraph_node *n)
{
	char name[100], wait[300];
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *at = n;
	do {
		name_of(w, at->process->pid, at->thread->tid, name, sizeof(name));
		waitgraph_wait_text(at, wait, sizeof(wait));
		hang_says(w, "Thread %s of process %d waits: %s.", name, (int)at->process->pid, wait);
		at = owed_by(g, at);
	} while (at && at != n);
	hang_says(w,
		  "None of them can go on, which is proved by their waits, seen twice; the main thread only sleeps.");
}

bool hang_threads_circle(struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; g && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_node *main =
			n->dead && n->process ? waitgraph_thread(g, n->process->pid, 0) : NULL;
		if (!only_sleeps(main) || !is_in_circle(g, n))
			continue;
		if (!hang_old_enough(w, HANG_FIRM))
			return true;
		hang_is(w, "deadlock", w->stepping ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
		hang_accuse(w, main->who->rank);
		circle_says(w, n);
		w->v->proved = w->stepping;
		return true;
	}
	return false;
}
