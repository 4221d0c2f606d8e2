#include "agent/wait/waitray.h"

#include <stdlib.h>
#include <string.h>

#include "agent/inspect/raylook.h"
#include "base/buf.h"
#include "base/vec.h"
#include "sense/rank.h"

#define PROCESSES_MOST 128 /* workers and programs that are looked into */
#define ARROWS_MOST 16 /* of one thread */

struct party {
	pid_t pid;
	struct raylook look;
	char name[96];
	bool named;
};

struct parties {
	struct party *of; /* owned */
	size_t n, cap;
	uint64_t until_ns; /* no name is searched after it */
	bool cut; /* there are more, or some could not be read */
};

static void parties_done(struct parties *p)
{
	for (size_t i = 0; i < p->n; i++)
		raylook_done(&p->of[i].look);
	free(p->of);
	*p = (struct parties){.n = 0};
}

/* Ray's own programs that are called so wait in no ray.get(). */
static bool is_called_ray(const struct waitfact_process *p)
{
	return strncmp(p->name, "ray::", 5) == 0;
}

static int party_add(const struct world *w, pid_t pid, struct parties *ret)
{
	struct raylook look;
	const bool read = raylook_read(w, pid, &look);
	const bool counts = read && (look.worker || look.n > 0);
	ret->cut |= !read;
	if (counts && vec_room(&ret->of, &ret->cap, ret->n + 1) < 0) {
		raylook_done(&look);
		return -ENOMEM;
	}
	if (!counts) {
		raylook_done(&look);
		return 0;
	}
	ret->of[ret->n++] = (struct party){.pid = pid, .look = look};
	return 0;
}

