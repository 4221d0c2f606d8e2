/* To whom the arrows of a thread lead: those who are meant, out of all who could end its wait. */
#include <signal.h>
#include <string.h>

#include "base/bisect.h"
#include "base/vec.h"
#include "model/hang/waitgraph_parts.h"

static struct waitgraph_node *node_at(const struct build *b, uint32_t i)
{
	return &b->g->node[i];
}

int waitgraph_arrow(struct build *b, uint32_t from, uint32_t to, enum waitgraph_quality q, const struct waitfact *f,
		    const struct waithint *h)
{
	struct waitgraph *g = b->g;
	for (size_t i = node_at(b, from)->first_edge; i < g->n_edges; i++)
		if (g->edge[i].to == to) {
			g->edge[i].quality = MAX(g->edge[i].quality, q);
			return 0;
		}
	if (vec_room(&g->edge, &g->cap_edges, g->n_edges + 1) < 0)
		return -ENOMEM;
	g->edge[g->n_edges++] = (struct waitgraph_edge){to, q, f, h};
	node_at(b, from)->n_edges++;
	return 0;
}

/*
 * True if a process outside of the job that holds a lock of a file works for itself between the looks. Of what else is
 * waited for it may work for others.
 */
static bool works_with_the_lock(const struct build *b, const struct waitfact_process *now, const struct waitfact *f)
{
	const struct waitfact_process *p = now && b->in->before ? waitfacts_process(b->in->before, now->pid) : NULL;
	if (!p || f->kind != WAITFACT_FILE_LOCK || p->start_ticks != now->start_ticks)
		return false;
	return now->state == 'D' || now->cpu_ticks - p->cpu_ticks >= WAITGRAPH_WORKING_TICKS;
}

static enum waitgraph_end end_outside(const struct build *b, const struct waitfact_process *p, const struct waitfact *f)
{
	if (p && p->state == 'Z')
		return WAITEND_GONE;
	return works_with_the_lock(b, p, f) ? WAITEND_RUNS : WAITEND_OUTSIDE;
}

/* The node of what is outside of the job: a process, or what the fact's text says. */
static int outside_node(struct build *b, pid_t pid, const struct waitfact *f, uint32_t *ret)
{
	for (size_t i = 0; i < b->n_outside; i++)
		if (pid ? b->outside[i].pid == pid
			: b->outside[i].pid == 0 && strcmp(b->outside[i].text, f->text) == 0) {
			*ret = b->outside[i].node;
			return 0;
		}
	struct waitgraph *g = b->g;
	if (vec_room(&g->node, &g->cap_nodes, g->n_nodes + 1) < 0 ||
	    vec_room(&b->outside, &b->cap_outside, b->n_outside + 1) < 0)
		return -ENOMEM;
	const struct waitfact_process *p = pid ? waitfacts_process(b->in->now, pid) : NULL;
	b->outside[b->n_outside++] = (struct outside){(uint32_t)g->n_nodes, pid, f->text};
	*ret = (uint32_t)g->n_nodes;
	g->node[g->n_nodes++] =
		(struct waitgraph_node){.process = p, .fact = f, .end = end_outside(b, p, f), .beside = WAITGRAPH_NONE};
	return 0;
}

/* ---- the threads of a process ---- */

static bool is_clock(const struct waitgraph_node *n)
{
	return n->fact && n->thread && n->thread->n == 1 && n->fact->kind == WAITFACT_CLOCK;
}

/* A side thread that wakes up by itself now and then: a heartbeat, a monitor. */
bool waitgraph_ticks(const struct waitgraph_node *n)
{
	return !n->main && !n->handles && (is_clock(n) || n->timed);
}

/* True if it did not run between the looks: it sleeps for long, as one that is busy with something slow. */
static bool sleeps_long(const struct build *b, const struct waitgraph_node *n)
{
	const struct waitfact_thread *t = n->thread;
	const struct waitfact_thread *before = b->in->before ? waitfacts_thread(b->in->before, t->pid, t->tid) : NULL;
	return before && before->runs_so_far == t->runs_so_far;
}

static bool has_nothing_to_do(const struct build *b, uint32_t i);

/* True if any other thread of the process waits for something outside of it, or for a lock, so that it may act. */
static bool another_acts(const struct build *b, uint32_t from, const struct waitfact_process *p)
{
	uint32_t first = waitgraph_first_node(b, p);
	for (uint32_t k = first; first != WAITGRAPH_NONE && k < first + p->n_threads; k++) {
		const struct waitgraph_node *x = node_at(b, k);
		if (k != from && !x->thread->ended && !waitgraph_ticks(x) && !has_nothing_to_do(b, k))
			return true;
	}
	return false;
}

