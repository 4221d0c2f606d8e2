/* The nodes of the graph: threads, and what they do. */
#include "model/hang/waitgraph.h"

#include <string.h>

#include "base/bisect.h"
#include "base/vec.h"
#include "model/hang/waitgraph_parts.h"

/* The longest wait that still is a nap; two looks are further apart. */
static const uint64_t nap_most_ns = 1500 * NS_PER_MS;

const struct waitgraph_who *waitgraph_who_of(const struct waitgraph_in *in, pid_t pid)
{
	for (size_t i = 0; i < in->n_who; i++)
		if (in->who[i].pid == pid)
			return &in->who[i];
	return NULL;
}

const struct waitfact *waitgraph_facts(const struct build *b, const struct waitgraph_node *n, size_t *ret_n)
{
	*ret_n = n->thread ? n->thread->n : 0;
	return *ret_n ? &b->in->now->fact[n->thread->first] : NULL;
}

/* True if both wait for the same things. */
static bool same_facts(const struct waitfacts *fa, const struct waitfact_thread *a, const struct waitfacts *fb,
		       const struct waitfact_thread *b)
{
	if (a->n != b->n || a->nr != b->nr || a->ended != b->ended)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct waitfact *x = &fa->fact[a->first + i], *y = &fb->fact[b->first + i];
		if (x->kind != y->kind || x->id != y->id || x->to_write != y->to_write)
			return false;
	}
	return true;
}

static bool is_clock(const struct waitfacts *f, const struct waitfact_thread *t)
{
	return t->n == 1 && f->fact[t->first].kind == WAITFACT_CLOCK;
}

/* The only child for whose end it waits, if that one sleeps; NULL: it does not wait so. */
static const struct waitfact_thread *sleeping_child(const struct waitfacts *f, const struct waitfact_thread *t)
{
	const struct waitfact *x = t->n == 1 ? &f->fact[t->first] : NULL;
	if (!x || x->kind != WAITFACT_CHILD || x->n_holders != 1)
		return NULL;
	pid_t pid = f->holder[x->first_holder].pid;
	const struct waitfact_thread *child = waitfacts_thread(f, pid, pid);
	return child && is_clock(f, child) ? child : NULL;
}

bool waitgraph_sleeps_by_children(const struct waitgraph_in *in, const struct waitfact_thread *t)
{
	const struct waitfact_thread *before = in->before ? waitfacts_thread(in->before, t->pid, t->tid) : NULL;
	return before && sleeping_child(in->before, before) && sleeping_child(in->now, t);
}

bool waitgraph_is_sleep_of_a_loop(const struct waitgraph_in *in, const struct waitfact_thread *t)
{
	const struct waitfact_process *p = waitfacts_process(in->now, t->pid);
	const struct waitfact_thread *parent = p ? waitfacts_thread(in->now, p->ppid, p->ppid) : NULL;
	return parent && sleeping_child(in->now, parent) == t && waitgraph_sleeps_by_children(in, parent);
}

/* True if it took next to no processor time between the two looks, be it awake at one of them. */
static bool only_wakes_up(const struct waitgraph_in *in, const struct waitfact_thread *t)
{
	const struct waitfact_thread *before = in->before ? waitfacts_thread(in->before, t->pid, t->tid) : NULL;
	if (!before || t->ended)
		return false;
	return t->user_ticks + t->system_ticks - before->user_ticks - before->system_ticks < WAITGRAPH_WORKING_TICKS;
}

/* True if it runs, or ran between the two looks; a thread that wakes up and goes on waiting for the same does not. */
static bool moves(const struct waitgraph_in *in, const struct waitfact_thread *t)
{
	if (t->runs)
		return true;
	const struct waitfact_thread *before = in->before ? waitfacts_thread(in->before, t->pid, t->tid) : NULL;
	if (!before)
		return in->before != NULL && !waitgraph_is_sleep_of_a_loop(in, t); /* it has just begun */
	uint64_t ticks = t->user_ticks + t->system_ticks - before->user_ticks - before->system_ticks;
	if (before->runs || ticks >= WAITGRAPH_WORKING_TICKS)
		return true;
	if ((is_clock(in->now, t) && is_clock(in->before, before)) || waitgraph_sleeps_by_children(in, t))
		return false;
	return !same_facts(in->before, before, in->now, t) || (!t->timed && t->runs_so_far != before->runs_so_far);
}

