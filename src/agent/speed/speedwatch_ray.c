/*
 * What the program of a Ray job waits for, and which of Ray's workers work. The program is not always of the job: of a
 * node that was adopted it is found by Ray's library in its memory, where the machine has one node only.
 */
#include <string.h>

#include "agent/inspect/raylook.h"
#include "agent/speed/speedwatch_parts.h"
#include "base/text.h"
#include "sense/pylib/raycall.h"
#include "sense/proc/maps.h"

/* Actors whose names are read, and the processors that such a one used. */
#define NAMED_MOST 4
#define NAMED_LEAST 0.05
#define LOOK_NS (50 * NS_PER_MS)
/* Processes whose maps are searched for Ray's library. */
#define SEARCHED_MOST 64

static bool takes_part(enum role r)
{
	return r != ROLE_RAY_WORKER && r != ROLE_RAY_SYSTEM;
}

static bool has_ray(const struct world *w, pid_t pid)
{
	cleanup(maps_done) struct maps m = {.n = 0};
	if (maps_read(w, pid, &m) != 0)
		return false;
	for (size_t i = 0; i < m.n; i++)
		if (strstr(m.rows[i].path, "/ray/_raylet.so"))
			return true;
	return false;
}

/* The only raylet of this machine; NULL: there are others, or it is not of the job. */
static const struct task_row *raylet_alone(const struct speedwatch *s)
{
	const struct task_row *found = NULL;
	for (size_t i = 0; i < s->tasks.n; i++) {
		const struct task_row *t = &s->tasks.rows[i];
		if (strcmp(t->comm, "raylet") != 0)
			continue;
		if (found)
			return NULL;
		found = t;
	}
	return found && speedwatch_has(s->f, found->pid) ? found : NULL;
}

/* True for a program of that user that uses Ray and is none of the job's processes. */
static bool is_driver(const struct speedwatch *s, const struct task_row *t, uid_t uid)
{
	struct proc_status st;
	return strncmp(t->comm, "ray::", 5) != 0 && !speedwatch_has(s->f, t->pid) &&
	       proc_status_read(s->w, t->pid, &st) == 0 && st.uid == uid && has_ray(s->w, t->pid);
}

static void driver_open(struct speedwatch *s, pid_t pid)
{
	static const struct procview_want want = {.natives = NULL};
	struct procview *view = NULL;
	struct fault f;
	if (procview_open(s->w, pid, &want, &view, &f) != 0)
		return;
	if (!view->has_python) {
		ignore(procview_close(view), "freed");
		return;
	}
	s->ray.own[s->ray.n_drivers] = true;
	s->ray.driver[s->ray.n_drivers++] = view;
}

static void drivers_outside(struct speedwatch *s)
{
	const struct task_row *raylet = raylet_alone(s);
	struct proc_status st;
	size_t searched = 0;
	if (!raylet || proc_status_read(s->w, raylet->pid, &st) != 0)
		return;
	for (size_t i = 0; i < s->tasks.n && s->ray.n_drivers < SPEEDWATCH_DRIVERS && searched < SEARCHED_MOST; i++) {
		const struct task_row *t = &s->tasks.rows[i];
		/* its own programs, and small ones that cannot have it loaded */
		if (task_rss_bytes(t) < 20 * MIB || t->pid == getpid())
			continue;
		searched++;
		if (is_driver(s, t, st.uid))
			driver_open(s, t->pid);
	}
}

static size_t lead_of(const struct speedfacts *f, size_t process)
{
	for (size_t i = 0; i < f->n_threads; i++)
		if (f->thread[i].process == process && f->thread[i].lead)
			return i;
	return SIZE_MAX;
}

void speedwatch_ray_begin(struct speedwatch *s)
{
	struct speedwatch_ray *r = &s->ray;
	for (size_t i = 0; i < s->f->n_processes; i++) {
		if (s->f->process[i].role != ROLE_RAY_WORKER || !s->process[i].view)
			continue;
		s->f->ray.workers++;
		if (r->n_workers < SPEEDWATCH_RAY_WORKERS)
			r->worker[r->n_workers++] = (struct speedwatch_worker){.process = i, .lead = lead_of(s->f, i)};
	}
	if (r->n_workers == 0 || s->f->ray.workers > r->n_workers)
		return; /* who works beside those that are looked at is not known */
	for (size_t i = 0; i < s->f->n_processes && r->n_drivers < SPEEDWATCH_DRIVERS; i++)
		if (s->process[i].view && takes_part(s->f->process[i].role))
			r->driver[r->n_drivers++] = s->process[i].view;
	if (r->n_drivers == 0)
		drivers_outside(s);
}

bool speedwatch_frames(struct procview *view, enum procview_still still, struct procview_sample *ret)
{
	const struct pythread *list, *main;
	size_t n;
	if (procview_python_threads(view, &list, &n) != 0)
		return false;
	main = procview_python_thread(list, n, view->pid);
	return main && procview_sample(view, view->pid, main, still, ret) == 0 && ret->has_python &&
	       ret->python_result == 0;
}