/* True if another thread of the process waits for something with a time limit, and ran between the looks. */
static bool another_tries(const struct build *b, uint32_t from, const struct waitfact_process *p)
{
	uint32_t first = waitgraph_first_node(b, p);
	for (uint32_t k = first; first != WAITGRAPH_NONE && k < first + p->n_threads; k++) {
		const struct waitgraph_node *x = node_at(b, k);
		if (k != from && !x->main && !x->thread->ended && x->timed && !is_clock(x) && !sleeps_long(b, x))
			return true;
	}
	return false;
}

/*
 * True if another thread of the process waits within a time limit that is long for a third one: it may be at work for
 * this wait, as a library's thread that sends and receives for its callers.
 */
static bool another_waits_long(const struct build *b, uint32_t from, const struct waitfact_process *p)
{
	uint32_t first = waitgraph_first_node(b, p);
	for (uint32_t k = first; first != WAITGRAPH_NONE && k < first + p->n_threads; k++) {
		const struct waitgraph_node *x = node_at(b, k);
		if (k != from && !x->main && !x->thread->ended && x->timed && x->fact &&
		    x->fact->kind == WAITFACT_FUTEX && sleeps_long(b, x))
			return true;
	}
	return false;
}

/*
 * True if another thread of the process may be the one that is meant: not one that waits for the same thing, or that
 * only wakes up by itself now and then.
 */
static bool may_be_meant(const struct build *b, uint32_t from, uint32_t i, const struct waitfact *f, bool with_sleeping)
{
	const struct waitgraph_node *x = node_at(b, i);
	bool same = x->fact && f && x->fact->kind == f->kind && x->fact->id == f->id && f->id != 0;
	/* Of a call that is worked on, those who wait for calls themselves bring nothing. */
	bool waits_as_well = node_at(b, from)->handles && waitgraph_waits_for_calls(b, i);
	bool idle = x->shows || (x->idle && (x->main || node_at(b, from)->handles));
	if (i == from || same || x->thread->ended || waits_as_well || idle)
		return false;
	return !waitgraph_ticks(x) || (with_sleeping && sleeps_long(b, x));
}

/* Arrows to the other threads of a process, of which any may be meant. Returns the number, or -ENOMEM. */
static int to_threads(struct build *b, uint32_t from, const struct waitfact_process *p, const struct waitfact *f,
		      bool with_sleeping)
{
	uint32_t first = waitgraph_first_node(b, p);
	/* Of an alarm: a thread that waits for its own alarm is idle as a rule, until another one gives it work. */
	bool alarm = f && (f->kind == WAITFACT_EVENTFD || f->kind == WAITFACT_PIPE || f->kind == WAITFACT_UNIX);
	bool only_acting = alarm && another_acts(b, from, p);
	/* Of an event loop that tries again now and then nobody knows whom it will ring at last. */
	bool tries = alarm && another_tries(b, from, p);
	bool unsure = tries || (f && f->kind == WAITFACT_FUTEX && another_waits_long(b, from, p)) ||
		      waitgraph_wants_a_lock_of_handlers(b, from);
	int n = 0, idle = 0;
	for (int draw = 0; draw < 2 && first != WAITGRAPH_NONE; draw++)
		for (uint32_t k = first; k < first + p->n_threads; k++) {
			bool rests = only_acting && has_nothing_to_do(b, k);
			enum waitgraph_quality q = n + idle == 1 && !unsure ? WAITGRAPH_LIKELY : WAITGRAPH_POSSIBLE;
			if (!may_be_meant(b, from, k, f, with_sleeping))
				continue;
			if (draw == 1 && !rests && waitgraph_arrow(b, from, k, q, f, NULL) < 0)
				return -ENOMEM;
			idle += draw == 0 && rests;
			n += draw == 0 && !rests;
		}
	return n;
}

/* The main thread has ended alone: its other threads are the process. */
static int to_living(struct build *b, uint32_t from, const struct waitfact_process *p, const struct waitfact *f)
{
	const uint32_t first = waitgraph_first_node(b, p);
	int n = to_threads(b, from, p, NULL, true);
	const bool meant = n != 0;
	for (uint32_t k = first; !meant && k < first + p->n_threads; k++) {
		if (k == from || node_at(b, k)->thread->ended)
			continue;
		if (waitgraph_arrow(b, from, k, WAITGRAPH_POSSIBLE, f, NULL) < 0)
			return -ENOMEM;
		n++;
	}
	return n;
}