/* Ticks are hundredths of a second on every Linux. */
bool waitgraph_is_light(const struct waitgraph_in *in, const struct waitfact_thread *t)
{
	const struct waitfact_thread *before = in->before ? waitfacts_thread(in->before, t->pid, t->tid) : NULL;
	if (!before)
		return false;
	uint64_t ticks = t->user_ticks + t->system_ticks - before->user_ticks - before->system_ticks;
	return ticks * 100 * NS_PER_MS < in->now->taken_ns - in->before->taken_ns;
}

static bool seen_asleep(const struct waitgraph_in *in, const struct waitfact_thread *t)
{
	const struct waitfact_thread *before = in->before ? waitfacts_thread(in->before, t->pid, t->tid) : NULL;
	return before && !(t->runs && before->runs);
}

/* The time for which its call waits at most, or still will; 0: unknown, or without end. */
static uint64_t waits_at_most(const struct waitfact_thread *t)
{
	return t->timed || t->limit_ns || t->left_ns ? MAX(t->limit_ns, t->left_ns) : 0;
}

/* One long sleep has two seconds more to go in the look before, so that both are short in a loop only. */
static bool naps(const struct waitgraph_in *in, const struct waitfact_thread *t)
{
	const struct waitfact_thread *before = in->before ? waitfacts_thread(in->before, t->pid, t->tid) : NULL;
	if (!before || t->runs || before->runs || t->runs_so_far == before->runs_so_far || t->nr != before->nr)
		return false;
	uint64_t now_ns = waits_at_most(t), then_ns = waits_at_most(before);
	return now_ns > 0 && then_ns > 0 && MAX(now_ns, then_ns) <= nap_most_ns;
}

/* True if it was awake for so short a time between its naps that it hardly did more than to look at something. */
static bool glances(const struct waitgraph_in *in, const struct waitfact_thread *t)
{
	const uint64_t look_most_ns = 100 * NS_PER_US; /* of one that only looks 17 to 45 us were measured */
	const struct waitfact_thread *before = in->before ? waitfacts_thread(in->before, t->pid, t->tid) : NULL;
	return before && t->ran_ns >= before->ran_ns && t->runs_so_far >= before->runs_so_far &&
	       t->ran_ns - before->ran_ns <= (t->runs_so_far - before->runs_so_far) * look_most_ns;
}

static void between_looks(const struct waitgraph_in *in, const struct waitfact_thread *t, struct waitgraph_node *n)
{
	const struct waitfact_thread *before = in->before ? waitfacts_thread(in->before, t->pid, t->tid) : NULL;
	n->ran_ns = before && t->ran_ns >= before->ran_ns ? t->ran_ns - before->ran_ns : UINT64_MAX;
	n->woke = before && t->runs_so_far > before->runs_so_far;
	n->lightly = glances(in, t);
}

/* The most that has come over one of the connections that it reads from. */
static uint64_t heard(const struct waitfacts *now, const struct waitfact_thread *t)
{
	uint64_t most = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct waitfact *f = &now->fact[t->first + i];
		if (f->kind == WAITFACT_TCP && !f->to_write)
			most = MAX(most, f->received_bytes);
	}
	return most;
}

static int hints_compare(const void *a, const void *b)
{
	const struct waithint *x = *(const struct waithint *const *)a, *y = *(const struct waithint *const *)b;
	if (x->pid != y->pid)
		return (x->pid > y->pid) - (x->pid < y->pid);
	if (x->tid != y->tid)
		return (x->tid > y->tid) - (x->tid < y->tid);
	return (x > y) - (x < y); /* as they were given */
}

static int hints_sort(struct build *b)
{
	b->hint = calloc(b->in->n_hints + 1, sizeof(*b->hint));
	if (!b->hint)
		return -ENOMEM;
	for (size_t i = 0; i < b->in->n_hints; i++)
		b->hint[i] = &b->in->hint[i];
	if (b->in->n_hints)
		qsort(b->hint, b->in->n_hints, sizeof(*b->hint), hints_compare);
	return 0;
}

static bool hint_is_before(const struct waithint *h, pid_t pid, pid_t tid)
{
	return h->pid < pid || (h->pid == pid && h->tid < tid);
}

const struct waithint *const *waitgraph_hints(const struct build *b, pid_t pid, pid_t tid, size_t *ret_n)
{
	size_t lo = bisect(b->in->n_hints, i, hint_is_before(b->hint[i], pid, tid));
	for (*ret_n = 0; lo + *ret_n < b->in->n_hints; ++*ret_n)
		if (b->hint[lo + *ret_n]->pid != pid || b->hint[lo + *ret_n]->tid != tid)
			break;
	return &b->hint[lo];
}

