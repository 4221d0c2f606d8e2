/*
 * Threads of one process that are waited for: by its main thread (which one it is, and where that stands), by each
 * other, while the main thread sleeps, or by clients, while a lock is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "judge/hang/hang_parts.h"
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

/* Any thread of the process may be the one that a library waits for; the program's own ones are few. */
void hang_own_code_says(struct hang_work *w, const struct stackgroup_rank *r)
{
	char name[100], place[300];
	size_t named = 0;
	for (size_t i = 0; r->process && i < r->process->n_threads && named < THREADS_NAMED; i++) {
		const struct dump_thread *t = &r->process->threads[i];
		size_t own = 0;
		while (own < t->n_frames && !(t->frames[own].kind == FRAME_PYTHON && activity_is_user(&t->frames[own])))
			own++;
		if (t == r->acting || t->main || own == t->n_frames)
			continue;
		named++;
		name_of(w, r->process->pid, t->tid, name, sizeof(name));
		hang_place(w, r->process, t, place, sizeof(place));
		hang_says(w, "Its thread %s is in the program's own code: %s.", name, place);
	}
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

/* ---- a lock that is kept ---- */

/* True of a thread that waits, without a limit, for a lock of its own process, which whoever has it gives back. */
static bool wants_a_lock(const struct waitgraph_node *n)
{
	const struct waitfact *f = n->fact;
	if (!n->thread || n->thread->n != 1 || n->timed || !n->process || !f)
		return false;
	if (f->kind == WAITFACT_LOCK)
		return !f->owner_gone;
	return f->kind == WAITFACT_OBJECT ? f->lock : f->kind == WAITFACT_FUTEX && n->hint && n->hint->lock;
}

/* Words of newer Pythons tell their locks apart no more, so places do. */
static bool is_same_lock(const struct waitgraph_node *a, const struct waitgraph_node *b)
{
	if (a->fact->kind != b->fact->kind)
		return false;
	return a->fact->kind == WAITFACT_FUTEX ? strcmp(a->hint->text, b->hint->text) == 0 : a->fact->id == b->fact->id;
}

/* The one thread of its process that has the lock; NULL: unknown. */
static const struct waitgraph_node *thread_that_has_it(const struct waitgraph *g, const struct waitgraph_node *n)
{
	const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
	const bool known = e && (e->fact ? e->fact->kind == WAITFACT_LOCK : false);
	const bool said = e && e->hint && e->hint->kind == WAITHINT_OWNER;
	const struct waitgraph_node *to = known || said ? &g->node[e->to] : NULL;
	return to && to->thread && to->process == n->process && to != n ? to : NULL;
}

/* True of a goroutine that waits for something which a clock may end as well. */
static bool waits_within_limit(const struct waitgraph_node *n)
{
	return n->end == WAITEND_CLOCK && n->thread->goroutine && n->fact && n->fact->kind != WAITFACT_CLOCK;
}

/*
 * True if nobody reads the other end of this connection, or who does waits for a thread that wants the lock: it is
 * read for the next request, or for its end while a request is worked on.
 */
static bool is_between_requests(const struct waitgraph *g, const struct waitgraph_node *n,
				const struct waitgraph_node *lock)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		bool served = n->thread->goroutine && x->thread && waits_within_limit(x);
		if (!x->thread || !x->fact || x->fact->kind != n->fact->kind || x->fact->to_write ||
		    x->fact->id != n->fact->peer_id)
			continue;
		for (uint32_t k = 0; k < x->n_edges; k++) {
			const struct waitgraph_node *to = &g->node[g->edge[x->first_edge + k].to];
			served |= to->process == n->process && wants_a_lock(to) && is_same_lock(to, lock);
		}
		if (!served)
			return false;
	}
	return true;
}

/*
 * True of a library's own thread, which runs no Python, so that it has no lock of Python's, and waits for nobody but
 * threads of the job: what comes from outside might make it call one that gives a lock back.
 */
