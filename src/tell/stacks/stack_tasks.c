#include "tell/stacks/stack_tasks.h"

#include <string.h>

#include "tell/stacks/stack_show_parts.h"
#include "tell/text/textout.h"

#define NAMES_SHOWN 8

static bool stands_alike(const struct dump_task *a, const struct dump_task *b)
{
	if (a->tid != b->tid || a->ready != b->ready || a->moved != b->moved || a->n_frames != b->n_frames ||
	    a->n_by != b->n_by || strcmp(a->awaits, b->awaits) != 0)
		return false;
	for (size_t i = 0; i < a->n_by; i++)
		if (a->by[i] != b->by[i])
			return false;
	for (size_t i = 0; i < a->n_frames; i++)
		if (!stack_same_frame(&a->frames[i], &b->frames[i]))
			return false;
	return true;
}

static void quoted(const char *name, FILE *to)
{
	(void)fputc('"', to);
	textout_put(to, name);
	(void)fputc('"', to);
}

static void task_head(const struct dump_process *p, const struct dump_task *t, const struct stack_show *how, FILE *to)
{
	(void)fprintf(to, "    %sasyncio task%s ", stack_shade(how, "\033[36m"), stack_shade(how, "\033[0m"));
	quoted(t->name, to);
	if (t->moved)
		(void)fputs(" changed while it was read", to);
	else if (t->ready)
		(void)fputs(" is about to run, or runs", to);
	if (t->awaits[0]) {
		(void)fputs(" awaits ", to);
		textout_put(to, t->awaits);
	}
	if (t->timed)
		(void)fputs(", with a time limit", to);
	for (size_t i = 0; i < t->n_by && i < NAMES_SHOWN; i++) {
		(void)fputs(i ? ", " : "; awaited by ", to);
		quoted(p->tasks[t->by[i]].name, to);
	}
	if (t->n_by > NAMES_SHOWN)
		(void)fprintf(to, " and %zu more", t->n_by - NAMES_SHOWN);
	(void)fputc('\n', to);
}

/* Marks the tasks that stand like this one, and names them. */
static void alike_text(const struct dump_process *p, size_t at, bool *done, FILE *to)
{
	size_t n = 0;
	for (size_t i = at + 1; i < p->n_tasks; i++) {
		if (done[i] || !stands_alike(&p->tasks[at], &p->tasks[i]))
			continue;
		done[i] = true;
		if (n < NAMES_SHOWN) {
			(void)fputs(n ? ", " : "    the same: ", to);
			quoted(p->tasks[i].name, to);
		}
		n++;
	}
	if (n > NAMES_SHOWN)
		(void)fprintf(to, " and %zu more", n - NAMES_SHOWN);
	if (n)
		(void)fprintf(to, " (%zu tasks)\n", n + 1);
}

void stack_tasks_text(const struct dump_process *p, pid_t tid, const struct stack_show *how, FILE *to)
{
	cleanup(freep) bool *done = calloc(p->n_tasks + 1, sizeof(*done));
	for (size_t i = 0; done && i < p->n_tasks; i++) {
		const struct dump_task *t = &p->tasks[i];
		if (done[i] || t->tid != tid)
			continue;
		task_head(p, t, how, to);
		if (!how->all_threads)
			alike_text(p, i, done, to);
		for (size_t k = 0; k < t->n_frames; k++)
			stack_frame_text(&t->frames[k], how, to);
	}
}

/* ---- JSON ---- */

static struct js *task_json(const struct dump_process *p, size_t at)
{
	const struct dump_task *t = &p->tasks[at];
	struct js *j = js_object(), *by = js_array(), *frames = js_array();
	js_put_u64(j, "id", at);
	js_put_text(j, "name", t->name);
	if (t->tid)
		js_put_i64(j, "tid", t->tid);
	js_put_text(j, "state", t->moved ? "unknown" : t->ready ? "ready" : "waits");
	js_put_text_if(j, "awaits", t->awaits);
	if (t->fd >= 0)
		js_put_i64(j, "fd", t->fd);
	js_put_bool(j, "timed", t->timed);
	for (size_t i = 0; i < t->n_by; i++) {
		struct js *one = js_object();
		js_put_u64(one, "id", t->by[i]);
		js_put_text(one, "name", p->tasks[t->by[i]].name);
		js_add(by, one);
	}
	js_put(j, "awaited_by", by);
	for (size_t i = 0; i < t->n_frames; i++)
		js_add(frames, stack_frame_json(&t->frames[i]));
	js_put(j, "frames", frames);
	return j;
}

struct js *stack_tasks_json(const struct dump_process *p)
{
	struct js *a = js_array();
	for (size_t i = 0; i < p->n_tasks; i++)
		js_add(a, task_json(p, i));
	return a;
}
