#include "agent/hang/hangray.h"

#include <stdlib.h>
#include <string.h>

#include "agent/inspect/raylook.h"
#include "base/buf.h"
#include "sense/net/fdtarget.h"
#include "sense/proc/maps.h"

/* Processes in ray.get() whose time limit is read; of more it is not known. */
#define GETS_MOST 32

/* What each of Ray's processes was seen to wait for, beside what the model keeps. */
struct seen {
	size_t gets; /* processes in ray.get() */
	struct raylook look[RAYSTAND_PROCESSES]; /* of those whose waits count; owned */
	bool read[RAYSTAND_PROCESSES];
	uint64_t hash[RAYSTAND_PROCESSES];
};

/* The raylet of the job; NULL: it has none. ret_others: it has several. */
static const struct hangprocs_member *raylet_of(const struct hangprocs *procs, bool *ret_others)
{
	const struct hangprocs_member *found = NULL;
	for (size_t i = 0; i < procs->n_now; i++) {
		const struct hangprocs_member *m = &procs->now[i];
		if (m->state == 'Z' || strcmp(m->comm, "raylet") != 0)
			continue;
		*ret_others = found != NULL;
		found = m;
	}
	return found;
}

static bool places_read(const struct world *w, pid_t raylet, struct rayplaces *ret)
{
	char link[512], folder[256];
	struct fd_link kind;
	for (int fd = 1; fd <= 2; fd++) {
		cleanup(raylogs_done) struct raylogs logs = RAYLOGS_NONE;
		if (fd_link_read(w, raylet, fd, &kind, link, sizeof(link)) == 0 &&
		    rayplaces_folder(span_of(link), folder, sizeof(folder)))
			return raylogs_open(w, raylet, folder, &logs) == 0 && rayplaces_read(&logs, ret) == 0;
	}
	return false;
}

/* ---- processes ---- */

static const struct dump_process *process_dumped(const struct stackdump *d, pid_t pid)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->processes[i].pid == pid)
			return &d->processes[i];
	return NULL;
}

/* What it does in each of the dumps, and in the same place. */
static enum raystand_does does_in_all(const struct stackdump *const *dumps, size_t n, pid_t pid)
{
	enum raystand_does does = RAYSTAND_SOMETHING;
	for (size_t i = 0; i < n; i++) {
		const struct dump_process *p = process_dumped(dumps[i], pid);
		const enum raystand_does now = p ? raystand_does(p) : RAYSTAND_SOMETHING;
		if (i > 0 && now != does)
			return RAYSTAND_SOMETHING;
		does = now;
	}
	return does;
}

static bool awaits_call_in_all(const struct stackdump *const *dumps, size_t n, pid_t pid)
{
	bool awaits = n > 0;
	for (size_t i = 0; i < n && awaits; i++) {
		const struct dump_process *p = process_dumped(dumps[i], pid);
		awaits = p && raystand_awaits_call(p);
	}
	return awaits;
}

static bool uses_ray(const struct world *w, pid_t pid)
{
	cleanup(maps_done) struct maps m = {.n = 0};
	if (maps_read(w, pid, &m) != 0)
		return true; /* it cannot be told */
	for (size_t i = 0; i < m.n; i++)
		if (strstr(m.rows[i].path, "/ray/_raylet.so"))
			return true;
	return false;
}

/* ---- for whom a process waits ---- */

/* How many of its threads wait in ray.get() in each of the dumps; 0: not the same, or none. */
static size_t gets_in_all(const struct stackdump *const *dumps, size_t n, pid_t pid)
{
	size_t gets = 0;
	for (size_t i = 0; i < n; i++) {
		const struct dump_process *p = process_dumped(dumps[i], pid);
		const size_t now = p ? raystand_gets(p) : 0;
		if (now == 0 || (i > 0 && now != gets))
			return 0;
		gets = now;
	}
	return gets;
}

static void ray_process(struct raystand *s, const struct world *w, const struct hangprocs_member *m,
			const struct stackdump *const *dumps, size_t n_dumps, struct seen *seen)
{
	if (s->n == RAYSTAND_PROCESSES) {
		s->cut = true;
		return;
	}
	const size_t at = s->n++;
	struct raystand_process *p = &s->process[at];
	struct raylook *look = &seen->look[at];
	*p = (struct raystand_process){.pid = m->pid, .worker = m->who.role == ROLE_RAY_WORKER};
	p->does = does_in_all(dumps, n_dumps, m->pid);
	p->awaits_call = p->worker && awaits_call_in_all(dumps, n_dumps, m->pid);
	const size_t gets = gets_in_all(dumps, n_dumps, m->pid);
	if (gets == 0)
		return;
	raystand_place(process_dumped(dumps[n_dumps - 1], m->pid), p->place, sizeof(p->place));
	const bool read = ++seen->gets <= GETS_MOST && raylook_read(w, m->pid, look);
	if (p->does == RAYSTAND_GETS && !(read && look->endless))
		p->does = RAYSTAND_SOMETHING;
	if (!read || look->others || look->n != gets)
		return;
	seen->read[at] = true;
	seen->hash[at] = raylook_hash(look);
	p->is_actor = look->is_actor;
	p->actor = look->actor;
	p->runs = look->runs && !look->is_actor;
	p->task = look->task;
	p->calls = gets;
	p->waits = look->wait[0].get.wait;
}