/* Arrows to a process: to its main thread, unless that only sleeps in a loop while others do the work. */
int waitgraph_to_process(struct build *b, uint32_t from, pid_t pid, enum waitgraph_quality q, const struct waitfact *f)
{
	uint32_t to;
	const struct waitfact_process *p = waitfacts_process(b->in->now, pid);
	uint32_t main = p && p->n_threads > 0 ? waitgraph_first_node(b, p) : WAITGRAPH_NONE;
	if (main == WAITGRAPH_NONE) {
		if (outside_node(b, pid, f, &to) < 0)
			return -ENOMEM;
		return waitgraph_arrow(b, from, to, q, f, NULL);
	}
	const struct waitfact_thread *t = node_at(b, main)->thread;
	const struct waitfact_thread *before = b->in->before ? waitfacts_thread(b->in->before, t->pid, t->tid) : NULL;
	int taken = p->n_threads > 1 ? waitgraph_to_hands(b, from, p, q, f) : 0;
	if (taken == 0)
		taken = waitgraph_to_takers(b, from, p, q, f);
	if (taken == 0 && p->n_threads > 1)
		taken = waitgraph_to_reaper(b, from, p, f);
	if (taken != 0)
		return taken;
	taken = t->ended ? to_living(b, from, p, f) : 0;
	if (taken != 0)
		return taken;
	bool loops = is_clock(node_at(b, main)) && before && before->runs_so_far != t->runs_so_far;
	if (!loops)
		return waitgraph_arrow(b, from, main, q, f, NULL);
	int n = to_threads(b, from, p, NULL, false);
	return n < 0 ? n : waitgraph_arrow(b, from, main, n > 1 ? WAITGRAPH_POSSIBLE : q, f, NULL);
}

/* ---- who is meant by the holders ---- */

static size_t holder_pids(const struct build *b, const struct waitfact *f, pid_t own, pid_t *pids)
{
	size_t n = 0;
	for (uint32_t i = 0; i < f->n_holders && n < WAITGRAPH_HOLDERS; i++) {
		const struct waitfact_holder *h = &b->in->now->holder[f->first_holder + i];
		bool seen = h->tid != 0 || h->pid == own;
		for (size_t k = 0; k < n && !seen; k++)
			seen = pids[k] == h->pid;
		if (!seen)
			pids[n++] = h->pid;
	}
	return n;
}

static size_t first_waiting_on(const struct build *b, uint64_t id)
{
	return bisect(b->n_on, mid, b->on[mid].id < id);
}

/* Arrows to threads that wait at the other end of a connection: they are the ones who use it. */
static int to_users(struct build *b, uint32_t from, const struct waitfact *f, const pid_t *pids, size_t n_pids,
		    enum waitgraph_quality q)
{
	int n = 0;
	if (f->peer_id == 0)
		return 0;
	for (size_t i = first_waiting_on(b, f->peer_id); i < b->n_on && b->on[i].id == f->peer_id; i++) {
		const struct waiting_on *o = &b->on[i];
		const struct waitgraph_node *x = node_at(b, o->node);
		bool holds = false;
		for (size_t k = 0; k < n_pids; k++)
			holds |= x->thread->pid == pids[k];
		if (o->kind != f->kind || !holds || o->node == from || waitgraph_was_taken(b, o->node, f))
			continue;
		n++;
		/* Another thread of that process may be the one to answer: a server with a thread for each client. */
		bool aside = !x->main && x->thread->n == 1 && !x->thread->goroutine;
		if (waitgraph_arrow(b, from, o->node, aside ? MIN(q, WAITGRAPH_LIKELY) : q, f, NULL) < 0)
			return -ENOMEM;
		if (aside && to_threads(b, from, x->process, NULL, false) < 0)
			return -ENOMEM;
	}
	return n;
}

static int to_holder_threads(struct build *b, uint32_t from, const struct waitfact *f)
{
	int n = 0;
	for (uint32_t i = 0; i < f->n_holders; i++) {
		const struct waitfact_holder *h = &b->in->now->holder[f->first_holder + i];
		const struct waitfact_process *p = h->tid ? waitfacts_process(b->in->now, h->pid) : NULL;
		const enum waitgraph_quality q = f->owner ? WAITGRAPH_PROOF : WAITGRAPH_LIKELY;
		const bool stranger = p && p->n_threads == 0; /* no process of the job: its threads are not known */
		const uint32_t to = p && !stranger ? waitgraph_node_of(b, h->pid, h->tid) : WAITGRAPH_NONE;
		if (to == WAITGRAPH_NONE && !stranger)
			continue;
		n++;
		const int r = stranger ? waitgraph_to_process(b, from, h->pid, q, f)
				       : waitgraph_arrow(b, from, to, q, f, NULL);
		if (r < 0)
			return -ENOMEM;
	}
	return n;
}

