/*
 * Calls of other processes whose answers another thread reads (gRPC). Who waits for an answer wakes up now and then and
 * waits on something of its own process, and so does the server's main thread, while an event loop of each process has
 * the connections. So the arrows are drawn from what the threads are known to do: from a caller to the threads that
 * work on calls in the process at the other end of one of its process's connections.
 *
 * And servers with a thread for each client: who waits for an answer waits for the thread that has taken its request,
 * not for the one at the door. What such a thread waits for itself, another request may bring.
 */
#include <string.h>

#include "base/bisect.h"
#include "model/hang/waitgraph_parts.h"
#include "sense/rank.h"

/* Who is at the other ends of a process's connections; of more, the first ones. */
#define PEERS_MOST 64

struct peer {
	pid_t pid; /* 0: on another machine */
	const struct waitfact *fact; /* the connection */
};

struct peers {
	struct peer peer[PEERS_MOST];
	size_t n;
};

static void peer_add(struct peers *p, pid_t pid, const struct waitfact *f)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->peer[i].pid == pid && (pid != 0 || strcmp(p->peer[i].fact->text, f->text) == 0))
			return;
	if (p->n < PEERS_MOST)
		p->peer[p->n++] = (struct peer){pid, f};
}

static bool is_connection(const struct waitfact *f)
{
	return f->kind == WAITFACT_TCP || f->kind == WAITFACT_UNIX;
}

static void peers_of_thread(const struct build *b, const struct waitgraph_node *x, struct peers *p)
{
	size_t n;
	const struct waitfact *f = waitgraph_facts(b, x, &n);
	for (size_t i = 0; i < n; i++) {
		if (!is_connection(&f[i]))
			continue;
		for (uint32_t k = 0; k < f[i].n_holders; k++)
			peer_add(p, b->in->now->holder[f[i].first_holder + k].pid, &f[i]);
		if (f[i].n_holders == 0 && !f[i].complete)
			peer_add(p, 0, &f[i]);
	}
}

/* Whether any thread of a process is one of a server's, idle or at work. */
static bool serves_calls(const struct build *b, pid_t pid)
{
	const struct waitfact_process *p = waitfacts_process(b->in->now, pid);
	uint32_t first = p && p->n_threads > 0 ? waitgraph_first_node(b, p) : WAITGRAPH_NONE;
	for (uint32_t k = 0; first != WAITGRAPH_NONE && k < p->n_threads; k++)
		if (b->g->node[first + k].handles || (b->g->node[first + k].idle && b->g->node[first + k].main))
			return true;
	return false;
}

/* Those who serve calls; all but the process itself where it is known of none. */
static void peers_narrow(const struct build *b, pid_t own, struct peers *p)
{
	struct peers serving = {.n = 0}, others = {.n = 0};
	for (size_t i = 0; i < p->n; i++) {
		if (serves_calls(b, p->peer[i].pid))
			peer_add(&serving, p->peer[i].pid, p->peer[i].fact);
		else if (p->peer[i].pid != own)
			peer_add(&others, p->peer[i].pid, p->peer[i].fact);
	}
	*p = serving.n ? serving : others;
}

/* Arrows to the threads of a server that work on calls; their number. */
static int to_handlers(struct build *b, uint32_t from, pid_t pid)
{
	const struct waitgraph_node *x = &b->g->node[from];
	const struct waitfact_process *p = waitfacts_process(b->in->now, pid);
	uint32_t first = p && p->n_threads > 0 ? waitgraph_first_node(b, p) : WAITGRAPH_NONE;
	int n = 0;
	for (uint32_t k = 0; first != WAITGRAPH_NONE && k < p->n_threads; k++) {
		if (!b->g->node[first + k].handles || first + k == from)
			continue;
		if (waitgraph_arrow(b, from, first + k, WAITGRAPH_LIKELY, NULL, x->hint) < 0)
			return -ENOMEM;
		n++;
	}
	return n;
}

static int to_server(struct build *b, uint32_t from, const struct peer *p)
{
	const struct waitgraph_node *x = &b->g->node[from];
	int n = to_handlers(b, from, p->pid);
	if (n != 0)
		return n;
	/* The only handler there is may be the caller itself: the call waits until it is done. */
	if (x->handles && x->process->pid == p->pid)
		return waitgraph_arrow(b, from, from, WAITGRAPH_LIKELY, NULL, x->hint) < 0 ? -ENOMEM : 1;
	return waitgraph_to_process(b, from, p->pid, WAITGRAPH_LIKELY, p->fact) < 0 ? -ENOMEM : 1;
}

