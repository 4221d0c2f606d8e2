/* Processes, threads and places of the looks, in words. */
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "judge/standstill/hang_ask.h"

const struct dump_process *hang_process_in(const struct stackdump *d, pid_t pid)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->processes[i].pid == pid)
			return &d->processes[i];
	return NULL;
}

const struct dump_thread *hang_thread_in(const struct stackdump *d, pid_t pid, pid_t tid)
{
	const struct dump_process *p = hang_process_in(d, pid);
	for (size_t i = 0; p && i < p->n_threads; i++)
		if (p->threads[i].tid == tid)
			return &p->threads[i];
	return NULL;
}

const struct stackdump *hang_newest(const struct hang_work *w)
{
	return w->c->dumps[MIN(w->c->n_dumps, HANG_DUMPS) - 1];
}

/* True when the thread was in this kind of wait in each dump. */
bool hang_all_along(const struct hang_work *w, pid_t pid, pid_t tid, enum wait_kind kind)
{
	for (size_t i = 0; i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct dump_thread *t = hang_thread_in(w->c->dumps[i], pid, tid);
		if (!t || t->wait.kind != kind)
			return false;
	}
	return true;
}

void hang_process_who(const struct dump_process *p, char *dst, size_t cap)
{
	if (p->rank == NO_RANK)
		text_format(dst, cap, "process %d (%s)", (int)p->pid, p->name);
	else
		text_format(dst, cap, "%s %d of rank %d", p->role[0] ? p->role : "process", (int)p->pid, p->rank);
}

bool hang_c_library(const char *module)
{
	static const char *const libraries[] = {"libc.so", "libc-", "libpthread", "ld-linux", "[vdso]"};
	for (size_t k = 0; k < ARRAY_SIZE(libraries); k++)
		if (module && strstr(module, libraries[k]))
			return true;
	return false;
}

/* The innermost frame that belongs to the program and not to the C library. */
static const struct dump_frame *own_frame(const struct dump_thread *t)
{
	for (size_t i = 0; i < t->n_frames; i++) {
		const struct dump_frame *f = &t->frames[i];
		bool foreign = f->kind != FRAME_NATIVE || strncmp(f->name, "0x", 2) == 0;
		if (!foreign && !hang_c_library(f->module))
			return f;
	}
	return NULL;
}

void hang_place(const struct hang_work *w, const struct dump_process *p, const struct dump_thread *t, char *dst,
		size_t cap)
{
	struct stackgroup_rank r = {.rank = p->rank, .process = p, .main = t, .acting = t};
	activity_of(t, &r.activity);
	/* The source line is known for the rank's main thread only. */
	if (!t->main || p->pid != (liveness_find(w->p, p->rank) ? liveness_find(w->p, p->rank)->seen.pid : p->pid))
		r.rank = INT32_MIN;
	const struct dump_frame *own = r.activity.user ? NULL : own_frame(t);
	if (!own) {
		hang_doing(w, &r, dst, cap);
		return;
	}
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	buf_printf(&b, "in %s", own->name);
	if (own->file && own->line > 0)
		buf_printf(&b, " at %s:%d", frame_file_short(own->file), own->line);
	else if (own->module)
		buf_printf(&b, " of %s", own->module);
}

const struct dump_frame *hang_own_top(const struct dump_thread *t)
{
	for (size_t i = 0; i < t->n_frames; i++) {
		const struct dump_frame *f = &t->frames[i];
		/* Where native frames are missing it may be in a library that it has called. */
		if (f->kind == FRAME_PYTHON)
			return t->note[0] ? NULL : f;
		if (t->has_python && f->module && !strstr(f->module, "python") && !hang_c_library(f->module))
			return NULL;
	}
	/*
	 * Of a program without Python only its own functions count: a library that computes for long is work. Giving
	 * the processor away is none.
	 */
	size_t at = t->n_frames > 1 && strstr(t->frames[0].name, "sched_yield") ? 1 : 0;
	bool own = at < t->n_frames && !t->has_python && t->frames[at].module && !strstr(t->frames[at].module, ".so");
	return own ? &t->frames[at] : NULL;
}

/* The acting thread of the rank at a look; NULL: it was not there. */
const struct dump_thread *hang_acting_at(const struct stackdump *d, const struct stackgroup_rank *r)
{
	for (size_t k = 0; k < d->n; k++)
		for (size_t t = 0; d->processes[k].pid == r->process->pid && t < d->processes[k].n_threads; t++)
			if (d->processes[k].threads[t].tid == r->acting->tid)
				return &d->processes[k].threads[t];
	return NULL;
}

/* The program's own function that the rank was in at a look; NULL: none. */
const struct dump_frame *hang_own_top_at(const struct stackdump *d, const struct stackgroup_rank *r)
{
	const struct dump_thread *t = hang_acting_at(d, r);
	return t ? hang_own_top(t) : NULL;
}