/* The hint of a thread that says most of its wait; NULL: none. place: the one that says where it stands. */
static const struct waithint *best_hint(const struct build *b, pid_t pid, pid_t tid, bool place)
{
	static const enum waithint_kind of_wait[] = {WAITHINT_CALL, WAITHINT_NOBODY, WAITHINT_OWNER, WAITHINT_RESULT,
						     WAITHINT_KEY,  WAITHINT_RANK,   WAITHINT_FACT,  WAITHINT_WITHIN,
						     WAITHINT_IDLE, WAITHINT_TEXT,   WAITHINT_MEETS, WAITHINT_RETRY};
	static const enum waithint_kind of_place[] = {WAITHINT_PLACE};
	size_t n, n_kinds = place ? ARRAY_SIZE(of_place) : ARRAY_SIZE(of_wait);
	const struct waithint *const *h = waitgraph_hints(b, pid, tid, &n);
	for (size_t k = 0; k < n_kinds; k++)
		for (size_t i = 0; i < n; i++)
			if (h[i]->kind == (place ? of_place : of_wait)[k])
				return h[i];
	return NULL;
}

/* What it is known to do with calls of other processes, and has called otherwise than other ranks. */
static void calls_note(const struct build *b, struct waitgraph_node *n)
{
	size_t n_hints;
	const struct waithint *const *h = waitgraph_hints(b, n->thread->pid, n->thread->tid, &n_hints);
	for (size_t i = 0; i < n_hints; i++) {
		n->calls |= h[i]->kind == WAITHINT_CALL;
		n->wants |= h[i]->kind == WAITHINT_RESULT;
		n->idle |= h[i]->kind == WAITHINT_IDLE;
		n->streams |= h[i]->kind == WAITHINT_STREAM;
		n->shows |= h[i]->kind == WAITHINT_IDLE && h[i]->shows;
		n->only_sleeps |= h[i]->kind == WAITHINT_SLEEPS;
		n->within |= h[i]->kind == WAITHINT_WITHIN;
		n->spins |= h[i]->kind == WAITHINT_RANK && h[i]->counted;
		n->handles |= h[i]->kind == WAITHINT_HANDLER || h[i]->kind == WAITHINT_WITHIN;
		n->odd = h[i]->kind == WAITHINT_ODD ? h[i] : n->odd;
	}
}

static int graph_node_add(struct waitgraph *g, const struct waitgraph_node *n)
{
	if (vec_room(&g->node, &g->cap_nodes, g->n_nodes + 1) < 0)
		return -ENOMEM;
	g->node[g->n_nodes++] = *n;
	return 0;
}

uint32_t waitgraph_first_node(const struct build *b, const struct waitfact_process *p)
{
	return b->first_node[p - b->in->now->process];
}

uint32_t waitgraph_node_of(const struct build *b, pid_t pid, pid_t tid)
{
	const struct waitfact_process *p = waitfacts_process(b->in->now, pid);
	for (uint32_t i = 0; p && i < p->n_threads; i++)
		if (b->in->now->thread[p->first_thread + i].tid == tid)
			return waitgraph_first_node(b, p) + i;
	return WAITGRAPH_NONE;
}

/* True if only its own process has the other end. */
static bool is_within(const struct waitfacts *now, pid_t pid, const struct waitfact *f)
{
	if ((f->kind != WAITFACT_EVENTFD && f->kind != WAITFACT_PIPE) || !f->complete)
		return false;
	for (uint32_t i = 0; i < f->n_holders; i++)
		if (now->holder[f->first_holder + i].pid != pid)
			return false;
	return f->n_holders > 0;
}

/* The one listening socket, or one of several, of a thread that waits for nothing else but its own process. */
static const struct waitfact *door_of(const struct waitfacts *now, const struct waitfact_thread *t)
{
	const struct waitfact *door = NULL;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct waitfact *f = &now->fact[t->first + i];
		if (f->kind == WAITFACT_LISTEN)
			door = f;
		else if (!is_within(now, t->pid, f))
			return NULL;
	}
	return t->n > 1 ? door : NULL;
}

