#include "agent/hang/sharewaits.h"

#include <stdlib.h>
#include <string.h>

#include "agent/hang/hangwaits.h"
#include "agent/hang/sharego.h"
#include "agent/wait/waitgo.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/units.h"
#include "model/hang/waitgraph.h"
#include "model/hang/waitshare.h"
#include "sense/speed/threadcost.h"

/*
 * Processor time for all reads of one round of samples, the time that these may take where others have the processors,
 * and their number.
 */
static const uint64_t learn_ns = 150 * NS_PER_MS, learn_late_ns = 3 * NS_PER_S;
/* For the goroutines of all processes in one of them; of the clock, which others may use as well. */
static const uint64_t go_ns = NS_PER_S;
static const uint32_t learn_most = 24;
#define SLOTS 1024 /* power of two */
#define PROBES 8
/* Threads of its own that one waits for; more are not looked at. */
#define OWN_MOST 8
/* A thread with shorter turns on a processor looks for something and waits again; one that works has longer ones. */
static const uint64_t turn_ns = 200000;

struct known_call {
	pid_t pid; /* 0: free */
	int64_t nr;
	uint64_t arg0;
	bool for_ranks, for_lock, own, vague;
	char whom[WAITSHARE_WHOM]; /* "": unknown, or a rank and no lock */
};

struct sharewaits {
	struct known_call slot[SLOTS];
	pid_t whole[WAITSHARE_RANKS]; /* processes all of whose threads count */
	size_t n_whole;
	uint64_t spent_ns, late_ns;
	uint32_t reads;
};

struct sharewaits *sharewaits_new(void)
{
	return calloc(1, sizeof(struct sharewaits));
}

struct sharewaits *sharewaits_free(struct sharewaits *s)
{
	free(s);
	return NULL;
}

void sharewaits_threads_of(struct sharewaits *s, pid_t pid)
{
	if (s && s->n_whole < WAITSHARE_RANKS)
		s->whole[s->n_whole++] = pid;
}

static bool counts_whole(const struct sharewaits *s, pid_t pid)
{
	for (size_t i = 0; i < s->n_whole; i++)
		if (s->whole[i] == pid)
			return true;
	return false;
}

/* The slot of a call, or the one where it belongs; NULL: there is no room. */
static struct known_call *slot_of(const struct sharewaits *s, pid_t pid, int64_t nr, uint64_t arg0)
{
	uint64_t h = hash_mix(hash_mix((uint64_t)pid << 16 ^ (uint64_t)nr) ^ arg0);
	for (size_t i = 0; i < PROBES; i++) {
		const struct known_call *k = &s->slot[(h + i) & (SLOTS - 1)];
		if (k->pid == 0 || (k->pid == pid && k->nr == nr && k->arg0 == arg0))
			return (struct known_call *)(uintptr_t)k;
	}
	return NULL;
}

static bool blocks(const struct threadwait *t)
{
	return t->has_syscall && t->nr >= 0 && t->kind != WAIT_RUNNING && t->kind != WAIT_SLEEP;
}

bool sharewaits_for_ranks(const struct sharewaits *s, pid_t pid, const struct threadwait *t)
{
	const struct known_call *k = s && blocks(t) ? slot_of(s, pid, t->nr, t->arg[0]) : NULL;
	return k && k->pid != 0 && k->for_ranks;
}

bool sharewaits_for_lock(const struct sharewaits *s, pid_t pid, const struct threadwait *t)
{
	const struct known_call *k = s && blocks(t) ? slot_of(s, pid, t->nr, t->arg[0]) : NULL;
	return k && k->pid != 0 && k->for_lock;
}

bool sharewaits_own(const struct sharewaits *s, pid_t pid, const struct threadwait *t)
{
	const struct known_call *k = s && blocks(t) ? slot_of(s, pid, t->nr, t->arg[0]) : NULL;
	return k && k->pid != 0 && k->own;
}

bool sharewaits_vague(const struct sharewaits *s, pid_t pid, const struct threadwait *t)
{
	const struct known_call *k = s && blocks(t) ? slot_of(s, pid, t->nr, t->arg[0]) : NULL;
	return k && k->pid != 0 && k->vague;
}

const char *sharewaits_whom(const struct sharewaits *s, pid_t pid, const struct threadwait *t)
{
	const struct known_call *k = s && blocks(t) ? slot_of(s, pid, t->nr, t->arg[0]) : NULL;
	return k && k->pid != 0 && k->whom[0] ? k->whom : NULL;
}

bool sharewaits_unknown(const struct sharewaits *s, pid_t pid, const struct threadwait *t)
{
	const struct known_call *k = s && blocks(t) ? slot_of(s, pid, t->nr, t->arg[0]) : NULL;
	return k && k->pid == 0;
}

/* The first of those who could end the wait is a thread of its own process. */
static bool begins_with_own(const struct waitgraph *g, const struct waitgraph_node *n)
{
	const struct waitgraph_node *to = n->n_edges > 0 ? &g->node[g->edge[n->first_edge].to] : NULL;
	return to && to->thread && to->thread->pid == n->thread->pid;
}

