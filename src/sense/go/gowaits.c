#include "sense/go/gowaits.h"

#include <string.h>

#include "base/buf.h"
#include "base/vec.h"

/* Goroutines that come to an object equally near; of more, none is singled out. */
#define HOLDERS_MOST 16
/* Alternatives of a call; more than one thread's goroutine may claim to be in it. */
#define CALL_FACTS 16
/* Who works on a request has its connection near: itself, or in what encrypts, decodes or counts it. */
#define HAND_STEPS 5

struct putting {
	struct waitfacts *f;
	const struct gowaits *g;
	const struct waitfact_process *was; /* the process as it was read */
	const struct waitfact_thread *thread; /* all threads as they were read */
	struct waitfact_thread *to; /* all threads as they become */
	size_t n_to;
	uint32_t index[GOWAITS_MOST]; /* of the goroutines that became threads */
	uint32_t door[GOWAITS_MOST]; /* those that wait for visitors */
	size_t n_doors;
};

/* ---- threads as they were read ---- */

/* The thread that is in the call of a goroutine, by its stack; NULL: none. */
static const struct waitfact_thread *in_its_call(const struct waitfact_thread *t, size_t n, const struct goroutine *g)
{
	for (size_t i = 0; i < n; i++)
		if (t[i].sp >= g->stack_from && t[i].sp < g->stack_to && t[i].sp != 0)
			return &t[i];
	return NULL;
}

static bool is_idle(const struct gowaits *g, pid_t tid)
{
	for (size_t i = 0; i < g->n_idle; i++)
		if (g->idle[i] == tid)
			return true;
	return false;
}

static bool on_a_stack(const struct gowaits *g, const struct waitfact_thread *t)
{
	for (size_t i = 0; i < g->s->n; i++)
		if (in_its_call(t, 1, &g->s->item[i]))
			return true;
	return false;
}

/* Whatever its goroutines wait for, none of them runs before this is over. */
static bool is_held(const struct waitfacts *f, const struct waitfact_thread *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		enum waitfact_kind k = f->fact[t->first + i].kind;
		if (k == WAITFACT_STOPPED || k == WAITFACT_TRACED || k == WAITFACT_FROZEN)
			return true;
	}
	return t->ended || (!t->readable && !t->runs);
}

bool gowaits_can(const struct waitfacts *f, const struct gowaits *g)
{
	const struct waitfact_process *p = waitfacts_process(f, g->pid);
	if (!p || p->n_threads == 0 || g->s->n == 0 || g->s->n > GOWAITS_MOST || g->s->n_all > g->s->n ||
	    g->s->item[0].id != 1)
		return false;
	const struct waitfact_thread *t = &f->thread[p->first_thread];
	for (uint32_t i = 0; i < p->n_threads; i++)
		if (is_held(f, &t[i]))
			return false;
	for (size_t i = 0; i < g->s->n; i++) {
		const struct goroutine *x = &g->s->item[i];
		if (x->id > INT32_MAX - GOWAITS_TID ||
		    (x->state == GOROUTINE_SYSCALL && !in_its_call(t, p->n_threads, x)))
			return false;
	}
	return t[0].runs || is_idle(g, t[0].tid) || on_a_stack(g, &t[0]);
}

/* ---- what a goroutine waits for ---- */

pid_t gowaits_tid(const struct gowaits *g, size_t i)
{
	return i == 0 ? g->pid : (pid_t)(GOWAITS_TID + g->s->item[i].id);
}

static struct waitfact *gowaits_fact_add(struct putting *x, struct waitfact_thread *t, enum waitfact_kind kind)
{
	struct waitfacts *f = x->f;
	if (vec_room(&f->fact, &f->cap_facts, f->n_facts + 1) < 0)
		return NULL;
	if (t->n++ == 0)
		t->first = (uint32_t)f->n_facts;
	f->fact[f->n_facts] = (struct waitfact){.kind = kind};
	return &f->fact[f->n_facts++];
}

static bool gowaits_shares(const struct goroutine *a, const struct goroutine *b)
{
	for (size_t i = 0; i < a->n_on; i++)
		for (size_t k = 0; k < b->n_on; k++)
			if (a->on[i] == b->on[k])
				return true;
	return false;
}

/* A goroutine at a listening socket gives what comes to others, and ends no wait itself. */
static bool is_at_the_door(const struct putting *x, size_t i)
{
	for (size_t k = 0; k < x->n_doors; k++)
		if (x->door[k] == i)
			return true;
	return false;
}

/* True if this goroutine may be the one to end the other's wait. */
static bool may_end(const struct putting *x, const struct gonear_link *l)
{
	const struct goroutine *by = &x->g->s->item[l->by], *to = &x->g->s->item[l->to];
	/* Who waits for the same channel may be its other end. */
	bool alike = gowaits_shares(by, to) && (to->wait != GOWAIT_CHAN || strcmp(by->reason, to->reason) == 0);
	return by->wait != GOWAIT_RUNTIME && by->wait != GOWAIT_FOREVER && !alike && !is_at_the_door(x, l->by);
}