/* Workers, and main processes, which may be programs that use Ray. */
static int parties_read(const struct world *w, const struct waitfacts *facts, const struct waitgraph_who *who,
			size_t n_who, uint64_t until_ns, struct parties *ret)
{
	size_t looked = 0;
	for (size_t i = 0; i < n_who; i++) {
		const struct waitfact_process *p = waitfacts_process(facts, who[i].pid);
		if (!p || p->state == 'Z' || (!is_called_ray(p) && !who[i].main))
			continue;
		if (looked++ == PROCESSES_MOST || w->mono_ns() > until_ns) {
			ret->cut = true;
			return 0;
		}
		if (party_add(w, p->pid, ret) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Who runs this task, or is the actor whose call it is; NULL: nobody that was read. */
static struct party *maker_of(const struct parties *all, const struct raycall_task *t)
{
	struct raycall_actor actor;
	const bool call = raycall_task_actor(t, &actor);
	for (size_t i = 0; i < all->n; i++) {
		const struct raylook *l = &all->of[i].look;
		if (call ? l->is_actor && raycall_same_actor(&l->actor, &actor)
			 : l->runs && !l->is_actor && raycall_same_task(&l->task, t))
			return &all->of[i];
	}
	return NULL;
}

/* The thread that runs its calls: the main one, unless that has none and another one does. */
static pid_t working_thread(const struct party *p)
{
	return p->look.idle && p->look.working ? p->look.working : p->pid;
}

/* True: it has nothing to do, so that what it was called for is there, or on its way. */
static bool has_no_call(const struct party *p)
{
	return p->look.idle && !p->look.working;
}

static void maker_text(const struct world *w, uint64_t until_ns, struct party *p, bool runs, char *dst, size_t cap)
{
	if (!p->named && w->mono_ns() < until_ns)
		raylook_name(w, p->pid, p->look.is_actor ? &p->look.actor : NULL, p->name, sizeof(p->name));
	p->named = true;
	if (p->look.is_actor)
		text_format(dst, cap, "%s the actor%s%s", runs ? "runs this call of" : "is", p->name[0] ? " " : "",
			    p->name);
	else
		text_format(dst, cap, "runs the task%s%s", p->name[0] ? " " : "", p->name);
}

struct arrows {
	struct waithint hint[ARROWS_MOST];
	bool idle[ARROWS_MOST]; /* whoever it leads to has no call */
	size_t n, busy;
	size_t unknown; /* results of tasks that no process runs */
};

static void arrow_put(const struct world *w, uint64_t until_ns, struct arrows *a, const struct waithint *of,
		      struct party *maker, const struct raycall_task *t)
{
	const pid_t tid = working_thread(maker);
	for (size_t i = 0; i < a->n; i++)
		if (a->hint[i].owner_pid == maker->pid)
			return;
	if (a->n == ARROWS_MOST)
		return;
	const bool runs = maker->look.runs && raycall_same_task(&maker->look.task, t);
	struct waithint *h = &a->hint[a->n];
	*h = *of;
	h->owner_pid = maker->pid;
	h->owner_tid = tid;
	maker_text(w, until_ns, maker, runs, h->owner_text, sizeof(h->owner_text));
	a->idle[a->n++] = has_no_call(maker);
	a->busy += !has_no_call(maker);
}

/* Where somebody works on a result, an actor without a call is not whom it waits for. */
static void arrows_narrow(struct arrows *a, const struct raycall_get *g)
{
	size_t n = 0;
	for (size_t i = 0; i < a->n; i++)
		if (a->busy == 0 || !a->idle[i])
			a->hint[n++] = a->hint[i];
	a->n = n;
	for (size_t i = 0; i < n; i++)
		a->hint[i].one_of = n + a->unknown > 1 && g->wanted < g->n;
}

static void thread_arrows(const struct world *w, const struct parties *all, const struct party *p,
			  const struct raylook_wait *x, struct arrows *a)
{
	struct waithint of = {.kind = WAITHINT_RESULT, .pid = p->pid, .tid = x->tid, .rank = NO_RANK};
	const struct raycall_get *g = &x->get;
	struct raycall_actor actor;
	const char *call = x->awaits ? "await of a reference" : g->wait ? "ray.wait()" : "ray.get()";
	TEXT_FORMAT(of.text, "%s%s", call, x->place);
	a->n = a->busy = a->unknown = 0;
	for (size_t i = 0; i < g->n_made; i++) {
		struct party *maker = maker_of(all, &g->made[i]);
		a->unknown += !maker && !raycall_task_actor(&g->made[i], &actor);
		if (maker)
			arrow_put(w, all->until_ns, a, &of, maker, &g->made[i]);
	}
	arrows_narrow(a, g);
	for (size_t i = 0; i < a->n && x->awaits; i++)
		a->hint[i].one_of = p->look.n > 1; /* a loop goes on with any of them */
	if (a->n > 0 || (x->awaits && p->look.n > 1))
		return;
	if (a->unknown > 0 && !all->cut)
		TEXT_FORMAT(of.text, "%s%s, of %s that no worker of the job runs", call, x->place,
			    a->unknown == 1 ? "a task" : "tasks");
	a->hint[a->n++] = of;
}

static int hints_put(const struct world *w, const struct parties *all, struct waithint **hint, size_t *n_hints,
		     size_t *cap_hints)
{
	struct arrows a;
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->of[i].look.n; k++) {
			thread_arrows(w, all, &all->of[i], &all->of[i].look.wait[k], &a);
			if (vec_room(hint, cap_hints, *n_hints + a.n) < 0)
				return -ENOMEM;
			memcpy(*hint + *n_hints, a.hint, a.n * sizeof(*a.hint));
			*n_hints += a.n;
		}
	return 0;
}

int waitray_read(const struct world *w, const struct waitfacts *facts, const struct waitgraph_who *who, size_t n_who,
		 uint64_t until_ns, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	cleanup(parties_done) struct parties all = {.until_ns = until_ns};
	bool ray = false, raylet = false; /* without a raylet there are workers of its that are not looked at */
	for (size_t i = 0; i < facts->n_processes; i++) {
		const struct waitfact_process *p = &facts->process[i];
		ray |= p->wanted && is_called_ray(p);
		raylet |= p->wanted && strcmp(p->name, "raylet") == 0;
	}
	if (!ray)
		return 0;
	all.cut = !raylet;
	const int e = parties_read(w, facts, who, n_who, until_ns, &all);
	return e ? e : hints_put(w, &all, hint, n_hints, cap_hints);
}