int waitgraph_calls(struct build *b, uint32_t from)
{
	const struct waitfact_process *own = b->g->node[from].process;
	uint32_t first = waitgraph_first_node(b, own);
	struct peers p = {.n = 0};
	int n = 0;
	for (uint32_t k = 0; k < own->n_threads; k++)
		peers_of_thread(b, &b->g->node[first + k], &p);
	peers_narrow(b, own->pid, &p);
	for (size_t i = 0; i < p.n; i++) {
		int added = to_server(b, from, &p.peer[i]);
		if (added < 0)
			return -ENOMEM;
		n += added;
	}
	const struct waitgraph_node *x = &b->g->node[from];
	for (uint32_t i = 0; x->n_edges > 1 && i < x->n_edges; i++)
		b->g->edge[x->first_edge + i].quality = WAITGRAPH_POSSIBLE;
	return n;
}

/* True if any thread of this process has a connection to the other one. */
static bool is_client(const struct build *b, const struct waitfact_process *p, pid_t server)
{
	uint32_t first = waitgraph_first_node(b, p);
	struct peers peers = {.n = 0};
	for (uint32_t k = 0; k < p->n_threads; k++)
		peers_of_thread(b, &b->g->node[first + k], &peers);
	for (size_t i = 0; i < peers.n; i++)
		if (peers.peer[i].pid == server)
			return true;
	return false;
}

/* True if it waits for something that neither its own process nor this server brings. */
static bool waits_elsewhere(const struct build *b, const struct waitgraph_node *y, pid_t server)
{
	size_t n;
	const struct waitfact *f = waitgraph_facts(b, y, &n);
	for (size_t i = 0; i < n; i++) {
		bool known = waitgraph_is_own(&f[i]) || f[i].kind == WAITFACT_EVENTFD || f[i].kind == WAITFACT_THREAD;
		for (uint32_t k = 0; is_connection(&f[i]) && k < f[i].n_holders; k++)
			known |= b->in->now->holder[f[i].first_holder + k].pid == server;
		if (!known)
			return true;
	}
	return false;
}

/* True of a thread that may make the next message of a stream: it runs, naps, or waits for somebody else. */
static bool may_make(const struct build *b, const struct waitgraph_node *y, pid_t server)
{
	if (y->main || y->streams || y->thread->ended)
		return false;
	return y->end == WAITEND_RUNS || waits_elsewhere(b, y, server);
}

/*
 * True if a thread beside the main one looks again and again whether something has come, which might be for the stream.
 * Threads of gRPC itself wake up as well; Python knows nothing of these.
 */
static bool looks_beside(const struct build *b, const struct waitfact_process *p)
{
	uint32_t first = waitgraph_first_node(b, p);
	for (uint32_t k = first; k < first + p->n_threads; k++) {
		const struct waitgraph_node *y = &b->g->node[k];
		if (!y->main && !y->streams && y->timed && (y->hint || y->place))
			return true;
	}
	return false;
}

static int to_makers(struct build *b, uint32_t from, const struct waitfact_process *p)
{
	uint32_t first = waitgraph_first_node(b, p);
	int n = 0;
	for (uint32_t k = first; k < first + p->n_threads; k++) {
		if (!may_make(b, &b->g->node[k], b->g->node[from].process->pid))
			continue;
		if (waitgraph_arrow(b, from, k, WAITGRAPH_POSSIBLE, NULL, b->g->node[from].hint) < 0)
			return -ENOMEM;
		n++;
	}
	return n;
}

int waitgraph_streams(struct build *b, uint32_t from)
{
	const struct waitgraph_node *x = &b->g->node[from];
	int n = 0;
	for (uint32_t i = 0; x->handles && x->streams && i < b->g->n_nodes; i++) {
		const struct waitgraph_node *y = &b->g->node[i];
		if (!y->thread || !y->streams || y->handles || !is_client(b, y->process, x->process->pid) ||
		    looks_beside(b, y->process))
			continue;
		int makers = to_makers(b, from, y->process);
		if (makers < 0 || waitgraph_arrow(b, from, i, WAITGRAPH_LIKELY, NULL, x->hint) < 0)
			return -ENOMEM;
		n += makers + 1;
	}
	for (uint32_t i = 0; n > 1 && i < x->n_edges; i++)
		b->g->edge[x->first_edge + i].quality = WAITGRAPH_POSSIBLE;
	return n;
}