static int process_add(struct build *b, const struct waitfact_process *p)
{
	const struct waitfacts *now = b->in->now;
	b->first_node[p - now->process] = p->n_threads > 0 ? (uint32_t)b->g->n_nodes : WAITGRAPH_NONE;
	const struct waitgraph_who *who = waitgraph_who_of(b->in, p->pid);
	for (uint32_t i = 0; i < p->n_threads; i++) {
		const struct waitfact_thread *t = &now->thread[p->first_thread + i];
		struct waitgraph_node n = {
			.thread = t,
			.process = p,
			.who = who,
			.main = t->tid == p->pid,
			.timed = t->timed,
			.sink = WAITGRAPH_NONE,
			.beside = WAITGRAPH_NONE,
		};
		calls_note(b, &n);
		/* Who waits for an answer wakes up in different waits of its own process. */
		const bool wakes_up = (n.calls || n.wants || n.idle) && only_wakes_up(b->in, t);
		const bool still = !moves(b->in, t) || wakes_up || n.spins;
		if (t->ended)
			n.end = WAITEND_GONE;
		else if (!still)
			n.end = WAITEND_RUNS;
		else if (t->n > 0)
			n.fact = &now->fact[t->first];
		n.light = n.end == WAITEND_RUNS && seen_asleep(b->in, t) && waitgraph_is_light(b->in, t);
		if (still)
			n.hint = best_hint(b, t->pid, t->tid, false);
		n.place = best_hint(b, t->pid, t->tid, true);
		n.naps = still && naps(b->in, t);
		n.glances = n.naps && glances(b->in, t);
		between_looks(b->in, t, &n);
		n.heard_bytes = heard(now, t);
		n.door = still ? door_of(now, t) : NULL;
		if (graph_node_add(b->g, &n) < 0)
			return -ENOMEM;
	}
	b->g->n_mains += who && who->main && p->n_threads > 0;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct waiting_on *x = a, *y = b;
	return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->node > y->node) - (x->node < y->node);
}

/* Who waits on what, so that the two ends of one thing find each other. */
static int waiting_list(struct build *b)
{
	for (size_t i = 0; i < b->g->n_nodes; i++) {
		size_t n;
		const struct waitfact *f = waitgraph_facts(b, &b->g->node[i], &n);
		for (size_t k = 0; b->g->node[i].end == WAITEND_NONE && k < n; k++) {
			if (f[k].id == 0)
				continue;
			if (vec_room(&b->on, &b->cap_on, b->n_on + 1) < 0)
				return -ENOMEM;
			b->on[b->n_on++] = (struct waiting_on){f[k].id, (uint32_t)i, f[k].kind, f[k].to_write};
		}
	}
	if (b->n_on)
		qsort(b->on, b->n_on, sizeof(*b->on), by_id);
	return 0;
}

static int build_all(struct build *b)
{
	const struct waitfacts *now = b->in->now;
	int r = hints_sort(b);
	b->g->one_look = !b->in->before;
	for (size_t i = 0; i < b->in->n_hints; i++) {
		const bool closed = b->in->hint[i].kind == WAITHINT_CLOSED;
		b->g->closed |= closed;
		b->g->asks |= closed && b->in->hint[i].asks;
	}
	b->first_node = calloc(now->n_processes + 1, sizeof(*b->first_node));
	if (!b->first_node)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < now->n_processes; i++)
		r = process_add(b, &now->process[i]);
	if (r == 0)
		r = waiting_list(b);
	size_t threads = b->g->n_nodes;
	for (size_t i = 0; r == 0 && i < threads; i++)
		r = waitgraph_arrows(b, (uint32_t)i);
	for (size_t i = 0; r == 0 && i < threads; i++)
		waitgraph_idle_loop(b, (uint32_t)i);
	if (r == 0)
		r = waitgraph_mark_dead(b);
	for (size_t i = 0; r == 0 && i < threads; i++)
		r = waitgraph_ask_the_living(b, (uint32_t)i);
	if (r == 0)
		r = waitgraph_narrow_all(b->g);
	return r ? r : waitgraph_find_ends(b->in, b->g);
}

int waitgraph_make(const struct waitgraph_in *in, struct waitgraph *ret)
{
	struct waitgraph g = {};
	struct build b = {.in = in, .g = &g};
	int r = build_all(&b);
	free(b.hint);
	free(b.first_node);
	free(b.on);
	free(b.outside);
	if (r)
		waitgraph_done(&g);
	else
		*ret = g;
	return r;
}

void waitgraph_done(struct waitgraph *g)
{
	free(g->node);
	free(g->edge);
	free(g->sink);
	*g = (struct waitgraph){};
}

const struct waitgraph_node *waitgraph_thread(const struct waitgraph *g, pid_t pid, pid_t tid)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitfact_thread *t = g->node[i].thread;
		if (t && t->pid == pid && t->tid == (tid ? tid : pid))
			return &g->node[i];
	}
	return NULL;
}
