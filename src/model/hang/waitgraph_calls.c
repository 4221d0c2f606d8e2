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

#include "model/hang/waitgraph_parts.h"

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

bool waitgraph_waits_for_calls(const struct build *b, uint32_t i)
{
	size_t n;
	const struct waitgraph_node *x = &b->g->node[i];
	const struct waitfact *f = waitgraph_facts(b, x, &n);
	return x->handles && !x->calls && x->end != WAITEND_RUNS && n == 1 && f->kind == WAITFACT_FUTEX;
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
	return n == 1 && is_connection(f) && !f->to_write;
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

/* True if it may have taken a request: it neither waits for one nor is there for other things. */
static bool may_have_taken(const struct build *b, const struct waitgraph_node *x)
{
	return !x->main && !x->thread->ended && !x->idle && !waitgraph_ticks(x) && !at_the_door(b, x) &&
	       !reads_a_client(b, x);
}

/* True if it waits to be woken, and nobody has to: what it waits for, another request may bring. */
static bool waits_to_be_woken(const struct build *b, const struct waitgraph_node *x)
{
	size_t n;
	const struct waitfact *f = waitgraph_facts(b, x, &n);
	return n > 0 && f->kind == WAITFACT_FUTEX && !f->owner;
}

int waitgraph_to_takers(struct build *b, uint32_t from, const struct waitfact_process *p, enum waitgraph_quality q,
			const struct waitfact *f)
{
	uint32_t first = waitgraph_first_node(b, p);
	size_t takers = 0, woken = 0;
	if (!f || !is_connection(f) || f->to_write || p == b->g->node[from].process || !serves_by_threads(b, p))
		return 0;
	for (uint32_t k = first; k < first + p->n_threads; k++) {
		takers += may_have_taken(b, &b->g->node[k]);
		woken += may_have_taken(b, &b->g->node[k]) && waits_to_be_woken(b, &b->g->node[k]);
	}
	/* Of several that wait alike it is the same whichever has it. */
	q = takers > 1 && woken < takers ? WAITGRAPH_POSSIBLE : MIN(q, WAITGRAPH_LIKELY);
	for (uint32_t k = first; k < first + p->n_threads; k++)
		if (may_have_taken(b, &b->g->node[k]) && waitgraph_arrow(b, from, k, q, f, NULL) < 0)
			return -ENOMEM;
	return (int)takers;
}

/* True if it waits for an answer of this server. */
static bool asks(const struct build *b, const struct waitgraph_node *x, const struct waitfact_process *server)
{
	size_t n = 0;
	const struct waitfact *f = x->thread && x->process != server ? waitgraph_facts(b, x, &n) : NULL;
	for (size_t k = 0; k < n; k++)
		for (uint32_t h = 0; is_connection(&f[k]) && h < f[k].n_holders; h++)
			if (b->in->now->holder[f[k].first_holder + h].pid == server->pid)
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
	if (to->n == 0 && waiting.n > 1) /* one alone: who else should come is not known */
		*to = waiting;
}

int waitgraph_to_clients(struct build *b, uint32_t from, const struct waitfact *f)
{
	const struct waitfact_process *p = b->g->node[from].process;
	struct peers clients = {.n = 0};
	if (b->g->node[from].main || !serves_by_threads(b, p))
		return 0;
	clients_find(b, p, &clients);
	enum waitgraph_quality q = clients.n == 1 ? WAITGRAPH_LIKELY : WAITGRAPH_POSSIBLE;
	for (size_t i = 0; i < clients.n; i++)
		if (waitgraph_to_process(b, from, clients.peer[i].pid, q, f) < 0)
			return -ENOMEM;
	return (int)clients.n;
}
