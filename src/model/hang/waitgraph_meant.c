/* Who is meant, of all who could end a wait: who uses what several have, and whom a tracer waits for. */
#include <string.h>

#include "model/hang/waitgraph_parts.h"

/* Ancestors that are followed to see whether a process has a descriptor from another one. */
#define ANCESTORS 16

/* True if `pid` descends from one of the others, so that it has the descriptor from it. */
static bool descends(const struct build *b, pid_t pid, const pid_t *others, size_t n)
{
	const struct waitfact_process *p = waitfacts_process(b->in->now, pid);
	for (int up = 0; p && up < ANCESTORS && p->ppid > 1; up++) {
		for (size_t i = 0; i < n; i++)
			if (others[i] == p->ppid && others[i] != pid)
				return true;
		p = waitfacts_process(b->in->now, p->ppid);
	}
	return false;
}

bool waitgraph_has_a_copy(const struct build *b, const struct waitfact *f, pid_t pid)
{
	for (uint32_t i = 0; i < f->n_holders; i++) {
		const pid_t other = b->in->now->holder[f->first_holder + i].pid;
		if (descends(b, pid, &other, 1))
			return true;
	}
	return false;
}

/* Processes of the list that a test keeps; the list itself where it keeps none. */
static size_t narrowed(const struct build *b, pid_t *pids, size_t n,
		       bool (*keep)(const struct build *b, pid_t pid, const pid_t *all, size_t n))
{
	pid_t kept[WAITGRAPH_HOLDERS];
	size_t k = 0;
	for (size_t i = 0; i < n; i++)
		if (keep(b, pids[i], pids, n))
			kept[k++] = pids[i];
	if (k == 0)
		return n;
	memcpy(pids, kept, k * sizeof(*kept));
	return k;
}

static bool keep_mains(const struct build *b, pid_t pid, const pid_t *all, size_t n)
{
	(void)all;
	(void)n;
	const struct waitgraph_who *who = waitgraph_who_of(b->in, pid);
	return who && who->main;
}

static bool keep_no_launcher(const struct build *b, pid_t pid, const pid_t *all, size_t n)
{
	(void)all;
	(void)n;
	const struct waitgraph_who *who = waitgraph_who_of(b->in, pid);
	return !who || !who->launcher;
}

/* The only thread of a process; NULL: it has more, or is not known. */
static const struct waitfact_thread *only_thread(const struct build *b, pid_t pid)
{
	const struct waitfact_process *p = waitfacts_process(b->in->now, pid);
	return p && p->n_threads == 1 ? waitfacts_thread(b->in->now, pid, pid) : NULL;
}

/* The sleep of a shell's loop has what the shell has, and uses none of it. */
static bool keep_no_sleep_of_a_loop(const struct build *b, pid_t pid, const pid_t *all, size_t n)
{
	(void)all;
	(void)n;
	const struct waitfact_thread *t = only_thread(b, pid);
	return !t || !waitgraph_is_sleep_of_a_loop(b->in, t);
}

/* One that only sleeps by its children is at work itself. */
bool waitgraph_waits_for_children(const struct build *b, pid_t pid)
{
	const struct waitfact_thread *t = only_thread(b, pid);
	return t && t->n == 1 && b->in->now->fact[t->first].kind == WAITFACT_CHILD &&
	       !waitgraph_sleeps_by_children(b->in, t);
}

/* A parent that does no more than wait for the ends of its children has what they have, and uses none of it. */
static bool keep_no_waiting_parent(const struct build *b, pid_t pid, const pid_t *all, size_t n)
{
	(void)all;
	(void)n;
	return !waitgraph_waits_for_children(b, pid);
}

static bool keep_oldest(const struct build *b, pid_t pid, const pid_t *all, size_t n)
{
	return !descends(b, pid, all, n);
}

/* True if the only thread of a process waits at the very word as well. */
static bool is_rival(const struct build *b, pid_t pid, const struct waitfact *f)
{
	const struct waitfact_thread *t = only_thread(b, pid);
	const struct waitfact *own = t && t->n == 1 ? &b->in->now->fact[t->first] : NULL;
	return own && own->kind == f->kind && own->id == f->id;
}

size_t waitgraph_other_than_parents(const struct build *b, const struct waitfact *f, pid_t *pids, size_t n)
{
	pid_t one = 0;
	size_t others = 0;
	for (size_t i = 0; i < n; i++) {
		if (waitgraph_waits_for_children(b, pids[i]))
			continue;
		one = pids[i];
		others++;
	}
	if (others != 1 || is_rival(b, one, f))
		return n;
	pids[0] = one;
	return 1;
}

size_t waitgraph_meant(const struct build *b, const struct waitfact *f, pid_t *pids, size_t n)
{
	n = narrowed(b, pids, n, keep_no_launcher);
	if (f->kind != WAITFACT_TCP && f->kind != WAITFACT_UNIX && f->kind != WAITFACT_PIPE &&
	    f->kind != WAITFACT_CHANGE)
		return n;
	n = narrowed(b, pids, n, keep_no_sleep_of_a_loop);
	n = narrowed(b, pids, n, keep_no_waiting_parent);
	if (f->door) /* workers accept at the door that they have from who started them */
		return n;
	n = narrowed(b, pids, n, keep_oldest);
	return narrowed(b, pids, n, keep_mains);
}