/* True if the only thread of a process waits for what that other process may bring. */
static bool awaits(const struct build *b, const struct waitfact_process *p, pid_t other)
{
	const struct waitfact_thread *t = p->n_threads == 1 ? waitfacts_thread(b->in->now, p->pid, p->pid) : NULL;
	for (uint32_t k = 0; t && k < t->n; k++) {
		const struct waitfact *f = &b->in->now->fact[t->first + k];
		for (uint32_t i = 0; i < f->n_holders; i++)
			if (b->in->now->holder[f->first_holder + i].pid == other)
				return true;
	}
	return false;
}

/*
 * Of an alarm that one process with one thread has alone: the end of a child may set it off, or end the call, where it
 * has a handler for that. Such are make's places for jobs.
 */
static int to_signalling_children(struct build *b, uint32_t from, const struct waitfact *f)
{
	const struct waitfact_process *own = node_at(b, from)->process;
	const bool alarm = f->kind == WAITFACT_EVENTFD || f->kind == WAITFACT_PIPE || f->kind == WAITFACT_UNIX;
	int n = 0;
	if (!alarm || own->n_threads != 1 || !(own->handled >> (SIGCHLD - 1) & 1))
		return 0;
	for (size_t i = 0; i < b->in->now->n_processes; i++) {
		const struct waitfact_process *p = &b->in->now->process[i];
		if (p->ppid != own->pid || p->state == 'Z' || p->n_threads == 0 || awaits(b, p, own->pid))
			continue;
		n++;
		if (waitgraph_to_process(b, from, p->pid, WAITGRAPH_POSSIBLE, f) < 0)
			return -ENOMEM;
	}
	return n;
}

/* Returns the number of arrows, or -ENOMEM. */
static int to_holders(struct build *b, uint32_t from, const struct waitfact *f)
{
	pid_t pids[WAITGRAPH_HOLDERS];
	const struct waitfact_process *own = node_at(b, from)->process;
	int threads = to_holder_threads(b, from, f);
	size_t n = holder_pids(b, f, own->pid, pids), all = n;
	if (threads != 0 || f->n_holders == 0)
		return threads;
	if (n == 0 && f->kind == WAITFACT_MESSAGE) {
		int waiting = waitgraph_queue_users(b, from, f);
		if (waiting != 0)
			return waiting;
	}
	if (n == 0) { /* only this process has it: the alarm of an event loop, which its threads and children set off */
		bool lock = f->kind == WAITFACT_FUTEX || f->kind == WAITFACT_SHARED;
		int found = lock ? waitgraph_to_clients(b, from, f) : 0;
		found = found ? found : to_threads(b, from, own, f, false);
		found = found || lock ? found : to_threads(b, from, own, f, true);
		return found ? found : to_signalling_children(b, from, f);
	}
	/* A parent that has its children's memory is not the holder of a lock there by that: who was may have ended. */
	if (n == 1 && f->kind == WAITFACT_SHARED && waitgraph_waits_for_children(b, pids[0]))
		return 0;
	n = f->kind == WAITFACT_SHARED ? waitgraph_other_than_parents(b, f, pids, n) : n;
	enum waitgraph_quality q = n == 1 ? WAITGRAPH_PROOF : WAITGRAPH_LIKELY;
	if (f->kind == WAITFACT_SEMAPHORE || f->kind == WAITFACT_MESSAGE || f->kind == WAITFACT_SHARED)
		q = n == 1 ? WAITGRAPH_LIKELY : WAITGRAPH_POSSIBLE;
	if (f->kind == WAITFACT_CHANGE || f->kind == WAITFACT_TERMINAL)
		q = WAITGRAPH_LIKELY;
	int users = to_users(b, from, f, pids, n, q);
	if (users != 0)
		return users;
	const bool own_door = waitgraph_has_the_door(b, node_at(b, from), f);
	n = f->all ? n : waitgraph_meant(b, f, pids, n);
	node_at(b, from)->knocks = waitgraph_knocks_at_its_own(b, node_at(b, from), f);
	if (own_door && to_threads(b, from, own, f, false) < 0)
		return -ENOMEM;
	if ((n > 1 && !f->all) || own_door || all > WAITGRAPH_HOLDERS / 2)
		q = WAITGRAPH_POSSIBLE;
	else if (f->all)
		q = WAITGRAPH_PROOF;
	for (size_t i = 0; i < n; i++)
		if (waitgraph_to_process(b, from, pids[i], q, f) < 0)
			return -ENOMEM;
	return (int)n;
}

/* ---- one thread ---- */