bool waitgraph_waits_for_calls(const struct build *b, uint32_t i)
{
	size_t n;
	const struct waitgraph_node *x = &b->g->node[i];
	const struct waitfact *f = waitgraph_facts(b, x, &n);
	return x->handles && !x->calls && x->end != WAITEND_RUNS && n == 1 && waitgraph_is_own(f);
}

/* ---- servers with threads for their clients ---- */

static bool at_the_door(const struct build *b, const struct waitgraph_node *x)
{
	size_t n;
	const struct waitfact *f = waitgraph_facts(b, x, &n);
	for (size_t i = 0; i < n; i++)
		if (f[i].kind == WAITFACT_LISTEN)
			return true;
	return false;
}

static bool reads_a_client(const struct build *b, const struct waitgraph_node *x)
{
	size_t n;
	const struct waitfact *f = waitgraph_facts(b, x, &n);
	return n == 1 && is_connection(f) && !f->to_write && (!x->thread->goroutine || f->accepted);
}

/* True if one of its threads waits for visitors, and it has others. */
static bool serves_by_threads(const struct build *b, const struct waitfact_process *p)
{
	uint32_t first = p->n_threads > 1 ? waitgraph_first_node(b, p) : WAITGRAPH_NONE;
	for (uint32_t k = 0; first != WAITGRAPH_NONE && k < p->n_threads; k++)
		if (at_the_door(b, &b->g->node[first + k]))
			return true;
	return false;
}

/* The runtime's goroutine that waits for signals. */
static bool is_for_signals(const struct waitgraph_node *x)
{
	return x->thread->goroutine && x->fact && x->fact->kind == WAITFACT_SIGNAL;
}

/* True if it may have taken a request: it neither waits for one nor is there for other things. */
static bool may_have_taken(const struct build *b, const struct waitgraph_node *x)
{
	return !x->main && !is_for_signals(x) && !x->thread->ended && !x->idle && !waitgraph_ticks(x) &&
	       !at_the_door(b, x) && !reads_a_client(b, x);
}

/* True if it waits to be woken, and nobody has to: what it waits for, another request may bring. */
static bool waits_to_be_woken(const struct build *b, const struct waitgraph_node *x)
{
	size_t n;
	const struct waitfact *f = waitgraph_facts(b, x, &n);
	return n > 0 && waitgraph_is_own(f) && !f->owner;
}

/* True if it has the connection in hand, at the other end of which somebody waits, or if that is not known. */
static bool has_in_hand(const struct build *b, const struct waitgraph_node *x, const struct waitfact *f)
{
	const struct waitfacts *now = b->in->now;
	size_t low = bisect(f->peer_id ? now->n_hands : 0, mid, now->hand[mid].id < f->peer_id);
	for (; f->peer_id && low < now->n_hands && now->hand[low].id == f->peer_id; low++) {
		const struct waitfact_hand *h = &now->hand[low];
		if (h->pid == x->thread->pid && (h->tid == x->thread->tid || h->tid == 0))
			return true;
	}
	return false;
}

/* True if it may have taken the request; one that sleeps or has a time limit, if it has the connection in hand. */
static bool may_have_taken_this(const struct build *b, const struct waitgraph_node *x, const struct waitfact *f)
{
	if (x->thread->goroutine && waitgraph_ticks(x))
		return has_in_hand(b, x, f) && !at_the_door(b, x) && !reads_a_client(b, x);
	return may_have_taken(b, x);
}

/* True if a goroutine of the process has it in hand that may work on a request. */
static bool is_in_hand(const struct build *b, const struct waitfact_process *p, const struct waitfact *f)
{
	const uint32_t first = waitgraph_first_node(b, p);
	for (uint32_t k = first; k < first + p->n_threads; k++)
		if (may_have_taken_this(b, &b->g->node[k], f) && has_in_hand(b, &b->g->node[k], f))
			return true;
	return false;
}

struct takers {
	uint32_t node[WAITGRAPH_HOLDERS];
	size_t n;
};

