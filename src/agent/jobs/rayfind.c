#include "agent/jobs/rayfind.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/inspect/raylook.h"
#include "model/jobs/raytitle.h"
#include "sense/proc/proc.h"
#include "sense/proc/tasks.h"

#define TASKS_CAP 65536
#define ENVIRON_CAP (128 * 1024)
#define DEPTH_MOST 64 /* of a worker below its job */

/* Time for the names that programs gave their actors. */
#define NAMES_MOST_NS (5 * NS_PER_S)

/* The command of a worker, which a fork of it keeps: of these only the first is meant. */
static bool title_command(const struct world *w, const struct task_row *t, char *dst, size_t cap)
{
	return t && span_starts(span_of(t->comm), "ray::") && proc_command_read(w, t->pid, dst, cap) == 0;
}

static bool may_be_meant(const struct world *w, pid_t pid)
{
	struct proc_status s;
	uid_t me = geteuid();
	return proc_status_read(w, pid, &s) == 0 && (me == 0 || s.uid == me);
}

struct search {
	const struct world *w;
	const char *name;
	const struct rayfind_job *jobs;
	size_t n_jobs;
	struct tasks all;
	char *environ;
	struct rayfind *here, *anywhere;
};

/* By its environment, or by what it descends from. */
static bool in_a_job(const struct search *s, const struct task_row *t)
{
	size_t len = 0;
	struct span id = {NULL, 0};
	if (proc_environ_read(s->w, t->pid, s->environ, ENVIRON_CAP, &len) == 0)
		id = environ_get((struct span){s->environ, len}, "VIGIL_JOB_ID");
	for (size_t k = 0; id.p && k < s->n_jobs; k++)
		if (span_eq(id, s->jobs[k].id))
			return true;
	for (size_t depth = 0; t && depth < DEPTH_MOST; depth++) {
		for (size_t k = 0; k < s->n_jobs; k++)
			if (s->jobs[k].pid == t->pid)
				return true;
		t = t->ppid > 1 ? tasks_find(&s->all, t->ppid) : NULL;
	}
	return false;
}

static void found_add(struct rayfind *f, pid_t pid, struct span title)
{
	f->n_all++;
	if (f->n == RAYFIND_MOST)
		return;
	f->of[f->n].pid = pid;
	span_copy(title, f->of[f->n].title, sizeof(f->of[0].title));
	f->n++;
}

static void offer(struct search *s, const struct task_row *t)
{
	char command[512], above[512];
	struct raytitle title;
	if (!title_command(s->w, t, command, sizeof(command)) || !raytitle_is(span_of(command), s->name) ||
	    !raytitle_of(span_of(command), &title) || !may_be_meant(s->w, t->pid))
		return;
	if (title_command(s->w, tasks_find(&s->all, t->ppid), above, sizeof(above)) &&
	    raytitle_is(span_of(above), s->name))
		return;
	found_add(s->anywhere, t->pid, title.name);
	if (s->n_jobs > 0 && in_a_job(s, t))
		found_add(s->here, t->pid, title.name);
}

/* An actor whose program has given it that name. */
static void offer_named(struct search *s, const struct task_row *t)
{
	char command[512], given[RAYHANDLE_NAME];
	struct raytitle title;
	if (!title_command(s->w, t, command, sizeof(command)) || !raytitle_of(span_of(command), &title) || title.idle ||
	    !may_be_meant(s->w, t->pid))
		return;
	raylook_given_name(s->w, t->pid, given);
	if (strcmp(given, s->name) != 0)
		return;
	found_add(s->anywhere, t->pid, title.name);
	if (s->n_jobs > 0 && in_a_job(s, t))
		found_add(s->here, t->pid, title.name);
}

static void search_names(struct search *s)
{
	const uint64_t until_ns = s->w->mono_ns() + NAMES_MOST_NS;
	for (size_t i = 0; i < s->all.n && s->name[0] && s->w->mono_ns() < until_ns; i++)
		offer_named(s, &s->all.rows[i]);
}

int rayfind(const struct world *w, const char *name, const struct rayfind_job *jobs, size_t n_jobs, struct rayfind *ret)
{
	struct rayfind here = {.n = 0}, anywhere = {.n = 0};
	cleanup(freep) char *block = malloc(ENVIRON_CAP);
	struct search s = {.w = w,
			   .name = name,
			   .jobs = jobs,
			   .n_jobs = n_jobs,
			   .environ = block,
			   .here = &here,
			   .anywhere = &anywhere};
	int r = block ? tasks_init(&s.all, TASKS_CAP, -1) : -ENOMEM;
	if (r)
		return r;
	r = tasks_scan(&s.all, w);
	for (size_t i = 0; r == 0 && i < s.all.n; i++)
		offer(&s, &s.all.rows[i]);
	if (r == 0 && anywhere.n == 0)
		search_names(&s);
	tasks_done(&s.all);
	if (r == 0)
		*ret = here.n > 0 ? here : anywhere;
	return r < 0 ? r : r > 0 ? -ENOENT : 0;
}