/* The end that an alternative is by itself; WAITEND_NONE: its holders decide. */
static enum waitgraph_end end_of_kind(const struct waitfact *f)
{
	switch (f->kind) {
	case WAITFACT_CLOCK:
		return WAITEND_CLOCK;
	case WAITFACT_LISTEN:
	case WAITFACT_DATAGRAM:
	case WAITFACT_FIFO:
	case WAITFACT_SIGNAL:
		return WAITEND_VISITOR;
	case WAITFACT_STOPPED:
		return WAITEND_STOPPED;
	case WAITFACT_FROZEN:
		return WAITEND_FROZEN;
	case WAITFACT_TRACED:
		return WAITEND_TRACED;
	case WAITFACT_STORAGE:
		return WAITEND_STORAGE;
	case WAITFACT_DEVICE:
		return WAITEND_DEVICE;
	case WAITFACT_TERMINAL:
		return f->n_holders > 0 ? WAITEND_NONE : WAITEND_PERSON;
	case WAITFACT_UNKNOWN:
		return WAITEND_UNKNOWN;
	default:
		return f->owner_gone || f->left	    ? WAITEND_GONE
		       : f->n_holders > 0	    ? WAITEND_NONE
		       : waitgraph_is_own(f)	    ? WAITEND_OWN
		       : f->complete		    ? WAITEND_NOBODY
		       : f->kind == WAITFACT_CHANGE ? WAITEND_VISITOR
		       : waitgraph_has_a_name(f)    ? WAITEND_ANY
						    : WAITEND_OUTSIDE;
	}
}

/* Only that the other end of a pipe is closed is told: of several alternatives it is not the one that is meant. */
static bool is_only_a_hangup(const struct build *b, uint32_t from, const struct waitfact *f)
{
	size_t n;
	const struct waitfact *all = waitgraph_facts(b, node_at(b, from), &n);
	for (size_t i = 0; f->hangup && i < n; i++)
		if (!all[i].hangup)
			return true;
	return false;
}

/* Alternatives that nearly every loop has beside those it is about: its own alarm clock, and visitors. */
static bool beside_the_point(const struct build *b, uint32_t from, const struct waitfact *f)
{
	pid_t pids[WAITGRAPH_HOLDERS];
	if (f->kind == WAITFACT_LISTEN || f->kind == WAITFACT_CLOCK || f->kind == WAITFACT_SIGNAL)
		return true;
	return f->n_holders > 0 &&
	       (f->kind == WAITFACT_UNIX || f->kind == WAITFACT_PIPE || f->kind == WAITFACT_EVENTFD) &&
	       holder_pids(b, f, node_at(b, from)->process->pid, pids) == 0;
}

/* Arrows of one alternative; returns their number, or -ENOMEM. */
static int to_fact(struct build *b, uint32_t from, const struct waitfact *f)
{
	uint32_t to;
	if (f->kind == WAITFACT_FUTEX && f->n_holders == 0) {
		int clients = waitgraph_to_clients(b, from, f);
		return clients ? clients : to_threads(b, from, node_at(b, from)->process, f, false);
	}
	if (f->kind == WAITFACT_OBJECT)
		return waitgraph_to_object(b, from, f);
	if (end_of_kind(f) == WAITEND_NONE)
		return to_holders(b, from, f);
	if (f->kind == WAITFACT_TRACED)
		return waitgraph_to_tracer(b, from, f);
	if (end_of_kind(f) != WAITEND_OUTSIDE)
		return 0;
	if (outside_node(b, 0, f, &to) < 0 || waitgraph_arrow(b, from, to, WAITGRAPH_PROOF, f, NULL) < 0)
		return -ENOMEM;
	return 1;
}

static int to_facts(struct build *b, uint32_t from, bool all)
{
	size_t n;
	const struct waitfact *f = waitgraph_facts(b, node_at(b, from), &n);
	for (size_t i = 0; i < n; i++)
		if ((all || !beside_the_point(b, from, &f[i])) && !is_only_a_hangup(b, from, &f[i]) &&
		    to_fact(b, from, &f[i]) < 0)
			return -ENOMEM;
	const struct waitgraph_node *x = node_at(b, from);
	bool told = false; /* by a signal, as servers whose processes wake each other are */
	for (size_t i = 0; i < n; i++)
		told |= f[i].tells;
	/* Of several alternatives any may be the one. */
	for (uint32_t i = 0; n > 1 && (x->n_edges > 1 || told) && i < x->n_edges; i++)
		b->g->edge[x->first_edge + i].quality = WAITGRAPH_POSSIBLE;
	return 0;
}

