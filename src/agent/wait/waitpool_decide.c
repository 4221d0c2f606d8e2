/* Whom a thread waits for that waits for the result of a pool: by what workers and the pool's own threads do. */
#include <string.h>
#include <sys/wait.h>

#include "agent/wait/waitpool_parts.h"
#include "base/buf.h"
#include "base/text.h"
#include "sense/proc/proc.h"
#include "sense/rank.h"

/* What the pool of one wait is made of. */
struct pool {
	const struct pooling *x;
	const struct pooled_thread *t; /* who waits */
	const struct pooled_thread *out, *in; /* its own threads; NULL: not seen */
	bool is_executor;
	uint64_t job[PYPOOL_TASKS]; /* for which it waits */
	size_t n_jobs;
	struct pypool_member member[PYPOOL_MEMBERS];
	size_t n_members; /* 0: unknown */
	const struct pooled_worker *of[PYPOOL_MEMBERS]; /* the process of each member; NULL: not seen */
	size_t n_in[PYPOOL_HAS + 1]; /* members by what they do */
	bool unsure; /* a thread of some pool's own could not be read */
	size_t n_renewed; /* that began later than the pool's own threads: in place of others that ended */
};

/* NULL: there are enough. */
static struct waithint *hint_add(struct waitpool_found *ret, const struct pool *p, enum waithint_kind kind)
{
	if (ret->n == WAITPOOL_HINTS)
		return NULL;
	struct waithint *h = &ret->hint[ret->n++];
	*h = (struct waithint){.kind = kind, .pid = p->x->v->pid, .tid = p->t->tid, .rank = NO_RANK};
	h->lost = kind == WAITHINT_NOBODY;
	TEXT_COPY(h->text, p->t->text);
	return h;
}

static void owner_is(struct waithint *h, pid_t pid, pid_t tid, const char *text, const char *place)
{
	h->owner_pid = pid;
	h->owner_tid = tid;
	TEXT_FORMAT(h->owner_text, "%s%s", text, place);
}

static void worker_add(struct waitpool_found *ret, const struct pool *p, const struct pooled_worker *k,
		       const char *text)
{
	struct waithint *h = hint_add(ret, p, WAITHINT_OWNER);
	if (!h)
		return;
	owner_is(h, k->pid, k->pid, text, k->place);
	ret->runs[ret->n - 1] = !k->still;
}

static void own_add(struct waitpool_found *ret, const struct pool *p, const struct pooled_thread *o, const char *text)
{
	struct waithint *h = hint_add(ret, p, WAITHINT_OWNER);
	if (h)
		owner_is(h, p->x->v->pid, o->tid, text, o->place);
}

/* While some of them work, the others need not be what holds it up. either: any of them would do. */
static void narrow(struct waitpool_found *f, bool either)
{
	size_t n = 0, working = 0;
	for (size_t i = 0; i < f->n; i++)
		working += f->runs[i];
	for (size_t i = 0; i < f->n; i++)
		if (working == 0 || f->runs[i])
			f->hint[n++] = f->hint[i];
	f->n = n;
	for (size_t i = 0; i < n; i++)
		f->hint[i].one_of = either && n > 1;
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
	p->job[0] = p->t->wait.job;
	p->n_jobs = 1;
	for (size_t i = 0; i < p->x->n_own; i++) {
		const struct pooled_thread *o = &p->x->own[i];
		bool its_own = o->pool.role == PYPOOL_HANDS_OUT || o->pool.role == PYPOOL_TAKES_IN;
		p->unsure |= its_own && o->pool.cache == 0;
		if (!its_own || o->pool.cache != p->t->wait.cache)
			continue;
		if (o->pool.role == PYPOOL_HANDS_OUT)
			p->out = o;
		else
			p->in = o;
	}
	return pypool_members(&v->rt, &v->remote, &p->t->wait, p->member, &p->n_members);
}

/* *ret_found false: what is waited for is not of a process pool. */
static int executor_find(struct pool *p, bool *ret_found)
{
	struct procview *v = p->x->v;
	const struct pypool_wait *w = &p->t->wait;
	uint64_t future[PYPOOL_TASKS];
	size_t n = 0;
	*ret_found = false;
	p->is_executor = true;
	int e = w->any ? 0 : pypool_futures(&v->rt, &v->remote, w, future, &n);
	for (size_t i = 0; i < p->x->n_own && e == 0 && !*ret_found; i++) {
		const struct pooled_thread *o = &p->x->own[i];
		if (o->pool.role != PYPOOL_MANAGES)
			continue;
		if (!w->any)
			e = pypool_tasks(&v->rt, &v->remote, &o->pool, future, n, p->job, &p->n_jobs);
		*ret_found = w->any ? o->pool.pending == w->pending : p->n_jobs > 0;
		p->in = o;
	}
	if (e || !*ret_found)
		return e;
	return pypool_executor_members(&v->rt, &v->remote, &p->in->pool, p->member, &p->n_members);
}