/* The program that waits in ray.get(); false: none does. */
static bool get_look(struct speedwatch *s, struct raycall_get *ret)
{
	struct procview_sample sample;
	for (size_t i = 0; i < s->ray.n_drivers; i++) {
		struct procview *v = s->ray.driver[i];
		if (!speedwatch_frames(v, PROCVIEW_WAITS, &sample) ||
		    raycall_get_read(&v->rt, &v->remote, sample.python.frames, sample.python.n, ret) != 0 || ret->wait)
			continue;
		s->f->ray.driver = v->pid;
		return true;
	}
	return false;
}

/* What a worker does; a main thread that has not run since it was read does the same. False: it cannot be read. */
static bool work_read(struct speedwatch *s, struct speedwatch_worker *o)
{
	const struct speedwatch_thread *lead = o->lead == SIZE_MAX ? NULL : &s->thread[o->lead];
	struct procview_sample sample;
	if (o->has_work && lead && lead->letter && lead->letter != SPEED_RUN && lead->idle_since_ns <= o->read_ns)
		return true;
	o->has_work = speedwatch_frames(s->process[o->process].view, PROCVIEW_WAITS, &sample);
	if (!o->has_work)
		return false;
	o->work = raycall_work_of(sample.python.frames, sample.python.n);
	o->read_ns = s->sweep_ns;
	return true;
}

/* The one worker that works, and on what; NULL: none or several do. */
static const struct speed_process *alone(struct speedwatch *s, enum raycall_work *ret)
{
	const struct speed_process *who = NULL;
	for (size_t i = 0; i < s->ray.n_workers; i++) {
		struct speedwatch_worker *o = &s->ray.worker[i];
		if (s->process[o->process].gone || !work_read(s, o) || o->work == RAYCALL_NONE)
			continue;
		if (who)
			return NULL;
		who = &s->f->process[o->process];
		*ret = o->work;
	}
	return who;
}

static void single_count(struct speedwatch *s, const struct raycall_get *get, const struct speed_process *who,
			 enum raycall_work work)
{
	struct speed_ray *f = &s->f->ray;
	f->singles++;
	f->followed += s->ray.first && get->first && s->ray.first != get->first;
	s->ray.first = get->first;
	if (!who || work != RAYCALL_TASK)
		return;
	f->task_alone++;
	if (!f->task_name[0])
		raylook_name(s->w, who->pid, NULL, f->task_name, sizeof(f->task_name));
}

static void actor_name_read(struct speedwatch *s, pid_t pid)
{
	struct raylook l;
	const bool actor = raylook_read(s->w, pid, &l) && l.is_actor;
	raylook_name(s->w, pid, actor ? &l.actor : NULL, s->f->ray.actor_name, sizeof(s->f->ray.actor_name));
	raylook_done(&l);
}

/* Of the processes of Ray that have not been asked, the one that used most; SIZE_MAX: none did. */
static size_t busiest_unasked(const struct speedwatch *s, const bool *asked)
{
	size_t most = SIZE_MAX;
	double most_run = NAMED_LEAST;
	for (size_t i = 0; i < s->ray.n_workers; i++) {
		const size_t k = s->ray.worker[i].process;
		double run = 0;
		for (size_t t = 0; t < s->f->n_threads; t++)
			run += s->f->thread[t].process == k ? s->f->thread[t].run : 0;
		if (asked[i] || s->process[k].gone || run < most_run)
			continue;
		most_run = run;
		most = i;
	}
	return most;
}

void speedwatch_ray_names(struct speedwatch *s)
{
	bool asked[SPEEDWATCH_RAY_WORKERS] = {false};
	for (size_t n = 0; n < NAMED_MOST; n++) {
		const size_t i = busiest_unasked(s, asked);
		struct raylook l;
		if (i == SIZE_MAX)
			return;
		asked[i] = true;
		struct speed_process *p = &s->f->process[s->ray.worker[i].process];
		if (raylook_read(s->w, p->pid, &l) && l.is_actor)
			raylook_name(s->w, p->pid, &l.actor, p->called, sizeof(p->called));
		raylook_done(&l);
	}
}

static void several_count(struct speedwatch *s, const struct raycall_get *get, const struct speed_process *who,
			  enum raycall_work work)
{
	struct speed_ray *f = &s->f->ray;
	if (!who || work != RAYCALL_ACTOR || (f->actor && f->actor != who->pid))
		return;
	if (!f->actor) /* which of its methods runs is another one at each look */
		actor_name_read(s, who->pid);
	f->actor = who->pid;
	f->actor_alone++;
	s->ray.results += (double)get->n;
	f->results = s->ray.results / f->actor_alone;
}

void speedwatch_ray(struct speedwatch *s)
{
	struct speed_ray *f = &s->f->ray;
	enum raycall_work work = RAYCALL_NONE;
	struct raycall_get get;
	if (s->ray.n_drivers == 0 || s->sweep_ns < s->ray.looked_ns + LOOK_NS)
		return;
	s->ray.looked_ns = s->sweep_ns;
	f->looks++;
	if (!get_look(s, &get))
		return;
	f->waits++;
	const struct speed_process *who = alone(s, &work);
	if (get.n == 1)
		single_count(s, &get, who, work);
	else
		several_count(s, &get, who, work);
}

void speedwatch_ray_done(struct speedwatch *s)
{
	for (size_t i = 0; i < s->ray.n_drivers; i++)
		if (s->ray.own[i])
			s->ray.driver[i] = procview_close(s->ray.driver[i]);
}
