#include "model/ray/raystand.h"

#include <string.h>

#include "base/buf.h"
#include "model/hang/activity.h"

#define NEARLY 1e-6 /* amounts are counted in ten thousandths */

static const char worker_file[] = "/ray/_private/worker.py";

double raystand_amount(const struct rayplaces_set *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->of[i].name, name) == 0)
			return s->of[i].amount;
	return 0;
}

/* What lacks first of an amount of each kind; NULL: nothing. */
static const struct rayplaces_kind *lacks(const struct rayplaces_set *wanted, const struct rayplaces_set *there)
{
	for (size_t i = 0; i < wanted->n; i++)
		if (wanted->of[i].amount > raystand_amount(there, wanted->of[i].name) + NEARLY)
			return &wanted->of[i];
	return NULL;
}

/* True if it is known who has what is not free; parts of placement groups are in no list. */
static bool is_accounted(const struct rayplaces *p, const char *kind)
{
	double held = 0;
	for (size_t i = 0; i < p->n_holders; i++)
		held += raystand_amount(&p->holder[i].has, kind);
	return p->groups || held + raystand_amount(&p->available, kind) + NEARLY >= raystand_amount(&p->total, kind);
}

enum raystand_lack raystand_lack(const struct rayplaces *p, const struct rayplaces_demand *d,
				 const struct rayplaces_kind **ret_kind)
{
	*ret_kind = NULL;
	if (d->all.cut || d->all.n == 0 || p->total.cut || p->available.cut || d->in_group)
		return RAYSTAND_UNKNOWN;
	if (d->apart && d->bundles > p->nodes)
		return RAYSTAND_TOO_LARGE;
	*ret_kind = lacks(&d->all, &p->total);
	if (*ret_kind)
		return RAYSTAND_TOO_LARGE;
	*ret_kind = lacks(&d->all, &p->available);
	if (*ret_kind && !is_accounted(p, (*ret_kind)->name))
		return RAYSTAND_UNKNOWN;
	return *ret_kind ? RAYSTAND_TAKEN : RAYSTAND_FITS;
}

/* ---- processes ---- */

/* The name with or without its class ("Worker.get_objects", as 3.11 and later have it). */
static bool frame_is(const struct dump_frame *f, const char *name, const char *file)
{
	const size_t n = strlen(name), len = f->name ? strlen(f->name) : 0;
	const bool same = len >= n && strcmp(f->name + len - n, name) == 0 && (len == n || f->name[len - n - 1] == '.');
	return f->kind == FRAME_PYTHON && same && f->file && strstr(f->file, file);
}

/* The innermost Python frame; NULL: none. */
static const struct dump_frame *raystand_innermost(const struct dump_thread *t)
{
	for (size_t i = 0; i < t->n_frames; i++)
		if (t->frames[i].kind == FRAME_PYTHON)
			return &t->frames[i];
	return NULL;
}

static bool is_in_get(const struct dump_thread *t)
{
	const struct dump_frame *f = raystand_innermost(t);
	return f && (frame_is(f, "get_objects", worker_file) || frame_is(f, "wait", worker_file));
}

/* Another thread that runs the program's own code, or an event loop, whose tasks may do anything. */
static bool may_act(const struct dump_thread *t)
{
	for (size_t i = 0; i < t->n_frames; i++)
		if (activity_is_user(&t->frames[i]) || frame_is(&t->frames[i], "run_forever", "/asyncio/"))
			return true;
	return false;
}

enum raystand_does raystand_does(const struct dump_process *p)
{
	const struct dump_thread *main = p->n_threads > 0 && p->threads[0].main ? &p->threads[0] : NULL;
	const struct dump_frame *f = main ? raystand_innermost(main) : NULL;
	if (!f || p->denied || p->stands)
		return RAYSTAND_SOMETHING;
	for (size_t i = 1; i < p->n_threads; i++)
		if (may_act(&p->threads[i]))
			return RAYSTAND_SOMETHING;
	if (frame_is(f, "main_loop", worker_file))
		return RAYSTAND_IDLE;
	return is_in_get(main) ? RAYSTAND_GETS : RAYSTAND_SOMETHING;
}

/* An event loop that waits for nothing but to be woken: by one descriptor, its own, and without a time limit. */
static bool is_resting_loop(const struct dump_thread *t)
{
	const struct dump_frame *f = raystand_innermost(t);
	return f && frame_is(f, "select", "/selectors.py") && strcmp(t->syscall, "epoll_wait") == 0 &&
	       (int32_t)t->wait.arg[3] == -1 && strstr(t->wait.text, "of 1 descriptor");
}