/* ---- whom it is ---- */

static bool has_task(const struct pool *p, const struct pypool_worker *k)
{
	const struct pypool_wait *w = &p->t->wait;
	bool has = k->state == PYPOOL_HAS && k->of == w->of;
	for (size_t i = 0; has && !w->any && i < p->n_jobs; i++)
		if (k->job == p->job[i])
			return !w->in_turn || k->part == w->part;
	return has && w->any;
}

static bool is_member(const struct pool *p, const struct pooled_worker *k)
{
	for (size_t i = 0; i < p->n_members; i++)
		if (p->of[i] == k)
			return true;
	/* The numbers of an executor's tasks are its own, those of a Pool's the process's. */
	return p->n_members == 0 && !p->is_executor && !p->t->wait.any;
}

static void holders_tell(const struct pool *p, struct waitpool_found *ret)
{
	for (size_t i = 0; i < p->x->n_workers; i++) {
		const struct pooled_worker *k = &p->x->worker[i];
		if (has_task(p, &k->worker) && is_member(p, k))
			worker_add(ret, p, k, "has the task");
	}
	for (size_t i = 0; i < p->x->n_own; i++) {
		const struct pooled_thread *o = &p->x->own[i];
		if (has_task(p, &o->worker) && !p->t->wait.any)
			own_add(ret, p, o, "has the task");
	}
}

/* A thread of the pool's own that runs code of the program. */
static void threads_tell(const struct pool *p, struct waitpool_found *ret)
{
	if (p->in && p->in->pool.busy && p->in->pool.frame != SIZE_MAX)
		own_add(ret, p, p->in, "takes the results, and is");
	else if (p->out && p->out->pool.busy && p->out->pool.frame != SIZE_MAX)
		own_add(ret, p, p->out, "makes the tasks");
}

static void members_tell(const struct pool *p, enum pypool_state state, const char *text, struct waitpool_found *ret)
{
	for (size_t i = 0; i < p->n_members; i++)
		if (p->of[i] && p->of[i]->worker.state == state)
			worker_add(ret, p, p->of[i], text);
}

/* Those that wait for a task and cannot take it: one at the pipe keeps the others from it as well. */
static void held_tell(const struct pool *p, struct waitpool_found *ret)
{
	size_t held[PYPOOL_HAS + 1] = {0};
	for (size_t i = 0; i < p->n_members; i++)
		if (p->of[i] && p->of[i]->held)
			held[p->of[i]->worker.state]++;
	enum pypool_state state = held[PYPOOL_READS] ? PYPOOL_READS : PYPOOL_IDLE;
	if (held[state] == 0 || (state == PYPOOL_IDLE && (p->n_in[PYPOOL_READS] || held[state] < p->n_in[state])))
		return;
	for (size_t i = 0; i < p->n_members; i++)
		if (p->of[i] && p->of[i]->held && p->of[i]->worker.state == state)
			worker_add(ret, p, p->of[i], "should take the task");
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
		if (!p->of[i] || !p->of[i]->still || p->of[i]->held ||
		    moved(p->x, p->of[i]->pid, p->of[i]->pid, p->of[i]->token))
			return false;
	for (size_t i = 0; i < 2; i++) {
		const struct pooled_thread *o = i ? p->out : p->in;
		if (o && moved(p->x, p->x->v->via, o->tid, o->token))
			return false;
	}
	return p->n_members > 0;
}

/*
 * True if the thread that takes the results has ended: whatever the workers do, no result comes in. The pool keeps its
 * number, which is one of this pid namespace if that of the thread beside it is.
 */
static bool reader_ended(const struct pool *p)
{
	uint64_t out = 0, in = 0;
	struct proc_stat stat;
	struct procview *v = p->x->v;
	if (p->is_executor || !p->out || p->in)
		return false;
	if (!p->unsure && p->x->n_unread == 0) /* it begins last of the pool's own, and all threads were read */
		return true;
	if (pypool_handlers(&v->rt, &v->remote, &p->t->wait, &out, &in) != 0 || in == 0 || in > INT32_MAX)
		return false;
	return out == (uint64_t)p->out->tid && !waitfacts_thread(p->x->in->now, v->pid, (pid_t)in) &&
	       proc_stat_read(p->x->in->w, (pid_t)in, &stat) != 0;
}