static bool waits_for_object(const struct waitgraph_node *x)
{
	return x->thread->goroutine && x->fact && x->fact->kind == WAITFACT_OBJECT;
}

/* True if another one waits for the very same: whichever has the request, it is the same. */
static bool is_alike(const struct build *b, const struct takers *t, const struct waitgraph_node *x)
{
	for (size_t i = 0; i < t->n && waits_for_object(x); i++) {
		const struct waitgraph_node *y = &b->g->node[t->node[i]];
		if (waits_for_object(y) && y->fact->id == x->fact->id && x->fact->id != 0)
			return true;
	}
	return false;
}

static void takers_find(const struct build *b, const struct waitfact_process *p, const struct waitfact *f,
			struct takers *t)
{
	const uint32_t first = waitgraph_first_node(b, p);
	const bool in_hand = is_in_hand(b, p, f);
	for (uint32_t k = first; k < first + p->n_threads && t->n < WAITGRAPH_HOLDERS; k++) {
		const struct waitgraph_node *x = &b->g->node[k];
		if (may_have_taken_this(b, x, f) && (!in_hand || has_in_hand(b, x, f)) && !is_alike(b, t, x))
			t->node[t->n++] = k;
	}
}

/* Of several goroutines as near those that do not read another connection all the time; all where each one does. */
static void takers_narrow(const struct build *b, struct takers *t)
{
	size_t kept = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct waitgraph_node *x = &b->g->node[t->node[i]];
		if (!x->thread->goroutine || !x->fact || !is_connection(x->fact)) {
			uint32_t one = t->node[i];
			t->node[i] = t->node[kept];
			t->node[kept++] = one;
		}
	}
	t->n = kept ? kept : t->n;
}

int waitgraph_to_takers(struct build *b, uint32_t from, const struct waitfact_process *p, enum waitgraph_quality q,
			const struct waitfact *f)
{
	struct takers t = {.n = 0};
	size_t woken = 0;
	if (!f || !is_connection(f) || f->to_write || p == b->g->node[from].process || !serves_by_threads(b, p))
		return 0;
	takers_find(b, p, f, &t);
	takers_narrow(b, &t);
	for (size_t i = 0; i < t.n; i++)
		woken += waits_to_be_woken(b, &b->g->node[t.node[i]]);
	/* Of several that wait alike it is the same whichever has it. */
	q = t.n > 1 && woken < t.n ? WAITGRAPH_POSSIBLE : MIN(q, WAITGRAPH_LIKELY);
	for (size_t i = 0; i < t.n; i++)
		if (waitgraph_arrow(b, from, t.node[i], q, f, NULL) < 0)
			return -ENOMEM;
	return (int)t.n;
}

/* True if Python's frames say that a thread has it in hand, and it is not back at the door. */
static bool holds_in_hand(const struct build *b, const struct waitgraph_node *x, const struct waitfact *f)
{
	size_t n;
	const struct waithint *const *h = waitgraph_hints(b, x->thread->pid, x->thread->tid, &n);
	bool held = false;
	for (size_t i = 0; i < n && !x->thread->ended && !x->idle; i++)
		held |= h[i]->kind == WAITHINT_HAND && h[i]->id == f->peer_id;
	return held && !at_the_door(b, x);
}

/* One that waits for another thread of its process has given it away. */
static bool gave_away(const struct waitgraph_node *x)
{
	return x->hint && x->hint->kind == WAITHINT_OWNER && x->hint->owner_pid == x->thread->pid &&
	       x->hint->owner_tid != x->thread->tid;
}

static void hands_find(const struct build *b, const struct waitfact_process *p, const struct waitfact *f,
		       struct takers *t)
{
	const uint32_t first = waitgraph_first_node(b, p);
	for (int draw = 0; draw < 2 && t->n == 0; draw++)
		for (uint32_t k = first; k < first + p->n_threads && t->n < WAITGRAPH_HOLDERS; k++)
			if (holds_in_hand(b, &b->g->node[k], f) && gave_away(&b->g->node[k]) == (draw == 1))
				t->node[t->n++] = k;
}

