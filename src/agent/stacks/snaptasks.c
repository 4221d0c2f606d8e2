#include "agent/stacks/snaptasks.h"

#include <string.h>

#include "agent/inspect/pyasync.h"
#include "base/buf.h"
#include "base/mask/mask.h"

/* Most processes have no loop: then nothing is read. */
static bool has_loop(const struct dump_process *p)
{
	for (size_t i = 0; i < p->n_threads; i++)
		for (size_t k = 0; k < p->threads[i].n_frames; k++) {
			const struct dump_frame *f = &p->threads[i].frames[k];
			if (f->kind == FRAME_PYTHON && f->file && strstr(f->file, "/asyncio/base_events.py"))
				return true;
		}
	return false;
}

static int task_frames_fill(struct procview *v, const struct pytask *from, struct dump_task *to)
{
	if (from->n == 0)
		return 0;
	to->frames = calloc(from->n, sizeof(*to->frames));
	if (!to->frames)
		return -ENOMEM;
	for (size_t i = 0; i < from->n; i++) {
		const struct procview_frame f = {.python = true, .py = &from->frame[i]};
		struct frame text;
		procview_frame_text(v, &f, true, &text);
		struct dump_frame *one = &to->frames[to->n_frames++];
		*one = (struct dump_frame){.kind = text.kind, .line = text.line, .name = strdup(text.name)};
		one->file = text.file[0] ? strdup(text.file) : NULL;
		if (!one->name || (text.file[0] && !one->file))
			return -ENOMEM;
	}
	return 0;
}

static int awaited_by_fill(const struct pytasks *all, size_t at, struct dump_task *to)
{
	for (size_t i = 0; i < all->n_links; i++) {
		if (all->link[i].awaited != at)
			continue;
		if (!to->by)
			to->by = calloc(all->n_links, sizeof(*to->by));
		if (!to->by)
			return -ENOMEM;
		to->by[to->n_by++] = all->link[i].waiter;
	}
	return 0;
}

static int task_fill(struct procview *v, const struct pyasync *a, size_t at, struct dump_task *to)
{
	const struct pytask *t = &a->tasks.task[at];
	const struct pyasync_loop *loop = pyasync_loop_of(a, t);
	*to = (struct dump_task){
		.tid = loop ? loop->tid : 0, .ready = t->ready, .moved = t->moved, .timed = t->timed, .fd = t->fd};
	to->name = strdup(t->name);
	if (!to->name)
		return -ENOMEM;
	pyasync_awaits_text(a, at, to->awaits, sizeof(to->awaits));
	mask_text(to->name);
	mask_text(to->awaits);
	int e = task_frames_fill(v, t, to);
	return e ? e : awaited_by_fill(&a->tasks, at, to);
}

int snaptasks_fill(const struct world *w, struct procview *v, struct dump_process *p)
{
	cleanup(pyasync_done) struct pyasync a = {.n_loops = 0};
	int e = has_loop(p) ? pyasync_read(w, v, &a) : 0;
	if (e || a.tasks.n == 0)
		return e;
	p->tasks = calloc(a.tasks.n, sizeof(*p->tasks));
	if (!p->tasks)
		return -ENOMEM;
	p->tasks_cut = a.tasks.cut;
	for (size_t i = 0; i < a.tasks.n && e == 0; i++)
		e = task_fill(v, &a, i, &p->tasks[p->n_tasks++]);
	return e;
}