/* The goroutines that come to what it waits for in the fewest steps, `least` at most; 0: nobody, or too many. */
static size_t nearest(const struct putting *x, size_t to, uint16_t least, uint32_t by[static HOLDERS_MOST])
{
	size_t n = 0;
	for (size_t i = 0; x->g->near && i < x->g->near->n; i++) {
		const struct gonear_link *l = &x->g->near->link[i];
		if (l->to != to || l->steps > least || !may_end(x, l))
			continue;
		n = l->steps < least ? 0 : n;
		least = l->steps;
		if (n < HOLDERS_MOST)
			by[n] = l->by;
		n++;
	}
	return n > HOLDERS_MOST ? 0 : n;
}

static int object_put(struct putting *x, struct waitfact_thread *t, size_t i)
{
	const struct goroutine *g = &x->g->s->item[i];
	struct waitfact *f = gowaits_fact_add(x, t, WAITFACT_OBJECT);
	if (!f)
		return -ENOMEM;
	f->id = g->n_on ? g->on[0] : 0;
	f->lock = g->wait == GOWAIT_LOCK;
	TEXT_FORMAT(f->text, "%s", g->reason[0] ? g->reason : "the runtime");
	return 0;
}

static int clock_put(struct putting *x, struct waitfact_thread *t, const struct goroutine *g)
{
	struct waitfact *f = gowaits_fact_add(x, t, WAITFACT_CLOCK);
	if (!f)
		return -ENOMEM;
	t->timed = true;
	TEXT_COPY(f->text, g->reason);
	return 0;
}

static int copy_put(struct putting *x, struct waitfact_thread *t, uint32_t from, bool to_write)
{
	struct waitfact *f = gowaits_fact_add(x, t, WAITFACT_UNKNOWN);
	if (!f)
		return -ENOMEM;
	*f = x->f->fact[from];
	f->complete = false;
	if (f->kind == WAITFACT_TCP || f->kind == WAITFACT_UNIX)
		f->to_write = to_write;
	return 0;
}

/* The fact of a descriptor, from the thread that waits for all of them at once. */
static int descriptor_put(struct putting *x, struct waitfact_thread *t, size_t i)
{
	const uint64_t inode = x->g->inode[i];
	for (uint32_t k = 0; inode && k < x->was->n_threads; k++) {
		const struct waitfact_thread *from = &x->thread[x->was->first_thread + k];
		for (uint32_t n = 0; n < from->n; n++)
			if (x->f->fact[from->first + n].id == inode)
				return copy_put(x, t, from->first + n, x->g->s->item[i].to_write);
	}
	struct waitfact *f = gowaits_fact_add(x, t, WAITFACT_UNKNOWN);
	if (!f)
		return -ENOMEM;
	TEXT_FORMAT(f->text, "descriptor %d", x->g->s->item[i].fd);
	return 0;
}

/* In a call it is what its thread is. */
static int call_put(struct putting *x, struct waitfact_thread *t, size_t i)
{
	const struct waitfact_thread *own = &x->thread[x->was->first_thread];
	const struct waitfact_thread *from = in_its_call(own, x->was->n_threads, &x->g->s->item[i]);
	if (!from)
		return 0;
	struct waitfact_thread new = *from;
	new.tid = t->tid;
	new.goroutine = t->goroutine;
	new.first = new.n = new.n_polled = 0;
	*t = new;
	int r = 0;
	for (uint32_t k = 0; k < MIN(from->n, (uint32_t)CALL_FACTS) && r == 0; k++)
		r = copy_put(x, t, from->first + k, x->f->fact[from->first + k].to_write);
	/* The runtime's goroutine that waits for signals; none of the program's waits for a futex. */
	if (t->n == 1 && x->f->fact[t->first].kind == WAITFACT_FUTEX)
		x->f->fact[t->first].kind = WAITFACT_SIGNAL;
	return r;
}

static int wait_put(struct putting *x, struct waitfact_thread *t, size_t i)
{
	const struct goroutine *g = &x->g->s->item[i];
	if (g->state == GOROUTINE_SYSCALL)
		return call_put(x, t, i);
	if (g->state != GOROUTINE_WAITS) {
		t->runs = true;
		return 0;
	}
	if (g->wait == GOWAIT_SLEEP)
		return clock_put(x, t, g);
	t->timed = g->by_clock || (x->g->near && x->g->near->clock[i]);
	return g->wait == GOWAIT_IO ? descriptor_put(x, t, i) : object_put(x, t, i);
}

/* ---- a process ---- */

static int goroutine_put(struct putting *x, size_t i)
{
	const struct goroutine *g = &x->g->s->item[i];
	struct waitfact_thread t = {
		.pid = x->g->pid,
		.tid = gowaits_tid(x->g, i),
		.goroutine = g->id,
		.readable = true,
		.runs_so_far = g->turns,
		.nr = -1,
		.wait = WAIT_LOCK,
		.cut = true,
	};
	int r = wait_put(x, &t, i);
	t.cut = true;
	x->to[x->n_to++] = t;
	return r;
}