int waitgraph_to_hands(struct build *b, uint32_t from, const struct waitfact_process *p, enum waitgraph_quality q,
		       const struct waitfact *f)
{
	struct takers t = {.n = 0};
	if (!f || !is_connection(f) || f->peer_id == 0 || p == b->g->node[from].process)
		return 0;
	hands_find(b, p, f, &t);
	q = t.n > 1 ? WAITGRAPH_POSSIBLE : MIN(q, WAITGRAPH_LIKELY);
	for (size_t i = 0; i < t.n; i++)
		if (waitgraph_arrow(b, from, t.node[i], q, f, NULL) < 0)
			return -ENOMEM;
	return (int)t.n;
}

/* True if another goroutine of its process waits for something that it comes to. */
static bool is_held_for_another(const struct build *b, const struct waitgraph_node *x)
{
	const uint32_t first = waitgraph_first_node(b, x->process);
	for (uint32_t k = first; k < first + x->process->n_threads; k++) {
		size_t n;
		const struct waitfact *f = waitgraph_facts(b, &b->g->node[k], &n);
		for (uint32_t h = 0; n == 1 && f->kind == WAITFACT_OBJECT && h < f->n_holders; h++)
			if (b->in->now->holder[f->first_holder + h].tid == x->thread->tid)
				return true;
	}
	return false;
}

/*
 * True if it reads this connection as the server of whoever opened it, as a launcher's store does of the ranks: it asks
 * nobody by that. Ranks that wait for visitors may be peers of each other, whoever opened it.
 */
static bool serves_by(const struct build *b, const struct waitgraph_node *x, const struct waitfact *f)
{
	const struct waitgraph_who *who = waitgraph_who_of(b->in, x->process->pid);
	return f->accepted && at_the_door(b, x) && !(who && who->main);
}

/* True if it waits for an answer of this server, and not of the process that this one was forked from. */
static bool asks(const struct build *b, const struct waitgraph_node *x, const struct waitfact_process *server)
{
	size_t n = 0;
	/* A goroutine may read a connection all the time, for whoever asks. */
	if (x->thread && x->thread->goroutine && !x->main && !is_held_for_another(b, x))
		return false;
	const struct waitfact *f = x->thread && x->process != server ? waitgraph_facts(b, x, &n) : NULL;
	for (size_t k = 0; k < n; k++)
		for (uint32_t h = 0; is_connection(&f[k]) && !serves_by(b, x, &f[k]) && h < f[k].n_holders; h++)
			if (b->in->now->holder[f[k].first_holder + h].pid == server->pid &&
			    !waitgraph_has_a_copy(b, &f[k], server->pid))
				return true;
	return false;
}

/* The clients of whom a request may still come; all of them where each one waits for an answer. */
static void clients_find(const struct build *b, const struct waitfact_process *p, struct peers *to)
{
	struct peers waiting = {.n = 0}, all = {.n = 0};
	uint32_t first = waitgraph_first_node(b, p);
	for (uint32_t i = 0; i < b->g->n_nodes; i++)
		if (asks(b, &b->g->node[i], p))
			peer_add(&waiting, b->g->node[i].process->pid, b->g->node[i].fact);
	for (uint32_t k = first; k < first + p->n_threads; k++)
		if (reads_a_client(b, &b->g->node[k]))
			peers_of_thread(b, &b->g->node[k], &all);
	for (size_t i = 0; i < all.n; i++) {
		bool waits = all.peer[i].pid == p->pid || all.peer[i].pid == 0;
		for (size_t k = 0; k < waiting.n && !waits; k++)
			waits = waiting.peer[k].pid == all.peer[i].pid;
		if (!waits)
			peer_add(to, all.peer[i].pid, all.peer[i].fact);
	}
	/* One alone: who else should come is not known; nor where the server is a rank, which may have to itself. */
	const struct waitgraph_who *who = waitgraph_who_of(b->in, p->pid);
	bool own = b->g->node[first].thread->goroutine && who && who->main && who->rank != NO_RANK;
	if (to->n == 0 && waiting.n > 1 && !own)
		*to = waiting;
}

/* True if a thread beside those that work on calls runs: what they wait for may be its work. */
static bool runs_beside_handlers(const struct build *b, const struct waitfact_process *p)
{
	uint32_t first = waitgraph_first_node(b, p);
	for (uint32_t k = first; k < first + p->n_threads; k++) {
		const struct waitgraph_node *x = &b->g->node[k];
		if (!x->main && !x->handles && !x->timed && x->end == WAITEND_RUNS)
			return true;
	}
	return false;
}

