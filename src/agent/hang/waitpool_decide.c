/* Whom a thread waits for that waits for the result of a pool: by what workers and the pool's own threads do. */
#include <string.h>

#include "agent/hang/waitpool_parts.h"
#include "base/buf.h"
#include "sense/proc/proc.h"
#include "sense/rank.h"

/* What the pool of one wait is made of. */
struct pool {
	const struct pooling *x;
	const struct pooled_thread *t; /* who waits */
	const struct pooled_thread *out, *in; /* its own threads; NULL: not seen */
	bool is_executor;
	uint64_t job;
	struct pypool_member member[PYPOOL_MEMBERS];
	size_t n_members; /* 0: unknown */
	const struct pooled_worker *of[PYPOOL_MEMBERS]; /* the process of each member; NULL: not seen */
	size_t n_in[PYPOOL_HAS + 1]; /* members by what they do */
	size_t n_renewed; /* that began later than the pool's own threads: in place of others that ended */
};

static void hint_add(struct waitpool_found *ret, const struct pool *p, enum waithint_kind kind, pid_t pid, pid_t tid,
		     const char *owner_text, const char *place)
{
	if (ret->n == WAITPOOL_HINTS)
		return;
	struct waithint *h = &ret->hint[ret->n++];
	*h = (struct waithint){.kind = kind, .pid = p->x->v->pid, .tid = p->t->tid, .rank = NO_RANK};
	h->owner_pid = pid;
	h->owner_tid = tid;
	TEXT_COPY(h->text, p->t->text);
	struct buf b = BUF_ON(h->owner_text);
	buf_reset(&b);
	buf_printf(&b, "%s%s", owner_text, place);
}

/* ---- what belongs to the pool ---- */

static const struct pooled_worker *waitpool_process_of(const struct pooling *x, const struct pypool_member *m)
{
	for (size_t i = 0; i < x->n_workers; i++)
		if (x->worker[i].inner == m->pid)
			return &x->worker[i];
	return NULL;
}

/* When the thread began, in the clock of process starts; 0: unknown. */
static uint64_t began_ticks(const struct pool *p, const struct pooled_thread *t)
{
	struct proc_stat stat;
	return t && proc_stat_read(p->x->in->w, t->tid, &stat) == 0 ? stat.start_ticks : 0;
}

static void members_count(struct pool *p)
{
	uint64_t began = p->is_executor ? 0 : began_ticks(p, p->in ? p->in : p->out);
	for (size_t i = 0; i < p->n_members; i++) {
		const struct pooled_worker *k = p->of[i] = waitpool_process_of(p->x, &p->member[i]);
		p->n_in[k ? k->worker.state : PYPOOL_UNKNOWN]++;
		/* A pool starts its first workers before its own threads. */
		p->n_renewed += k && began && k->start_ticks > began + 1;
	}
}

static int pool_find(struct pool *p)
{
	struct procview *v = p->x->v;
	p->job = p->t->wait.job;
	for (size_t i = 0; i < p->x->n_own; i++) {
		const struct pooled_thread *o = &p->x->own[i];
		if (o->pool.role == PYPOOL_NO_ROLE || o->pool.role == PYPOOL_MANAGES ||
		    o->pool.cache != p->t->wait.cache)
			continue;
		if (o->pool.role == PYPOOL_HANDS_OUT)
			p->out = o;
		else
			p->in = o;
	}
	return pypool_members(&v->rt, &v->remote, &p->t->wait, p->member, &p->n_members);
}

/* *ret_found false: the future is not of a process pool. */
static int executor_find(struct pool *p, bool *ret_found)
{
	struct procview *v = p->x->v;
	int e = 0;
	*ret_found = false;
	p->is_executor = true;
	for (size_t i = 0; i < p->x->n_own && e == 0 && !*ret_found; i++) {
		const struct pooled_thread *o = &p->x->own[i];
		if (o->pool.role != PYPOOL_MANAGES)
			continue;
		e = pypool_task(&v->rt, &v->remote, &o->pool, p->t->wait.future, &p->job, ret_found);
		p->in = o;
	}
	if (e || !*ret_found)
		return e;
	return pypool_executor_members(&v->rt, &v->remote, &p->in->pool, p->member, &p->n_members);
}

/* ---- whom it is ---- */

static bool has_task(const struct pool *p, const struct pypool_worker *k)
{
	return k->state == PYPOOL_HAS && k->of == p->t->wait.of && k->job == p->job &&
	       (!p->t->wait.in_turn || k->part == p->t->wait.part);
}

static bool is_member(const struct pool *p, const struct pooled_worker *k)
{
	for (size_t i = 0; i < p->n_members; i++)
		if (p->of[i] == k)
			return true;
	/* The numbers of an executor's tasks are its own. */
	return p->n_members == 0 && !p->is_executor;
}

static void holders_tell(const struct pool *p, struct waitpool_found *ret)
{
	for (size_t i = 0; i < p->x->n_workers; i++) {
		const struct pooled_worker *k = &p->x->worker[i];
		if (has_task(p, &k->worker) && is_member(p, k))
			hint_add(ret, p, WAITHINT_OWNER, k->pid, k->pid, "has the task", k->place);
	}
	for (size_t i = 0; i < p->x->n_own; i++) {
		const struct pooled_thread *o = &p->x->own[i];
		if (has_task(p, &o->worker))
			hint_add(ret, p, WAITHINT_OWNER, p->x->v->pid, o->tid, "has the task", o->place);
	}
}

