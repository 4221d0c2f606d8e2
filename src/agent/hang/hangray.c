#include "agent/hang/hangray.h"

#include <stdlib.h>
#include <string.h>

#include "agent/inspect/procview.h"
#include "base/buf.h"
#include "sense/net/fdtarget.h"
#include "sense/proc/maps.h"
#include "sense/pylib/raycall.h"

/* Processes in ray.get() whose time limit is read; of more it is not known. */
#define GETS_MOST 32

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

/* True if its main thread waits in ray.get() without a time limit. */
static bool gets_endlessly(const struct world *w, pid_t pid)
{
	static const struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *view = NULL;
	const struct pythread *list, *main;
	struct procview_sample sample;
	struct raycall_get get;
	struct fault f;
	size_t n;
	if (procview_open(w, pid, &want, &view, &f) != 0 || !view->has_python ||
	    procview_python_threads(view, &list, &n) != 0)
		return false;
	main = procview_python_thread(list, n, pid);
	return main && procview_sample(view, pid, main, PROCVIEW_WAITS, &sample) == 0 && sample.has_python &&
	       sample.python_result == 0 &&
	       raycall_get_read(&view->rt, &view->remote, sample.python.frames, sample.python.n, &get) == 0 &&
	       get.endless;
}

static void ray_process(struct raystand *s, const struct world *w, const struct hangprocs_member *m,
			const struct stackdump *const *dumps, size_t n_dumps, size_t *gets)
{
	if (s->n == RAYSTAND_PROCESSES) {
		s->cut = true;
		return;
	}
	struct raystand_process *p = &s->process[s->n++];
	*p = (struct raystand_process){.pid = m->pid, .worker = m->who.role == ROLE_RAY_WORKER};
	p->does = does_in_all(dumps, n_dumps, m->pid);
	if (p->does != RAYSTAND_GETS)
		return;
	raystand_place(process_dumped(dumps[n_dumps - 1], m->pid), p->place, sizeof(p->place));
	if (++*gets > GETS_MOST || !gets_endlessly(w, m->pid))
		p->does = RAYSTAND_SOMETHING;
}

static void ray_processes(struct raystand *s, const struct world *w, const struct hangprocs *procs,
			  const struct stackdump *const *dumps, size_t n_dumps)
{
	size_t gets = 0;
	for (size_t i = 0; i < procs->n_now; i++) {
		const struct hangprocs_member *m = &procs->now[i];
		if (m->state == 'Z' || m->who.role == ROLE_RAY_SYSTEM)
			continue;
		if (m->who.role == ROLE_RAY_WORKER || uses_ray(w, m->pid))
			ray_process(s, w, m, dumps, n_dumps, &gets);
	}
}

struct raystand *hangray_make(const struct world *w, const struct hangprocs *procs,
			      const struct stackdump *const *dumps, size_t n_dumps)
{
	bool others = false;
	const struct hangprocs_member *raylet = raylet_of(procs, &others);
	cleanup(freep) struct raystand *s = raylet && n_dumps > 0 ? calloc(1, sizeof(*s)) : NULL;
	if (!s || !places_read(w, raylet->pid, &s->places) || !s->places.has_state || s->places.n_demands == 0)
		return NULL;
	s->others = others;
	ray_processes(s, w, procs, dumps, n_dumps);
	return take(&s);
}