/* True if its only thread waits for a connection to be accepted at this door. */
static bool knocks_as_well(const struct build *b, pid_t pid, uint64_t door)
{
	const struct waitfact_thread *t = only_thread(b, pid);
	return t && t->n == 1 && b->in->now->fact[t->first].door == door;
}

bool waitgraph_has_the_door(const struct build *b, const struct waitgraph_node *n, const struct waitfact *f)
{
	for (uint32_t i = 0; f->door && i < f->n_holders; i++)
		if (b->in->now->holder[f->first_holder + i].pid == n->process->pid)
			return true;
	return false;
}

bool waitgraph_knocks_at_its_own(const struct build *b, const struct waitgraph_node *n, const struct waitfact *f)
{
	if (!waitgraph_has_the_door(b, n, f) || n->process->n_threads != 1 || n->thread->n != 1)
		return false;
	for (uint32_t i = 0; i < f->n_holders; i++) {
		const pid_t pid = b->in->now->holder[f->first_holder + i].pid;
		const bool started_it = descends(b, n->process->pid, &pid, 1);
		if (pid != n->process->pid && !started_it && !knocks_as_well(b, pid, f->door))
			return false;
	}
	return true;
}

static bool waits_for_end_of(const struct build *b, const struct waitfact *f, pid_t pid)
{
	for (uint32_t i = 0; f->kind == WAITFACT_CHILD && i < f->n_holders; i++)
		if (b->in->now->holder[f->first_holder + i].pid == pid)
			return true;
	return false;
}

/* A thread that waits for its own process alone: it reads from nobody, and works on nothing from outside. */
static bool waits_within(const struct build *b, const struct waitgraph_node *n)
{
	size_t n_facts;
	const struct waitfact *f = waitgraph_facts(b, n, &n_facts);
	bool within = n_facts > 0 && n->end != WAITEND_RUNS;
	for (size_t i = 0; within && i < n_facts; i++)
		within = waitgraph_is_own(&f[i]) || f[i].kind == WAITFACT_THREAD;
	return within;
}

int waitgraph_to_reaper(struct build *b, uint32_t from, const struct waitfact_process *p, const struct waitfact *f)
{
	const struct waitgraph_node *writer = &b->g->node[from];
	uint32_t to = WAITGRAPH_NONE;
	if (!f || !f->to_write || (f->kind != WAITFACT_PIPE && f->kind != WAITFACT_UNIX) || p == writer->process)
		return 0;
	const uint32_t first = waitgraph_first_node(b, p);
	for (uint32_t k = first; k < first + p->n_threads; k++) {
		size_t n;
		const struct waitgraph_node *x = &b->g->node[k];
		const struct waitfact *own = waitgraph_facts(b, x, &n);
		if (n == 1 && waits_for_end_of(b, own, writer->process->pid))
			to = k;
		else if (!x->thread->ended && !waits_within(b, x))
			return 0;
	}
	if (to == WAITGRAPH_NONE)
		return 0;
	return waitgraph_arrow(b, from, to, WAITGRAPH_LIKELY, f, NULL) < 0 ? -ENOMEM : 1;
}

/* The thread of the job with this number, which need not be a main one; WAITGRAPH_NONE: it is none of the job's. */
static uint32_t thread_numbered(const struct build *b, uint64_t tid)
{
	for (uint32_t i = 0; i < b->g->n_nodes; i++)
		if (b->g->node[i].thread && (uint64_t)b->g->node[i].thread->tid == tid)
			return i;
	return WAITGRAPH_NONE;
}

/*
 * True if a tracer is held up itself: it waits for one thing, which neither the clock, a person, a signal nor a child
 * brings. One that waits for children waits for what it traces, or may be told of it by SIGCONT.
 */
static bool is_held_up(const struct build *b, const struct waitgraph_node *n)
{
	size_t n_facts;
	const struct waitfact *f = waitgraph_facts(b, n, &n_facts);
	return n->end == WAITEND_NONE && n_facts == 1 && f->kind != WAITFACT_CLOCK && f->kind != WAITFACT_CHILD &&
	       f->kind != WAITFACT_SIGNAL && f->kind != WAITFACT_TERMINAL && f->kind != WAITFACT_UNKNOWN;
}

int waitgraph_to_tracer(struct build *b, uint32_t from, const struct waitfact *f)
{
	const uint32_t to = f->id ? thread_numbered(b, f->id) : WAITGRAPH_NONE;
	if (to == WAITGRAPH_NONE || to == from || !is_held_up(b, &b->g->node[to]))
		return 0;
	return waitgraph_arrow(b, from, to, WAITGRAPH_PROOF, f, NULL) < 0 ? -ENOMEM : 1;
}