static int to_rank(struct build *b, uint32_t from, const struct waithint *h, enum waitgraph_quality q)
{
	int n = 0;
	for (uint32_t k = 0; k < b->g->n_nodes; k++) {
		const struct waitgraph_node *x = node_at(b, k);
		if (k == from || !x->main || !x->who || !x->who->main || x->who->rank != h->rank)
			continue;
		n++;
		if (waitgraph_arrow(b, from, k, q, NULL, h) < 0)
			return -ENOMEM;
	}
	return n;
}

/* Arrows of the facts that a hint singles out, as of the one connection that an event loop's task waits for. */
static int to_one_fact(struct build *b, uint32_t from, uint64_t id, enum waitgraph_quality most)
{
	size_t n;
	int arrows = 0;
	const struct waitfact *f = waitgraph_facts(b, node_at(b, from), &n);
	for (size_t i = 0; i < n; i++) {
		int added = f[i].id == id && id != 0 ? to_fact(b, from, &f[i]) : 0;
		if (added < 0)
			return -ENOMEM;
		arrows += added;
	}
	const struct waitgraph_node *x = node_at(b, from);
	for (uint32_t i = 0; i < x->n_edges; i++)
		b->g->edge[x->first_edge + i].quality = MIN(b->g->edge[x->first_edge + i].quality, most);
	return arrows;
}

/* Arrows of what is known beside the facts; returns their number, or -ENOMEM. */
static int to_hints(struct build *b, uint32_t from)
{
	const struct waitfact_thread *t = node_at(b, from)->thread;
	size_t n_hints;
	const struct waithint *const *h = waitgraph_hints(b, t->pid, t->tid, &n_hints);
	int n = 0;
	for (size_t i = 0; i < n_hints; i++) {
		enum waitgraph_quality q = h[i]->one_of	 ? WAITGRAPH_POSSIBLE
					   : h[i]->proof ? WAITGRAPH_PROOF
							 : WAITGRAPH_LIKELY;
		const bool owned = h[i]->kind == WAITHINT_OWNER || h[i]->kind == WAITHINT_RESULT;
		uint32_t owner = owned ? waitgraph_node_of(b, h[i]->owner_pid, h[i]->owner_tid) : WAITGRAPH_NONE;
		bool of_rank = h[i]->kind == WAITHINT_RANK || (h[i]->kind == WAITHINT_KEY && h[i]->by_rank);
		int added = of_rank			  ? to_rank(b, from, h[i], q)
			    : h[i]->kind == WAITHINT_FACT ? to_one_fact(b, from, h[i]->id, q)
							  : owner != WAITGRAPH_NONE;
		if (added < 0 || (owner != WAITGRAPH_NONE && waitgraph_arrow(b, from, owner, q, NULL, h[i]) < 0))
			return -ENOMEM;
		n += added;
	}
	return n;
}

/* True if a child or a sibling of the process has ended and is not waited for yet. */
static bool has_lost_kin(const struct waitfacts *now, const struct waitfact_process *p)
{
	for (size_t i = 0; i < now->n_processes; i++) {
		const struct waitfact_process *x = &now->process[i];
		if (x->state == 'Z' && x->wanted && (x->ppid == p->pid || x->ppid == p->ppid))
			return true;
	}
	return false;
}

bool waitgraph_left_alone(const struct waitfacts *now, const struct waitgraph_node *n, const struct waitfact *f)
{
	for (uint32_t i = 0; i < f->n_holders; i++)
		if (now->holder[f->first_holder + i].pid != n->process->pid)
			return false;
	return f->kind == WAITFACT_SHARED && n->process->n_threads == 1 && has_lost_kin(now, n->process);
}

/* The end of a thread without arrows, by its alternatives: the most telling one. */
static void end_without_arrows(struct build *b, uint32_t from)
{
	size_t n;
	struct waitgraph_node *x = node_at(b, from);
	const struct waitfact *f = waitgraph_facts(b, x, &n);
	x->end = n ? WAITEND_NOBODY : WAITEND_UNKNOWN;
	bool first = true;
	for (size_t i = 0; i < n; i++) {
		enum waitgraph_end e = end_of_kind(&f[i]);
		if (is_only_a_hangup(b, from, &f[i]))
			continue;
		/* Only its own process could end it: another thread of it, as with the alarm of an event loop. */
		if (waitgraph_left_alone(b->in->now, x, &f[i]) ||
		    (e == WAITEND_NONE && waitgraph_nobody_known(b->in->now, x, &f[i])))
			e = WAITEND_ANY;
		else if (e == WAITEND_NONE || e == WAITEND_OWN)
			e = f[i].complete && x->process->n_threads == 1 ? WAITEND_NOBODY : WAITEND_OWN;
		/* One that may come is an answer; nobody is one only where it holds for all. */
		const bool alone = x->end == WAITEND_OWN && x->process->n_threads == 1;
		if (first || x->end == WAITEND_NOBODY || x->end == WAITEND_CLOCK || (alone && e == WAITEND_VISITOR)) {
			x->end = e;
			x->fact = &f[i];
		}
		first = false;
	}
	const bool alone = x->end == WAITEND_OWN && x->process->n_threads == 1;
	if ((x->end == WAITEND_NOBODY || alone) && x->timed) /* the timer of an event loop */
		x->end = WAITEND_CLOCK;
}