/* The first of those who could end the wait, and the wait. */
static void whom_take(const struct waitgraph *g, const struct waitgraph_node *n, char dst[static WAITSHARE_WHOM])
{
	char who[64], wait[100];
	waitgraph_wait_text(n, wait, sizeof(wait));
	if (begins_with_own(g, n)) {
		text_format(dst, WAITSHARE_WHOM, "a thread of its own (%s)", wait);
	} else if (n->n_edges > 0) {
		waitgraph_who_text(g, g->edge[n->first_edge].to, who, sizeof(who));
		text_format(dst, WAITSHARE_WHOM, "%s (%s)", who, wait);
	} else {
		text_copy(dst, WAITSHARE_WHOM, wait);
	}
}

static bool is_lock(const struct waitfact *f)
{
	return f && (f->kind == WAITFACT_LOCK || f->kind == WAITFACT_FILE_LOCK);
}

/*
 * A thread of its own that this one waits for was caught as it looked for something again, as the loops of gloo do each
 * 10 ms, and longer where processors are short: whom that one waits for is not to be seen at this look.
 */
static bool led_to_a_look(const struct world *w, const struct waitgraph *g, uint32_t node, pid_t pid)
{
	pid_t tid[OWN_MOST];
	size_t n = waitgraph_own_running(g, node, tid, OWN_MOST);
	for (size_t i = 0; i < n; i++) {
		struct threadcost cost;
		if (threadcost_read(w, pid, tid[i], &cost, NULL) == 0 && cost.has_schedule && cost.slices > 0 &&
		    cost.run_ns / cost.slices < turn_ns)
			return true;
	}
	return false;
}

/* The call of a main thread, or the wait of a program made by Go. False: it is in none, or it is unknown what for. */
static bool call_of(const struct waitgraph_node *n, const struct waitgo *go, struct threadwait *ret)
{
	if (!n->main || !n->who || !n->who->main || !n->thread || n->thread->runs)
		return false;
	const struct goroutines *s = n->thread->goroutine ? waitgo_of(go, n->thread->pid) : NULL;
	*ret = (struct threadwait){.nr = n->thread->nr, .arg[0] = n->thread->arg0};
	if (s)
		return n->fact && n->fact->kind != WAITFACT_UNKNOWN && sharego_wait(s, ret);
	return n->thread->nr >= 0;
}

static void call_keep(struct sharewaits *s, const struct world *w, const struct waitgraph *g, uint32_t node,
		      const struct threadwait *t)
{
	const struct waitgraph_node *n = &g->node[node];
	struct known_call *k = slot_of(s, n->thread->pid, t->nr, t->arg[0]);
	if (!k)
		return;
	*k = (struct known_call){.pid = n->thread->pid,
				 .nr = t->nr,
				 .arg0 = t->arg[0],
				 .for_ranks = waitgraph_leads_to_rank(g, node),
				 .for_lock = is_lock(n->fact),
				 .own = begins_with_own(g, n),
				 .vague = n->main && led_to_a_look(w, g, node, n->thread->pid)};
	if (!k->for_ranks || k->for_lock)
		whom_take(g, n, k->whom);
}

static void calls_keep(struct sharewaits *s, const struct world *w, const struct waitgraph *g, const struct waitgo *go)
{
	struct threadwait t;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitfact_thread *of = n->main || !n->who || !n->who->main ? NULL : n->thread;
		if (!of || of->runs || of->goroutine || of->nr < 0 || !counts_whole(s, of->pid))
			continue;
		t = (struct threadwait){.nr = of->nr, .arg[0] = of->arg0};
		call_keep(s, w, g, (uint32_t)i, &t);
	}
	for (size_t i = 0; i < g->n_nodes; i++)
		if (call_of(&g->node[i], go, &t))
			call_keep(s, w, g, (uint32_t)i, &t);
}

/* Goroutines in the place of threads. Without memory, and of what cannot be read, the threads stay. */
static void goroutines_put_in(const struct world *w, struct hangwaits *look, struct waitgo *ret)
{
	const struct waitgo_into into = {
		.now = &look->look[0], .hint = &look->hint, .n_hints = &look->n_hints, .cap_hints = &look->cap_hints};
	if (waitgo_look(w, &look->look[0], look->who, look->n_who, true, w->mono_ns() + go_ns, ret) == 0)
		ignore(waitgo_put(NULL, ret, &into), "no memory: its threads tell less");
}

void sharewaits_learn(struct sharewaits *s, const struct world *w, const struct hangprocs *procs, bool go)
{
	struct hangwaits look = {.threads_only = true};
	cleanup(waitgo_done) struct waitgo routines = {.n = 0};
	struct waitgraph g;
	const uint64_t began_ns = w->mono_ns(), began_cpu_ns = clock_thread_ns();
	if (s->spent_ns >= learn_ns || s->late_ns >= learn_late_ns || s->reads >= learn_most)
		return;
	s->reads++;
	hangwaits_look(&look, w, procs);
	if (go && look.n_looks > 0 && look.who)
		goroutines_put_in(w, &look, &routines);
	const struct waitgraph_in in = {.now = &look.look[0],
					.who = look.who,
					.n_who = look.n_who,
					.hint = look.hint,
					.n_hints = look.n_hints};
	if (look.n_looks > 0 && look.who && waitgraph_make(&in, &g) == 0) {
		calls_keep(s, w, &g, &routines);
		waitgraph_done(&g);
	}
	hangwaits_done(&look);
	s->spent_ns += clock_thread_ns() - began_cpu_ns;
	s->late_ns += w->mono_ns() - began_ns;
}