static bool has_no_python(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct waitgraph *g = w->c->graph;
	const struct dump_thread *t = hang_thread_in(hang_newest(w), n->process->pid, n->thread->tid);
	const bool waits = n->end == WAITEND_NONE || n->end == WAITEND_OWN || n->end == WAITEND_CIRCLE;
	for (uint32_t i = 0; i < n->n_edges; i++)
		if (!g->node[g->edge[n->first_edge + i].to].thread)
			return false;
	return waits && t && !t->has_python && t->n_frames > 0 && !n->hint;
}

/*
 * True of a thread that has nothing in hand: it is at a door, reads the next request of a client, or waits for work.
 * ret_inside: the last, which a thread that has the lock might do as well, unless its frames say that it is idle.
 */
static bool has_nothing_in_hand(const struct hang_work *w, const struct waitgraph_node *n,
				const struct waitgraph_node *lock, bool *ret_inside)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitfact *f = n->fact;
	if (f && (n->idle || (lock->hint && has_no_python(w, n))))
		return true;
	if (n->thread->n != 1 || !f)
		return false;
	if (f->kind == WAITFACT_LISTEN) /* some look every half second whether they are to end */
		return true;
	if (n->timed)
		return false;
	switch (f->kind) {
	case WAITFACT_THREAD:
	case WAITFACT_SIGNAL:
		return true;
	case WAITFACT_TCP:
		return !f->to_write && f->accepted && is_between_requests(g, n, lock);
	case WAITFACT_FUTEX:
	case WAITFACT_OBJECT:
		*ret_inside = true;
		return true;
	default:
		return false;
	}
}

/*
 * True if a thread of this process waits for one of the other itself. Goroutines whose wait a clock may end have no
 * arrows; both ends of the connection say it.
 */
static bool asks_itself(const struct waitgraph *g, const struct waitfact_process *who,
			const struct waitfact_process *server)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->process != who || !n->thread)
			continue;
		for (uint32_t k = 0; k < n->n_edges; k++)
			if (g->node[g->edge[n->first_edge + k].to].process == server)
				return true;
		const bool reads = n->fact && n->fact->kind == WAITFACT_TCP && !n->fact->to_write;
		for (size_t k = 0; reads && k < g->n_nodes; k++)
			if (g->node[k].process == server && g->node[k].fact && g->node[k].thread &&
			    g->node[k].fact->kind == WAITFACT_TCP && g->node[k].fact->id == n->fact->peer_id)
				return true;
	}
	return false;
}

/*
 * True if one of these arrows leads, over however many, to a thread that wants the lock, or to a goroutine without
 * arrows of a process that asks the lock's.
 */
static bool leads_to_lock(const struct waitgraph *g, const struct waitgraph_node *from,
			  const struct waitgraph_node *lock)
{
	cleanup(freep) bool *seen = calloc(g->n_nodes, sizeof(*seen));
	cleanup(freep) uint32_t *next = calloc(g->n_nodes, sizeof(*next));
	const struct waitfact_process *asks_not = NULL; /* the last that was found so: it has many such goroutines */
	size_t n = 0;
	if (!seen || !next)
		return false;
	next[n++] = (uint32_t)(from - g->node);
	seen[from - g->node] = true;
	while (n > 0) {
		const struct waitgraph_node *x = &g->node[next[--n]];
		if (x == lock)
			return true;
		if (x->thread && x->process != asks_not && waits_within_limit(x)) {
			if (asks_itself(g, x->process, lock->process))
				return true;
			asks_not = x->process;
		}
		for (uint32_t i = 0; i < x->n_edges; i++) {
			const uint32_t to = g->edge[x->first_edge + i].to;
			if (!seen[to])
				next[n++] = to;
			seen[to] = true;
		}
	}
	return false;
}

/* True if all other main processes of the job, of which there is one at least, wait for this lock in the end. */
static bool all_want(const struct waitgraph *g, const struct waitgraph_node *lock, bool inside)
{
	size_t clients = 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->main || !n->who || !n->who->main || n->process == lock->process)
			continue;
		if (!leads_to_lock(g, n, lock) || (inside && !asks_itself(g, n->process, lock->process)))
			return false;
		clients++;
	}
	return clients > 0;
}