/* Arrows of an event loop whose connections nobody reads: to threads of its own, or it waits for another request. */
static int within_arrows(struct build *b, uint32_t from)
{
	int n = to_threads(b, from, node_at(b, from)->process, NULL, false);
	if (n != 0)
		return MIN(n, 0);
	end_without_arrows(b, from);
	node_at(b, from)->end = WAITEND_VISITOR;
	return 0;
}

/* Of a wait that a clock ends, nobody knows when, nobody is named. */
static int limited_arrows(struct build *b, uint32_t from)
{
	end_without_arrows(b, from);
	node_at(b, from)->end = WAITEND_CLOCK;
	return 0;
}

/* Where only its own process could end its wait, and nobody is at work in it, another call or request may bring it. */
static void requests_note(struct build *b, uint32_t from)
{
	struct waitgraph_node *n = node_at(b, from);
	if (n->end != WAITEND_OWN)
		return;
	n->handles |= waitgraph_waits_for_requests(b, from);
	if (waitgraph_waits_for_calls(b, from))
		n->end = WAITEND_VISITOR;
}

int waitgraph_arrows(struct build *b, uint32_t from)
{
	node_at(b, from)->first_edge = (uint32_t)b->g->n_edges;
	const struct waithint *h = node_at(b, from)->hint;
	if (node_at(b, from)->end != WAITEND_NONE)
		return 0;
	if (h && h->kind == WAITHINT_NOBODY) {
		node_at(b, from)->end = WAITEND_NOBODY;
		return 0;
	}
	if (node_at(b, from)->idle && node_at(b, from)->main) {
		node_at(b, from)->end = WAITEND_VISITOR;
		return 0;
	}
	if (node_at(b, from)->within)
		return within_arrows(b, from);
	if (h && h->kind == WAITHINT_RESULT && h->owner_pid == 0) {
		node_at(b, from)->end = WAITEND_UNKNOWN;
		return 0;
	}
	if (waitgraph_has_a_limit(node_at(b, from)))
		return limited_arrows(b, from);
	int n = node_at(b, from)->calls ? waitgraph_calls(b, from) : waitgraph_streams(b, from);
	if (n == 0)
		n = to_hints(b, from);
	if (n == 0) {
		n = to_facts(b, from, false);
		if (n == 0)
			n = waitgraph_usual(b, from);
		if (n == 0)
			n = waitgraph_polled_locks(b, from);
	}
	if (n == 0 && node_at(b, from)->n_edges == 0)
		n = to_facts(b, from, true);
	/* A loop whose task waits for something else than a descriptor: which of them leads to that is a guess. */
	const struct waitgraph_node *x = node_at(b, from);
	for (uint32_t i = 0; h && h->kind == WAITHINT_TEXT && !h->proof && i < x->n_edges; i++)
		b->g->edge[x->first_edge + i].quality = WAITGRAPH_POSSIBLE;
	if (n >= 0 && node_at(b, from)->n_edges == 0)
		end_without_arrows(b, from);
	struct waitgraph_node *y = node_at(b, from);
	if (y->n_edges == 1 && y->thread->n > 1 && b->g->edge[y->first_edge].fact)
		y->fact = b->g->edge[y->first_edge].fact; /* of several, the one that is meant */
	requests_note(b, from);
	return n < 0 ? n : 0;
}

/* ---- event loops that wait for their own process ---- */

/* What wakes an event loop of a side thread from within its process; NULL: it is none. */
static const struct waitfact *own_alarm(const struct build *b, uint32_t i)
{
	size_t n;
	const struct waitgraph_node *x = node_at(b, i);
	const struct waitfact *f = waitgraph_facts(b, x, &n);
	for (size_t k = 0; !x->main && n > 1 && k < n; k++)
		if (f[k].n_holders > 0 && beside_the_point(b, i, &f[k]))
			return &f[k];
	return NULL;
}