static void reader_tell(const struct pool *p, struct waitpool_found *ret)
{
	struct waithint *h = reader_ended(p) ? hint_add(ret, p, WAITHINT_NOBODY) : NULL;
	if (h)
		TEXT_FORMAT(h->text, "%s; the pool's thread that takes the results has ended", p->t->text);
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
	if (!p->in)
		return; /* it is one of those that were not read */
	if (p->n_in[PYPOOL_READS] == 0)
		TEXT_COPY(text, "all workers wait for their turn to take a task, which one that ended has kept");
	else if (p->n_renewed)
		TEXT_FORMAT(text, "no worker has the task: %zu of %zu replaced one that ended, and it ended with that",
			    p->n_renewed, p->n_members);
	else
		TEXT_COPY(text, "no worker has the task, all wait for one");
	struct waithint *h = hint_add(ret, p, WAITHINT_NOBODY);
	if (h)
		TEXT_FORMAT(h->text, "%s; %s", p->t->text, text);
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

/* ": the last one left with status 1", of the youngest that has ended and was not waited for yet, or "". */
static const char *how_they_end(const struct pool *p, uint64_t began, char dst[static 48])
{
	const struct waitfact_process *last = NULL;
	const struct waitfacts *of[] = {p->x->in->before, p->x->in->now};
	for (size_t k = 0; k < ARRAY_SIZE(of); k++)
		for (size_t i = 0; i < of[k]->n_processes; i++) {
			const struct waitfact_process *c = &of[k]->process[i];
			if (c->ppid == p->x->v->pid && c->start_ticks > began + 1 && c->state == 'Z' && c->has_exit &&
			    (!last || c->start_ticks >= last->start_ticks))
				last = c;
		}
	dst[0] = '\0';
	if (last && WIFSIGNALED(last->exit_status))
		text_format(dst, 48, ": the last one was ended by signal %d", WTERMSIG(last->exit_status));
	else if (last)
		text_format(dst, 48, ": the last one left with status %d", WEXITSTATUS(last->exit_status));
	return dst;
}

/*
 * Two generations of workers have ended without a task: those with which the pool began, as none is left, and those of
 * the earlier look, which came after these. A second one that starts slowly is so not taken for endless.
 */
static void endless_tell(const struct pool *p, struct waitpool_found *ret)
{
	uint64_t began = began_ticks(p, p->out);
	size_t new = 0, ends = 0;
	char how[48];
	for (size_t i = 0; i < p->n_members; i++) {
		const struct pooled_worker *k = p->of[i];
		new += !k || !waitfacts_process(p->x->in->before, k->pid);
		ends += k && k->worker.ends;
	}
	if (p->is_executor || began == 0 || p->n_members == 0 || new < p->n_members || ends || p->n_in[PYPOOL_HAS] ||
	    p->n_in[PYPOOL_READS] || ended_since(p, began) < p->n_members)
		return;
	struct waithint *h = hint_add(ret, p, WAITHINT_NOBODY);
	if (h)
		TEXT_FORMAT(h->text, "%s; its workers end before they take a task, and are made anew%s", p->t->text,
			    how_they_end(p, began, how));
}

void waitpool_decide(const struct pooling *x, const struct pooled_thread *t, struct waitpool_found *ret)
{
	struct pool p = {.x = x, .t = t};
	bool found = true;
	int e = t->wait.of == PYPOOL_EXECUTOR ? executor_find(&p, &found) : pool_find(&p);
	if (e || !found)
		return;
	members_count(&p);
	reader_tell(&p, ret);
	if (ret->n == 0)
		holders_tell(&p, ret);
	bool either = t->wait.either;
	if (ret->n == 0)
		threads_tell(&p, ret);
	if (ret->n == 0)
		held_tell(&p, ret);
	if (ret->n == 0 && x->in->before && !t->wait.any)
		endless_tell(&p, ret);
	if (ret->n == 0 && !t->wait.any)
		lost_tell(&p, ret);
	/* One that waits for a task would take it, so nobody else's doing holds it up. */
	if (ret->n == 0 && !p.n_in[PYPOOL_IDLE] && !p.n_in[PYPOOL_READS]) {
		either = true;
		members_tell(&p, PYPOOL_INITS, "runs the pool's initializer", ret);
		if (ret->n == 0)
			members_tell(&p, PYPOOL_STARTS, "has not begun to take tasks", ret);
		if (ret->n == 0)
			members_tell(&p, PYPOOL_HAS, "has another task, as all workers have", ret);
	}
	narrow(ret, either);
}