/* True if no thread of another process of the job runs, sleeps, or waits for somebody outside. */
static bool the_others_wait(const struct hang_work *w, const struct waitgraph_node *lock)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const bool door = n->end == WAITEND_VISITOR && n->fact && n->fact->kind == WAITFACT_LISTEN;
		if (n->process == lock->process || n->end == WAITEND_GONE || door || (n->who && n->who->launcher))
			continue;
		const bool waits =
			n->thread && (n->end == WAITEND_NONE || n->end == WAITEND_NOBODY || n->end == WAITEND_CIRCLE ||
				      n->end == WAITEND_OWN || n->end == WAITEND_ANY);
		if (n->thread && (n->thread->ended || waits_within_limit(n)))
			continue;
		/* such as those of gRPC, which wake up at times to look for what their callers wait for */
		if (n->thread && n->timed && lock->hint && has_no_python(w, n))
			continue;
		if (!waits || (n->timed && !leads_to_lock(g, n, lock)))
			return false;
	}
	return true;
}

/*
 * True if no thread of the process is in a part that the lock guards, as far as is seen. ret_main: the main thread
 * waits for who waits for the lock, in a call of all ranks for one, and might have it meanwhile.
 */
static bool nobody_is_within(const struct hang_work *w, const struct waitgraph_node *lock, bool *ret_inside,
			     bool *ret_main)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->process != lock->process || !n->thread || n->thread->ended)
			continue;
		if (wants_a_lock(n) ? is_same_lock(n, lock) : has_nothing_in_hand(w, n, lock, ret_inside))
			continue;
		if (!n->main || wants_a_lock(n) || !leads_to_lock(g, n, lock))
			return false;
		*ret_main = true;
	}
	return true;
}

/* True if visitors come to this process: a thread of it is at a door, reads what came to one, or works on a call. */
static bool is_a_service(const struct waitgraph *g, const struct waitfact_process *p)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitfact *f = n->thread ? n->fact : NULL;
		if (n->process == p && (n->handles || (f && (f->kind == WAITFACT_LISTEN || f->accepted))))
			return true;
	}
	return false;
}

static void kept_says(struct hang_work *w, const struct waitgraph_node *lock, const struct waitgraph_node *owner,
		      bool by_main)
{
	const struct waitgraph *g = w->c->graph;
	char who[160], name[60], wait[300];
	struct buf b = BUF_ON(name);
	waitgraph_who_text(g, (uint32_t)(waitgraph_thread(g, lock->process->pid, 0) - g->node), who, sizeof(who));
	waitgraph_thread_text(lock->thread, "", &b);
	waitgraph_wait_text(lock, wait, sizeof(wait));
	hang_says(w, "The others wait for %s, of which %s waits for a lock: %s.", who, name, wait);
	if (owner) {
		buf_reset(&b);
		waitgraph_thread_text(owner->thread, "", &b);
		waitgraph_wait_text(owner, wait, sizeof(wait));
		hang_says(w, "Its %s has it, and does nothing with it: %s.", name, wait);
	}
	if (by_main)
		hang_says(w, "No other thread of it is at work but the main one, which waits for them: that has the "
			     "lock, or who took it has gone on, or returned, without giving it back.");
	else
		hang_says(w, "No other thread of it is at work: they wait for requests, or for this lock too, so who "
			     "took it has gone on, or returned, without giving it back.");
	hang_evidence(w, "lock", "waits of all threads of the process, seen twice", "%s: %s", who, lock->fact->text);
}

bool hang_lock_lost(struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; g && !g->one_look && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		/* Threads beside the main one work on requests; a main thread that wants a lock is no service. */
		const bool handles = wants_a_lock(n) && !n->main;
		const struct waitgraph_node *main = handles ? waitgraph_thread(g, n->process->pid, 0) : NULL;
		bool inside = false, by_main = false;
		if (!main || !is_a_service(g, n->process) || !nobody_is_within(w, n, &inside, &by_main) ||
		    !all_want(g, n, inside) || !the_others_wait(w, n))
			continue;
		if (!hang_old_enough(w, HANG_EXPLAINED))
			return true;
		hang_is(w, "lock_not_released", by_main ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM);
		if (main->who && main->who->rank != NO_RANK)
			hang_accuse(w, main->who->rank);
		kept_says(w, n, thread_that_has_it(g, n), by_main);
		return true;
	}
	return false;
}