bool raystand_awaits_call(const struct dump_process *p)
{
	const struct dump_thread *main = p->n_threads > 0 && p->threads[0].main ? &p->threads[0] : NULL;
	const struct dump_frame *f = main ? raystand_innermost(main) : NULL;
	size_t loops = 0;
	if (!f || p->denied || p->stands || p->tasks_cut || !frame_is(f, "main_loop", worker_file))
		return false;
	for (size_t i = 1; i < p->n_threads; i++) {
		const struct dump_thread *t = &p->threads[i];
		if (is_resting_loop(t))
			loops++;
		else if (may_act(t) || (t->has_python && t->wait.kind != WAIT_LOCK))
			return false;
	}
	for (size_t i = 0; i < p->n_tasks; i++) {
		const struct dump_task *t = &p->tasks[i];
		if (t->ready || t->moved || t->timed || t->fd >= 0 || strstr(t->awaits, "pool"))
			return false;
	}
	return loops > 0;
}

size_t raystand_gets(const struct dump_process *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_threads; i++)
		n += is_in_get(&p->threads[i]);
	return n;
}

void raystand_place(const struct dump_process *p, char *dst, size_t cap)
{
	const struct dump_thread *t = NULL;
	text_copy(dst, cap, "");
	for (size_t i = 0; !t && i < p->n_threads; i++)
		t = is_in_get(&p->threads[i]) ? &p->threads[i] : NULL;
	for (size_t i = 0; t && i < t->n_frames; i++) {
		const struct dump_frame *f = &t->frames[i];
		if (!activity_is_user(f))
			continue;
		text_format(dst, cap, "%s:%d in %s", frame_file_short(f->file), f->line, f->name);
		return;
	}
}

const struct raystand_process *raystand_find(const struct raystand *s, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->process[i].pid == pid)
			return &s->process[i];
	return NULL;
}

/* ---- who waits for whom ---- */

bool raystand_await(struct raystand_process *p, const struct raycall_task *maker)
{
	struct raycall_actor actor;
	struct raycall_task m = *maker;
	if (raycall_task_actor(maker, &actor))
		memset(m.id, 0, sizeof(m.id) - sizeof(actor.id));
	for (size_t i = 0; i < p->n_awaits; i++)
		if (raycall_same_task(&p->awaits[i], &m))
			return true;
	if (p->n_awaits == RAYSTAND_AWAITS)
		return false;
	p->awaits[p->n_awaits++] = m;
	return true;
}

const struct raystand_process *raystand_maker(const struct raystand *s, const struct raycall_task *maker)
{
	const struct raystand_process *found = NULL;
	struct raycall_actor actor;
	const bool call = raycall_task_actor(maker, &actor);
	for (size_t i = 0; i < s->n; i++) {
		const struct raystand_process *p = &s->process[i];
		const bool is = call ? p->is_actor && raycall_same_actor(&p->actor, &actor)
				     : p->runs && raycall_same_task(&p->task, maker);
		if (!is)
			continue;
		if (found)
			return NULL;
		found = p;
	}
	return found;
}

const struct raystand_process *raystand_next(const struct raystand *s, const struct raystand_process *p)
{
	for (size_t i = 0; i < p->n_awaits; i++) {
		const struct raystand_process *other = raystand_maker(s, &p->awaits[i]);
		if (other && other->stuck)
			return other;
	}
	return NULL;
}

/* What a task that runs makes is not there yet, so that a thread in ray.get() waits for it, whatever else it wants. */
static bool gets_from_stuck(const struct raystand *s, const struct raystand_process *p)
{
	for (size_t i = 0; i < p->n_awaits && !p->waits && p->calls <= 1; i++) {
		const struct raystand_process *other = raystand_maker(s, &p->awaits[i]);
		if (other && other->stuck && !other->is_actor)
			return true;
	}
	return false;
}

bool raystand_awaits_stuck(const struct raystand *s, const struct raystand_process *p)
{
	if (gets_from_stuck(s, p))
		return true;
	for (size_t i = 0; i < p->n_awaits; i++) {
		const struct raystand_process *other = raystand_maker(s, &p->awaits[i]);
		if (!other || !other->stuck)
			return false;
	}
	return p->n_awaits > 0 && !p->partly;
}

size_t raystand_stuck(struct raystand *s)
{
	size_t n = 0, before;
	for (size_t i = 0; i < s->n; i++) {
		struct raystand_process *p = &s->process[i];
		p->stuck = (p->is_actor || p->runs) && p->n_awaits > 0;
		n += p->stuck;
	}
	do {
		before = n;
		for (size_t i = 0; i < s->n; i++) {
			struct raystand_process *p = &s->process[i];
			if (!p->stuck || raystand_awaits_stuck(s, p))
				continue;
			p->stuck = false;
			n--;
		}
	} while (n < before);
	return n;
}