bool waitgraph_wants_a_lock_of_handlers(const struct build *b, uint32_t node)
{
	const struct waitgraph_node *x = &b->g->node[node];
	return !x->main && x->hint && x->hint->lock && serves_by_threads(b, x->process);
}

int waitgraph_to_clients(struct build *b, uint32_t from, const struct waitfact *f)
{
	const struct waitfact_process *p = b->g->node[from].process;
	struct peers clients = {.n = 0};
	if (b->g->node[from].main || !serves_by_threads(b, p))
		return 0;
	/* It is given back by who has it, whatever requests bring. */
	if (waitgraph_wants_a_lock_of_handlers(b, from))
		return 0;
	if (b->g->node[from].handles && runs_beside_handlers(b, p))
		return 0;
	clients_find(b, p, &clients);
	enum waitgraph_quality q = clients.n == 1 ? WAITGRAPH_LIKELY : WAITGRAPH_POSSIBLE;
	for (size_t i = 0; i < clients.n; i++)
		if (waitgraph_to_process(b, from, clients.peer[i].pid, q, f) < 0)
			return -ENOMEM;
	return (int)clients.n;
}

/* ---- goroutines ---- */

bool waitgraph_has_a_limit(const struct waitgraph_node *n)
{
	const struct waitfact_thread *t = n->thread;
	return t->goroutine && t->timed && t->limit_ns == 0 && t->left_ns == 0;
}

/* True of a goroutine that waits for visitors or clients, so that it ends nobody's wait before one comes. */
static bool serves_idly(const struct build *b, uint32_t i)
{
	const struct waitgraph_node *x = &b->g->node[i];
	return at_the_door(b, x) || reads_a_client(b, x) || is_for_signals(x);
}

/* True of a goroutine that has a client's connection in hand, so that it works on a request. */
static bool works_on_a_request(const struct build *b, const struct waitgraph_node *x)
{
	const struct waitfacts *now = b->in->now;
	for (size_t i = 0; x->thread->goroutine && !x->main && i < now->n_hands; i++)
		if (now->hand[i].pid == x->thread->pid && now->hand[i].tid == x->thread->tid)
			return serves_by_threads(b, x->process);
	return false;
}

/* Of several that are as near those that something outside of the process wakes; all where there are none. */
static size_t objects_narrow(const struct build *b, uint32_t *to, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		const struct waitgraph_node *x = &b->g->node[to[i]];
		if (!x->fact || x->fact->kind != WAITFACT_OBJECT) {
			uint32_t one = to[i];
			to[i] = to[kept];
			to[kept++] = one;
		}
	}
	return kept ? kept : n;
}

int waitgraph_to_object(struct build *b, uint32_t from, const struct waitfact *f)
{
	uint32_t to[WAITGRAPH_HOLDERS];
	size_t n = 0;
	/* The main goroutine of a server has made all that its requests are about. */
	bool handler = works_on_a_request(b, &b->g->node[from]), not_main = !f->lock && handler;
	for (uint32_t i = 0; i < f->n_holders && n < WAITGRAPH_HOLDERS; i++) {
		const struct waitfact_holder *h = &b->in->now->holder[f->first_holder + i];
		uint32_t node = waitgraph_node_of(b, h->pid, h->tid);
		if (node != WAITGRAPH_NONE && node != from && !serves_idly(b, node) &&
		    !(not_main && b->g->node[node].main))
			to[n++] = node;
	}
	n = objects_narrow(b, to, n);
	for (size_t i = 0; i < n; i++)
		if (waitgraph_arrow(b, from, to[i], n == 1 ? WAITGRAPH_LIKELY : WAITGRAPH_POSSIBLE, f, NULL) < 0)
			return -ENOMEM;
	return n > 0 || f->lock || !handler ? (int)n : waitgraph_to_clients(b, from, f);
}

bool waitgraph_was_taken(const struct build *b, uint32_t node, const struct waitfact *f)
{
	const struct waitgraph_node *x = &b->g->node[node];
	return !x->main && x->thread->goroutine && reads_a_client(b, x) && is_in_hand(b, x->process, f);
}

bool waitgraph_waits_for_requests(const struct build *b, uint32_t i)
{
	size_t n;
	const struct waitgraph_node *x = &b->g->node[i];
	const struct waitfact *f = waitgraph_facts(b, x, &n);
	return n == 1 && f->kind == WAITFACT_OBJECT && !f->lock && works_on_a_request(b, x);
}