/* What one thread waits for; of the tasks only those that a process runs. False: nothing is known of it. */
static bool wait_put(const struct raystand *s, const struct raycall_get *g, struct raystand_process *p)
{
	struct raycall_actor actor;
	if (!g->endless)
		return false;
	p->partly |= !g->whole;
	for (size_t i = 0; i < g->n_made; i++) {
		const bool known = raycall_task_actor(&g->made[i], &actor) || raystand_maker(s, &g->made[i]);
		if (!known)
			p->partly = true;
		else if (!raystand_await(p, &g->made[i]))
			return false;
	}
	return true;
}

static void ray_waits(struct raystand *s, const struct seen *seen)
{
	for (size_t i = 0; i < s->n; i++) {
		struct raystand_process *p = &s->process[i];
		bool known = seen->read[i];
		for (size_t k = 0; known && k < seen->look[i].n; k++)
			known = wait_put(s, &seen->look[i].wait[k].get, p);
		p->n_awaits = known ? p->n_awaits : 0;
	}
}

static void ray_processes(struct raystand *s, const struct world *w, const struct hangprocs *procs,
			  const struct stackdump *const *dumps, size_t n_dumps, struct seen *seen)
{
	for (size_t i = 0; i < procs->n_now; i++) {
		const struct hangprocs_member *m = &procs->now[i];
		if (m->state == 'Z' || m->who.role == ROLE_RAY_SYSTEM)
			continue;
		if (m->who.role == ROLE_RAY_WORKER || uses_ray(w, m->pid))
			ray_process(s, w, m, dumps, n_dumps, seen);
	}
}

/*
 * Those that seem to wait for each other are read once more: what each waited for and ran before all were read, and
 * still does afterwards, they all did at one instant.
 */
static void ray_confirm(struct raystand *s, const struct world *w, const struct seen *seen)
{
	bool changed = false;
	if (raystand_stuck(s) == 0)
		return;
	for (size_t i = 0; i < s->n; i++) {
		struct raystand_process *p = &s->process[i];
		struct raylook again = {.n = 0};
		if (!p->stuck)
			continue;
		const bool same = raylook_read(w, p->pid, &again) && !again.others && again.n == p->calls &&
				  raylook_hash(&again) == seen->hash[i];
		raylook_done(&again);
		if (same)
			continue;
		p->n_awaits = 0;
		changed = true;
	}
	if (changed)
		(void)raystand_stuck(s);
}

/* Their names cost a search, so they are read of those alone of whom something is told. */
static void stuck_name(struct raystand *s, const struct world *w)
{
	for (size_t i = 0; i < s->n; i++) {
		struct raystand_process *p = &s->process[i];
		if (p->stuck)
			raylook_name(w, p->pid, p->is_actor ? &p->actor : NULL, p->name, sizeof(p->name));
	}
}

static struct seen *seen_free(struct seen *seen)
{
	for (size_t i = 0; seen && i < RAYSTAND_PROCESSES; i++)
		raylook_done(&seen->look[i]);
	free(seen);
	return NULL;
}

static void seen_freep(struct seen **seen)
{
	*seen = seen_free(*seen);
}

struct raystand *hangray_make(const struct world *w, const struct hangprocs *procs,
			      const struct stackdump *const *dumps, size_t n_dumps)
{
	bool others = false;
	const struct hangprocs_member *raylet = raylet_of(procs, &others);
	cleanup(freep) struct raystand *s = raylet && n_dumps > 0 ? calloc(1, sizeof(*s)) : NULL;
	cleanup(seen_freep) struct seen *seen = s ? calloc(1, sizeof(*seen)) : NULL;
	if (!seen)
		return NULL;
	if (!places_read(w, raylet->pid, &s->places) || !s->places.has_state)
		s->places = (struct rayplaces){.has_state = false};
	s->others = others;
	ray_processes(s, w, procs, dumps, n_dumps, seen);
	ray_waits(s, seen);
	ray_confirm(s, w, seen);
	stuck_name(s, w);
	return s->places.n_demands > 0 || seen->gets > 0 ? take(&s) : NULL;
}