/* Threads that are not the runtime's: those of another language. */
static void others_keep(struct putting *x)
{
	for (uint32_t i = 1; i < x->was->n_threads; i++) {
		const struct waitfact_thread *t = &x->thread[x->was->first_thread + i];
		if (!t->runs && !is_idle(x->g, t->tid) && !on_a_stack(x->g, t))
			x->to[x->n_to++] = *t;
	}
}

static const struct gowaits *gowaits_of(const struct gowaits *g, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (g[i].pid == pid)
			return &g[i];
	return NULL;
}

/* The goroutines that come to what a thread waits for, if this is an object. */
static int holders_put(struct putting *x, const struct waitfact_thread *t, size_t i)
{
	uint32_t by[HOLDERS_MOST];
	struct waitfacts *f = x->f;
	struct waitfact *o = t->n == 1 ? &f->fact[t->first] : NULL;
	size_t n = o && o->kind == WAITFACT_OBJECT ? nearest(x, i, UINT16_MAX, by) : 0;
	if (n == 0)
		return 0;
	if (vec_room(&f->holder, &f->cap_holders, f->n_holders + n) < 0)
		return -ENOMEM;
	o->first_holder = (uint32_t)f->n_holders;
	o->n_holders = (uint32_t)n;
	for (size_t k = 0; k < n; k++)
		f->holder[f->n_holders++] = (struct waitfact_holder){x->g->pid, gowaits_tid(x->g, by[k])};
	return 0;
}

/* Who has a connection in hand that this goroutine waits for. */
static int hands_put(struct putting *x, size_t i)
{
	uint32_t by[HOLDERS_MOST];
	struct waitfacts *f = x->f;
	const uint64_t inode = x->g->s->item[i].wait == GOWAIT_IO ? x->g->inode[i] : 0;
	size_t n = inode ? nearest(x, i, HAND_STEPS, by) : 0;
	if (vec_room(&f->hand, &f->cap_hands, f->n_hands + n + 1) < 0)
		return -ENOMEM;
	if (inode && x->g->near && x->g->s->item[i].file == 0)
		f->hand[f->n_hands++] = (struct waitfact_hand){inode, x->g->pid, 0};
	for (size_t k = 0; k < n; k++)
		f->hand[f->n_hands++] = (struct waitfact_hand){inode, x->g->pid, gowaits_tid(x->g, by[k])};
	return 0;
}

/* Each goroutine, then who comes to what each waits for. */
static int goroutines_put(struct putting *x)
{
	const struct goroutines *s = x->g->s;
	size_t first = x->n_to, n = 0;
	int r = 0;
	x->n_doors = 0;
	for (size_t i = 0; i < s->n && r == 0; i++) {
		if (i > 0 && s->item[i].wait == GOWAIT_RUNTIME)
			continue;
		x->index[n++] = (uint32_t)i;
		r = goroutine_put(x, i);
		const struct waitfact_thread *t = &x->to[x->n_to - 1];
		if (t->n == 1 && x->f->fact[t->first].kind == WAITFACT_LISTEN)
			x->door[x->n_doors++] = (uint32_t)i;
	}
	for (size_t k = 0; k < n && r == 0; k++) {
		r = holders_put(x, &x->to[first + k], x->index[k]);
		if (r == 0)
			r = hands_put(x, x->index[k]);
	}
	return r;
}

static int gowaits_process_put(struct putting *x, struct waitfact_process *p)
{
	const struct waitfact_process was = *p;
	p->first_thread = (uint32_t)x->n_to;
	if (!x->g) {
		for (uint32_t i = 0; i < was.n_threads; i++)
			x->to[x->n_to++] = x->thread[was.first_thread + i];
		return 0;
	}
	x->was = &was;
	int r = goroutines_put(x);
	others_keep(x);
	p->n_threads = (uint32_t)x->n_to - p->first_thread;
	return r;
}

static int hand_by_id(const void *a, const void *b)
{
	const struct waitfact_hand *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

int gowaits_put(struct waitfacts *f, const struct gowaits *g, size_t n)
{
	size_t most = f->n_threads;
	for (size_t i = 0; i < n; i++)
		most += g[i].s->n;
	cleanup(freep) struct waitfact_thread *to = calloc(most + 1, sizeof(*to));
	struct putting x = {.f = f, .thread = f->thread, .to = to};
	int r = to ? 0 : -ENOMEM;
	for (size_t i = 0; i < f->n_processes && r == 0; i++) {
		x.g = f->process[i].n_threads ? gowaits_of(g, n, f->process[i].pid) : NULL;
		r = gowaits_process_put(&x, &f->process[i]);
	}
	if (r)
		return r;
	if (f->n_hands)
		qsort(f->hand, f->n_hands, sizeof(*f->hand), hand_by_id);
	free(f->thread);
	f->thread = take(&to);
	f->n_threads = x.n_to;
	f->cap_threads = most + 1;
	return 0;
}
