#include "model/stacks/stackdump.h"

void dump_frame_done(struct dump_frame *f)
{
	for (size_t i = 0; i < f->n_locals; i++) {
		free(f->locals[i].name);
		free(f->locals[i].value);
	}
	free(f->locals);
	free(f->name);
	free(f->file);
	free(f->module);
	*f = (struct dump_frame){0};
}

static void thread_done(struct dump_thread *t)
{
	for (size_t i = 0; i < t->n_frames; i++)
		dump_frame_done(&t->frames[i]);
	free(t->frames);
	t->frames = NULL;
	t->n_frames = 0;
}

static void task_done(struct dump_task *t)
{
	for (size_t i = 0; i < t->n_frames; i++)
		dump_frame_done(&t->frames[i]);
	free(t->frames);
	free(t->by);
	free(t->name);
}

static void dump_goroutines_done(struct dump_goroutines *g)
{
	for (size_t i = 0; i < g->n_frames; i++)
		dump_frame_done(&g->frames[i]);
	free(g->frames);
	free(g->ids);
}

void stackdump_done(struct stackdump *d)
{
	for (size_t i = 0; i < d->n; i++) {
		for (size_t k = 0; k < d->processes[i].n_threads; k++)
			thread_done(&d->processes[i].threads[k]);
		free(d->processes[i].threads);
		for (size_t k = 0; k < d->processes[i].n_tasks; k++)
			task_done(&d->processes[i].tasks[k]);
		free(d->processes[i].tasks);
		for (size_t k = 0; k < d->processes[i].n_goroutines; k++)
			dump_goroutines_done(&d->processes[i].goroutines[k]);
		free(d->processes[i].goroutines);
	}
	free(d->processes);
	*d = (struct stackdump){0};
}