/* A thread of the pool's own that runs code of the program. */
static void threads_tell(const struct pool *p, struct waitpool_found *ret)
{
	if (p->in && p->in->pool.busy && p->in->pool.frame != SIZE_MAX)
		hint_add(ret, p, WAITHINT_OWNER, p->x->v->pid, p->in->tid, "takes the results, and is", p->in->place);
	else if (p->out && p->out->pool.busy && p->out->pool.frame != SIZE_MAX)
		hint_add(ret, p, WAITHINT_OWNER, p->x->v->pid, p->out->tid, "makes the tasks", p->out->place);
}

static void members_tell(const struct pool *p, enum pypool_state state, const char *text, struct waitpool_found *ret)
{
	for (size_t i = 0; i < p->n_members; i++)
		if (p->of[i] && p->of[i]->worker.state == state)
			hint_add(ret, p, WAITHINT_OWNER, p->of[i]->pid, p->of[i]->pid, text, p->of[i]->place);
}

/* ---- nobody ---- */

static bool moved(const struct pooling *x, pid_t via, pid_t tid, const char *token)
{
	return standstill_moved(x->in->w, via, tid, token);
}

/* True if every part of the pool has stood still since it was read, so that what was read is of one moment. */
static bool all_stand(const struct pool *p)
{
	for (size_t i = 0; i < p->n_members; i++)
		if (!p->of[i] || !p->of[i]->still || moved(p->x, p->of[i]->pid, p->of[i]->pid, p->of[i]->token))
			return false;
	for (size_t i = 0; i < 2; i++) {
		const struct pooled_thread *o = i ? p->out : p->in;
		if (o && moved(p->x, p->x->v->via, o->tid, o->token))
			return false;
	}
	return p->n_members > 0;
}

/*
 * All workers wait for a task, one of them at the pipe, so that there is none in it, and the pool has none to hand out
 * and no result to take in.
 */
static void lost_tell(const struct pool *p, struct waitpool_found *ret)
{
	size_t waiting = p->n_in[PYPOOL_IDLE] + p->n_in[PYPOOL_READS];
	bool passes_on = !p->out || p->out->pool.busy || (p->in && p->in->pool.busy);
	char text[200];
	if (p->is_executor || waiting != p->n_members || passes_on || !all_stand(p))
		return;
	if (!p->in && p->x->n_unread)
		return; /* it is one of those that were not read */
	if (!p->in)
		TEXT_COPY(text, "the pool's thread that takes the results has ended");
	else if (p->n_in[PYPOOL_READS] == 0)
		TEXT_COPY(text, "all workers wait for their turn to take a task, which one that ended has kept");
	else if (p->n_renewed)
		TEXT_FORMAT(text, "no worker has the task: %zu of %zu replaced one that ended, and it ended with that",
			    p->n_renewed, p->n_members);
	else
		TEXT_COPY(text, "no worker has the task, all wait for one");
	hint_add(ret, p, WAITHINT_NOBODY, 0, 0, "", "");
	if (ret->n) {
		struct waithint *h = &ret->hint[ret->n - 1];
		TEXT_FORMAT(h->text, "%s; %s", p->t->text, text);
	}
}

/* True: a process of the earlier look that the process started after the pool began, and that is no more. */
static size_t ended_since(const struct pool *p, uint64_t began)
{
	size_t n = 0;
	const struct waitfacts *f = p->x->in->before;
	for (size_t i = 0; f && i < f->n_processes; i++) {
		const struct waitfact_process *k = &f->process[i];
		const struct waitfact_process *now = waitfacts_process(p->x->in->now, k->pid);
		bool same = now && now->start_ticks == k->start_ticks && now->state != 'Z';
		n += k->ppid == p->x->v->pid && k->start_ticks > began + 1 && !same;
	}
	return n;
}

/*
 * Two generations of workers have ended without a task: those with which the pool began, as none is left, and those of
 * the earlier look, which came after these. A second one that starts slowly is so not taken for endless.
 */
static void endless_tell(const struct pool *p, struct waitpool_found *ret)
{
	uint64_t began = began_ticks(p, p->out);
	size_t new = 0, ends = 0;
	for (size_t i = 0; i < p->n_members; i++) {
		const struct pooled_worker *k = p->of[i];
		new += !k || !waitfacts_process(p->x->in->before, k->pid);
		ends += k && k->worker.ends;
	}
	if (p->is_executor || began == 0 || p->n_members == 0 || new < p->n_members || ends || p->n_in[PYPOOL_HAS] ||
	    p->n_in[PYPOOL_READS] || ended_since(p, began) < p->n_members)
		return;
	hint_add(ret, p, WAITHINT_NOBODY, 0, 0, "", "");
	if (ret->n)
		TEXT_FORMAT(ret->hint[ret->n - 1].text,
			    "%s; its workers end before they take a task, and are made anew", p->t->text);
}

int waitpool_decide(const struct pooling *x, const struct pooled_thread *t, struct waitpool_found *ret)
{
	struct pool p = {.x = x, .t = t};
	bool found = true;
	int e = t->wait.of == PYPOOL_EXECUTOR ? executor_find(&p, &found) : pool_find(&p);
	if (e || !found)
		return MIN(e, 0);
	members_count(&p);
	holders_tell(&p, ret);
	if (ret->n == 0)
		threads_tell(&p, ret);
	if (ret->n == 0 && x->in->before)
		endless_tell(&p, ret);
	if (ret->n == 0)
		lost_tell(&p, ret);
	/* One that waits for a task would take it, so nobody else's doing holds it up. */
	if (ret->n || p.n_in[PYPOOL_IDLE] || p.n_in[PYPOOL_READS])
		return 0;
	members_tell(&p, PYPOOL_INITS, "runs the pool's initializer", ret);
	if (ret->n == 0)
		members_tell(&p, PYPOOL_STARTS, "has not begun to take tasks", ret);
	if (ret->n == 0)
		members_tell(&p, PYPOOL_HAS, "has another task, as all workers have", ret);
	return 0;
}