/* A side thread that waits for its own process's alarm alone: anybody in it may have something for it to do. */
static bool has_nothing_to_do(const struct build *b, uint32_t i)
{
	size_t n;
	const struct waitgraph_node *x = node_at(b, i);
	const struct waitfact *f = waitgraph_facts(b, x, &n);
	for (size_t k = 0; k < n; k++)
		if (!beside_the_point(b, i, &f[k]))
			return false;
	return !x->main;
}

/* True if another thread of its process waits for it. */
static bool is_waited_for_within(const struct build *b, uint32_t i)
{
	const struct waitgraph_node *x = node_at(b, i);
	uint32_t first = waitgraph_first_node(b, x->process);
	for (uint32_t k = first; k < first + x->process->n_threads; k++) {
		const struct waitgraph_node *y = node_at(b, k);
		bool idle = k == i || has_nothing_to_do(b, k);
		for (uint32_t e = 0; !idle && e < y->n_edges; e++)
			if (b->g->edge[y->first_edge + e].to == i)
				return true;
	}
	return false;
}

/*
 * True if it works, or stands in a wait of its own which no visitor ends, nor a clock, unless it looks and naps all the
 * time: what its thread would send comes from it.
 */
static bool stands_elsewhere(const struct waitgraph_node *x)
{
	if (x->main && (x->end == WAITEND_RUNS || (x->end == WAITEND_CLOCK && x->naps)))
		return true;
	return x->main && !x->timed &&
	       (x->n_edges > 0 || x->end == WAITEND_NOBODY || x->end == WAITEND_GONE || x->end == WAITEND_STOPPED);
}

/* True of a main thread that sleeps, if all other threads of its process are loops with an alarm: it does the work. */
static bool sleeps_beside_loops(const struct build *b, uint32_t main)
{
	const struct waitgraph_node *x = node_at(b, main);
	for (uint32_t k = main + 1; k < main + x->process->n_threads; k++)
		if (!has_nothing_to_do(b, k) && !own_alarm(b, k))
			return false;
	return x->main && x->end == WAITEND_CLOCK;
}

void waitgraph_idle_loop(struct build *b, uint32_t i)
{
	struct waitgraph_node *x = node_at(b, i);
	const struct waitfact *alarm = x->thread && x->n_edges > 0 && !x->wants ? own_alarm(b, i) : NULL;
	uint32_t main = alarm ? waitgraph_first_node(b, x->process) : WAITGRAPH_NONE;
	if (main == WAITGRAPH_NONE || is_waited_for_within(b, i) ||
	    (!stands_elsewhere(node_at(b, main)) && !sleeps_beside_loops(b, main)))
		return;
	b->g->edge[x->first_edge] = (struct waitgraph_edge){main, WAITGRAPH_LIKELY, alarm, NULL};
	x->n_edges = 1;
}

/* ---- who lives ---- */

/* True if it waits for any thread of its own process, and each that it has an arrow to can never run again. */
static bool asks_the_dead(const struct build *b, const struct waitgraph_node *x)
{
	for (uint32_t e = 0; e < x->n_edges; e++) {
		const struct waitgraph_edge *to = &b->g->edge[x->first_edge + e];
		const struct waitgraph_node *y = node_at(b, to->to);
		if (to->hint || !to->fact || to->fact->kind != WAITFACT_FUTEX || y->process != x->process || !y->dead)
			return false;
	}
	return x->n_edges > 0 && x->thread && !x->dead;
}

/* True of a side thread that lives, and has slept since the look before. */
static bool sleeps_on(const struct build *b, const struct waitgraph_node *x)
{
	return waitgraph_ticks(x) && !x->thread->ended && !x->dead && sleeps_long(b, x);
}

int waitgraph_ask_the_living(struct build *b, uint32_t i)
{
	struct waitgraph_node *x = node_at(b, i);
	uint32_t n = 0;
	if (!asks_the_dead(b, x))
		return 0;
	const struct waitfact *f = b->g->edge[x->first_edge].fact;
	const uint32_t first = waitgraph_first_node(b, x->process), end = first + x->process->n_threads;
	for (uint32_t k = first; k < end; k++)
		n += k != i && sleeps_on(b, node_at(b, k));
	if (n == 0)
		return 0;
	x->first_edge = (uint32_t)b->g->n_edges;
	x->n_edges = 0;
	const enum waitgraph_quality q = n == 1 ? WAITGRAPH_LIKELY : WAITGRAPH_POSSIBLE;
	for (uint32_t k = first; k < end; k++)
		if (k != i && sleeps_on(b, node_at(b, k)) && waitgraph_arrow(b, i, k, q, f, NULL) < 0)
			return -ENOMEM;
	return 0;
}
