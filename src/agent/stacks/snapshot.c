#include "agent/stacks/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/inspect/procview.h"
#include "agent/stacks/snapgo.h"
#include "agent/stacks/snaptasks.h"
#include "base/buf.h"
#include "base/foreign.h"
#include "base/hash.h"
#include "base/mask/mask.h"
#include "base/vec.h"
#include "model/hang/activity.h"
#include "sense/proc/proc.h"
#include "sense/proc/procfile.h"
#include "sense/python/pylocals.h"
#include "sense/wait/kernelstack.h"
#include "sense/wait/threadlist.h"

#define SNAPSHOT_TASKS 65536
#define SNAPSHOT_COMMAND 200
/* So often is a thread looked at again that goes round in a call, and that long after each other. */
#define GLANCES 8
#define GLANCED_MOST 16 /* threads a snapshot */
#define GLANCE_NS (5 * 1000000)

struct snap {
	const struct world *w;
	const struct snapshot_want *want;
	struct natives *natives;
	uint64_t begin_ns;
	uint64_t end_ns; /* end of the budget; UINT64_MAX: none */
	struct stackdump *d;
	size_t cap;
	size_t denied, n_glanced;
	struct fault first_denied;
};

static bool over(const struct snap *s)
{
	if (s->want->progress)
		(void)atomic_fetch_add(s->want->progress, 1);
	return (s->want->stop && *s->want->stop) || s->w->mono_ns() >= s->end_ns;
}

static int locals_of(struct procview *l, const struct pyframe *py, bool unmasked, struct dump_frame *to)
{
	struct pylocals locals = {.n = 0};
	if (pylocals_read(&l->rt, &l->remote, py->addr, py->code, &locals) != 0)
		return 0; /* The frame has returned by now; values of another moment would mislead. */
	to->locals = calloc(locals.n ? locals.n : 1, sizeof(*to->locals));
	if (!to->locals) {
		pylocals_done(&locals);
		return -ENOMEM;
	}
	for (size_t i = 0; i < locals.n; i++) {
		if (!unmasked)
			mask_value(locals.items[i].name, locals.items[i].value);
		to->locals[i] = (struct dump_local){.name = take(&locals.items[i].name),
						    .value = take(&locals.items[i].value),
						    .is_arg = locals.items[i].is_arg};
		to->n_locals++;
	}
	pylocals_done(&locals);
	return 0;
}

/*
 * True of a number that is a time of one of the clocks, as programs keep when a wait of theirs began, or is to end. A
 * whole number of the monotonic one is none: seconds since the machine began may be a port, or a size.
 */
static bool is_near_now(const struct world *w, const char *text)
{
	static const double past_s = 600, future_s = 3600, per_second[] = {1, 1e3, 1e6, 1e9};
	const double clock_s[] = {(double)w->unix_ms() / 1e3, (double)w->mono_ns() / 1e9};
	const size_t n_clocks = strchr(text, '.') ? 2 : 1;
	char *end;
	const double x = strtod(text, &end);
	if (end == text || *end)
		return false;
	for (size_t i = 0; i < n_clocks; i++)
		for (size_t k = 0; k < ARRAY_SIZE(per_second); k++)
			if (x / per_second[k] > clock_s[i] - past_s && x / per_second[k] < clock_s[i] + future_s)
				return true;
	return false;
}

struct variables {
	const struct pyframe *of;
	uint64_t hash; /* 0: it has returned by now, or has none of its own: those of a module are not read */
	bool clocked;
};

static void variables_read(struct procview *l, const struct world *w, const struct pyframe *py, struct variables *ret)
{
	cleanup(pylocals_done) struct pylocals locals = {.n = 0};
	*ret = (struct variables){.of = py};
	if (pylocals_read(&l->rt, &l->remote, py->addr, py->code, &locals) != 0 || locals.n == 0)
		return;
	uint64_t h = HASH_START;
	for (size_t i = 0; i < locals.n; i++) {
		h = hash_bytes(h, locals.items[i].name, strlen(locals.items[i].name));
		h = hash_bytes(h, locals.items[i].value, strlen(locals.items[i].value));
		ret->clocked |= is_near_now(w, locals.items[i].value);
	}
	ret->hash = h ? h : 1;
}

/*
 * The function whose variables say whether a thread goes round in a loop that only looks: the innermost one, of a main
 * thread that waits within a limit by Python's own threading the one that has called that. NULL: none.
 */
static const struct pyframe *looping_function(const struct procview_sample *sample, const struct dump_thread *t,
					      pid_t pid)
{
	const struct pyframe *f = sample->python.frames;
	size_t i = 0;
	if (t->wait.kind == WAIT_RUNNING || t->wait.kind == WAIT_SLEEP)
		return f;
	if (t->wait.kind != WAIT_LOCK || t->tid != pid)
		return NULL;
	while (i < sample->python.n && f[i].known && strstr(f[i].known->file, "/threading.py"))
		i++;
	return i > 0 && i < sample->python.n ? &f[i] : NULL;
}

static int frame_add(struct snap *s, struct procview *l, const struct procview_frame *f, struct dump_frame *to)
{
	struct frame text;
	procview_frame_text(l, f, s->want->lines, &text);
	*to = (struct dump_frame){
		.kind = text.kind, .line = text.line, .interp_id = f->interp_id, .name = strdup(text.name)};
	to->file = text.file[0] ? strdup(text.file) : NULL;
	to->module = text.module[0] ? strdup(text.module) : NULL;
	if (!to->name || (text.file[0] && !to->file) || (text.module[0] && !to->module))
		return -ENOMEM;
	return f->python && s->want->locals ? locals_of(l, f->py, s->want->unmasked, to) : 0;
}

static enum dump_gil gil_of(enum pygil g)
{
	switch (g) {
	case PYGIL_HOLDS:
		return DUMP_GIL_HOLDS;
	case PYGIL_WAITS:
		return DUMP_GIL_WAITS;
	case PYGIL_NOT:
		return DUMP_GIL_NOT;
	default:
		return DUMP_GIL_UNKNOWN;
	}
}

static void thread_note(const struct procview *l, const struct procview_sample *sample, struct dump_thread *t)
{
	if (sample->python_result == PYSTACK_TORN)
		TEXT_COPY(t->note, "its Python frames changed faster than they could be read");
	else if (sample->python_result != 0)
		TEXT_COPY(t->note, "its Python frames could not be read");
	else if (l->stopper && sample->native_result == STOPPER_BUSY)
		TEXT_COPY(t->note, "no native frames: another program traces it");
	else if (l->stopper && sample->native_result == STOPPER_STUCK)
		TEXT_COPY(t->note, "no native frames: it does not stop (it is stuck in the kernel, or starting)");
	else if (l->stopper && sample->native_result != 0)
		TEXT_COPY(t->note, "no native frames: it may not be stopped");
}

/* The frames in the kernel come before all others. */
static int kernel_frames_add(const struct kernelstack *k, struct dump_thread *t)
{
	for (size_t i = 0; i < k->n; i++) {
		struct dump_frame *f = &t->frames[t->n_frames++];
		*f = (struct dump_frame){.kind = FRAME_KERNEL, .name = strdup(k->frame[i].name)};
		f->module = strdup(k->frame[i].module[0] ? k->frame[i].module : "kernel");
		if (!f->name || !f->module)
			return -ENOMEM;
	}
	return 0;
}

/* Read before the thread may be stopped for its other frames. */
static void kernel_read(const struct snap *s, const struct procview *l, struct dump_thread *t, struct kernelstack *ret)
{
	ret->n = 0;
	if (!s->want->kernel || t->wait.kind == WAIT_RUNNING)
		return;
	int r = kernelstack_read(s->w, l->pid, t->tid, ret);
	if (r == WORLD_DENIED)
		TEXT_COPY(t->note, "no kernel frames: reading them takes CAP_SYS_ADMIN");
	else if (r == WORLD_ABSENT)
		TEXT_COPY(t->note, "no kernel frames: this kernel does not show them");
}

static int frames_fill(struct snap *s, struct procview *l, const struct procview_sample *sample,
		       const struct kernelstack *kernel, struct dump_thread *t)
{
	const struct procview_frame *frames;
	size_t n = 0;
	int r = procview_merge(l, sample, &frames, &n, &t->approximate);
	if (r)
		return r;
	t->has_python = sample->python.n > 0;
	t->cut = sample->python.cut || (sample->native && sample->native->end == UNWIND_TOO_DEEP);
	t->incomplete = procview_is_incomplete(sample);
	t->gil = gil_of(sample->python.gil);
	if (t->has_python && t->gil != DUMP_GIL_HOLDS && t->wait.kind == WAIT_LOCK && t->wait.has_syscall &&
	    procview_waits_for_gil(l, t->wait.nr, t->wait.arg[0]))
		t->gil = DUMP_GIL_WAITS;
	thread_note(l, sample, t);
	struct variables v = {.of = s->want->state && t->has_python ? looping_function(sample, t, l->pid) : NULL};
	if (v.of)
		variables_read(l, s->w, v.of, &v);
	if (sample->python.n > 0 && !sample->python.bracketed && t->wait.kind == WAIT_RUNNING)
		s->d->wrong_possible = true;
	t->frames = calloc(n + kernel->n + 1, sizeof(*t->frames));
	if (!t->frames)
		return -ENOMEM;
	r = kernel_frames_add(kernel, t);
	for (size_t i = 0; i < n && r == 0; i++) {
		r = frame_add(s, l, &frames[i], &t->frames[t->n_frames]);
		const bool own = i == 0 && !t->has_python && s->want->state && t->wait.kind == WAIT_RUNNING;
		const bool read = frames[i].py && frames[i].py == v.of;
		t->frames[t->n_frames].state = read ? v.hash : own ? sample->native_state : 0;
		t->frames[t->n_frames].clocked = read && v.clocked;
		t->n_frames++;
	}
	return r;
}

/* True if one of several further looks meets the thread elsewhere than within these functions, at their places. */
static bool is_met_elsewhere(struct snap *s, struct procview *l, pid_t tid, const struct unwind_frame *outer, size_t n)
{
	const struct timespec pause = {.tv_nsec = GLANCE_NS};
	for (int i = 0; i < GLANCES && !over(s); i++) {
		struct procview_sample sample;
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		if (procview_sample(l, tid, NULL, PROCVIEW_RUNS, &sample) != 0 || !sample.native ||
		    sample.native->end != UNWIND_COMPLETE)
			continue;
		const size_t inner = sub_floor(sample.native->n, n);
		for (size_t k = 0; k < n; k++) {
			const struct unwind_frame *f = &sample.native->frame[inner + k];
			if (sample.native->n < n || f->pc != outer[k].pc || f->cfa != outer[k].cfa)
				return true;
		}
	}
	return false;
}

/*
 * A main thread without Python that goes round in a call of other ranks may be in one that does not end, or make many
 * short ones: a few looks right after each other tell. What has called that call is at the same place then.
 */
static bool goes_about(struct snap *s, struct procview *l, const struct procview_sample *sample,
		       const struct dump_thread *t)
{
	struct activity_found f;
	if (!s->want->state || !t->main || t->has_python || t->wait.kind != WAIT_RUNNING || !sample->native ||
	    sample->native->end != UNWIND_COMPLETE || sample->native->n != t->n_frames)
		return false;
	activity_of(t, &f);
	if (!f.frame || !activity_waits_for_ranks(f.kind) || s->n_glanced++ >= GLANCED_MOST)
		return false;
	const size_t from = (size_t)(f.frame - t->frames) + 1, n = t->n_frames - from;
	cleanup(freep) struct unwind_frame *outer = malloc((n + 1) * sizeof(*outer));
	if (!outer)
		return false;
	memcpy(outer, &sample->native->frame[from], n * sizeof(*outer));
	return is_met_elsewhere(s, l, t->tid, outer, n);
}

static int thread_fill(struct snap *s, struct procview *l, const struct pythread *py, struct dump_thread *t)
{
	struct procview_sample sample;
	struct kernelstack kernel;
	/* Read before the sample, so that a stop by vigil is not shown as the reason to wait. */
	int r = threadwait_read(s->w, l->via, t->tid, &l->remote, true, &t->wait);
	if (r == WORLD_GONE)
		return r;
	enum procview_still still = s->want->frozen
					    ? PROCVIEW_FROZEN
					    : procview_still_of(t->wait.kind, t->wait.has_syscall ? t->wait.nr : -1);
	const char *name = procview_thread_name(l, py);
	TEXT_COPY(t->name, name ? name : t->wait.comm);
	TEXT_COPY(t->wait_kind, wait_kind_name(t->wait.kind));
	if (t->wait.kind == WAIT_ZOMBIE)
		return 0;
	if (t->wait.has_syscall && t->wait.nr >= 0)
		TEXT_COPY(t->syscall, syscall_name(t->wait.nr));
	kernel_read(s, l, t, &kernel);
	r = procview_sample(l, t->tid, py, still, &sample);
	if (r == 0)
		r = frames_fill(s, l, &sample, &kernel, t);
	t->roams = r == 0 && goes_about(s, l, &sample, t);
	return r;
}

static void thread_drop(struct dump_process *p)
{
	struct dump_thread *t = &p->threads[--p->n_threads];
	for (size_t k = 0; k < t->n_frames; k++)
		dump_frame_done(&t->frames[k]);
	free(t->frames);
}

/* Adds a thread for code of an interpreter whose thread CPython does not report (before 3.10). */
static int threadless_fill(struct snap *s, struct procview *l, const struct pythread *py, struct dump_process *p)
{
	struct procview_sample sample;
	static const struct kernelstack none;
	int r = procview_sample(l, 0, py, s->want->frozen ? PROCVIEW_FROZEN : PROCVIEW_RUNS, &sample);
	if (r || sample.python.n == 0)
		return r == WORLD_GONE ? 0 : r;
	struct dump_thread *t = &p->threads[p->n_threads++];
	*t = (struct dump_thread){.wait = {.nr = -1, .fd = -1}};
	TEXT_COPY(t->wait_kind, wait_kind_name(t->wait.kind));
	r = frames_fill(s, l, &sample, &none, t);
	TEXT_FORMAT(t->note, "it runs interpreter %" PRIu64 "; CPython 3.%u does not tell which thread it is",
		    py->interp_id, l->rt.minor);
	return r;
}

/* Copies the list, as the view's own is valid until its next call only. */
static int python_threads(struct procview *l, struct pythread **ret, size_t *ret_n)
{
	const struct pythread *list = NULL;
	size_t n = 0;
	*ret = NULL;
	*ret_n = 0;
	if (!l->stacks || procview_python_threads(l, &list, &n) != 0 || n == 0)
		return 0;
	*ret = malloc(n * sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	memcpy(*ret, list, n * sizeof(**ret));
	*ret_n = n;
	return 0;
}

static int by_main_then_tid(const void *a, const void *b)
{
	const struct dump_thread *x = a, *y = b;
	if (x->main != y->main)
		return x->main ? -1 : 1;
	if ((x->tid == 0) != (y->tid == 0))
		return x->tid == 0 ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int threads_fill(struct snap *s, struct procview *l, struct dump_process *p)
{
	cleanup(freep) pid_t *tids = NULL;
	cleanup(freep) struct pythread *py = NULL;
	size_t n = 0, n_py = 0;
	int r = threads_read(s->w, l->pid, &tids, &n);
	if (r == 0)
		r = python_threads(l, &py, &n_py);
	if (r)
		return r;
	p->threads = calloc(n + n_py, sizeof(*p->threads));
	if (!p->threads)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (over(s)) {
			s->d->cut = true;
			break;
		}
		struct dump_thread *t = &p->threads[p->n_threads];
		*t = (struct dump_thread){.tid = tids[i], .main = tids[i] == l->pid};
		r = thread_fill(s, l, procview_python_thread(py, n_py, tids[i]), t);
		p->n_threads++;
		if (s->d->first_ns == 0)
			s->d->first_ns = s->w->mono_ns() - s->begin_ns;
		/* as a rule only this thread has ended; the next one shows whether the process has */
		if (r == WORLD_GONE) {
			thread_drop(p);
		} else if (r) {
			return r;
		}
	}
	for (size_t i = 0; i < n_py && !over(s); i++) {
		if (py[i].tid != 0 || py[i].interp_id == 0)
			continue;
		r = threadless_fill(s, l, &py[i], p);
		if (r)
			return r;
	}
	qsort(p->threads, p->n_threads, sizeof(*p->threads), by_main_then_tid);
	return 0;
}

/*
 * How long is waited for a thread that runs and gets no processor. On a crowded machine that takes some ten ms, and
 * without its native frames a spinning wait in a library looks like work. Of many processes each has its part.
 */
static uint64_t patience_us(const struct snapshot_want *want)
{
	const uint64_t most_us = 200000, least_us = 20000, parts = 2 * MAX(want->n_pids, (size_t)1);
	if (want->budget_ns == 0)
		return most_us;
	return want->patient ? MAX(least_us, MIN(most_us, want->budget_ns / NS_PER_US / parts)) : 0;
}

static int process_open(struct snap *s, struct dump_process *p, struct procview **ret)
{
	struct procview_want want = {.natives = s->natives,
				     .native_without_python = !s->want->native,
				     .instant = s->want->instant,
				     .patience_us = patience_us(s->want)};
	struct fault f = {.text = ""};
	*ret = s->want->views ? viewcache_take(s->want->views, s->w, p->pid) : NULL;
	if (*ret)
		return 0;
	int r = procview_open(s->w, p->pid, &want, ret, &f);
	if (r == WORLD_DENIED) {
		if (s->denied++ == 0)
			s->first_denied = f;
		p->denied = true;
		TEXT_COPY(p->note, f.text[0] ? f.text : "it may not be looked into");
	}
	return r;
}

/* 0 also for processes that have ended or may not be read. */
static int process_fill(struct snap *s, struct dump_process *p)
{
	cleanup(procview_closep) struct procview *l = NULL;
	int r = process_open(s, p, &l);
	if (r == -ETIMEDOUT) { /* the others are read all the same */
		p->stands = true;
		TEXT_COPY(p->note, "its memory lock does not come back, so its stacks could not be read");
		return 0;
	}
	if (r == WORLD_GONE) {
		s->d->n--;
		return 0;
	}
	if (r)
		return r == WORLD_DENIED ? 0 : r;
	if (l->has_python)
		TEXT_COPY(p->python, l->rt.version_text);
	TEXT_COPY(p->note, l->note);
	if (l->via != l->pid) {
		TEXT_FORMAT(p->note, "its main thread has ended; the others go on%s%s", l->note[0] ? "; " : "",
			    l->note);
		ignore(proc_command_read(s->w, l->via, p->command, sizeof(p->command)), "shown without");
	}
	r = threads_fill(s, l, p);
	if (r == 0 && s->want->tasks && !over(s))
		r = snaptasks_fill(s->w, l, p);
	if (r == 0 && s->want->tasks && !l->has_python && !over(s))
		r = snapgo_fill(s->w, l, p);
	if (r == 0 && procview_changed(l))
		TEXT_COPY(p->note, "it became another program while it was looked at: frames may be missing or wrong");
	if (r == -ETIMEDOUT)
		TEXT_COPY(p->note, "its memory lock was taken while it was looked at: frames are missing");
	return r == WORLD_GONE || r == -ETIMEDOUT ? 0 : r;
}

static int process_add(struct snap *s, pid_t pid)
{
	struct proc_stat st;
	struct procfile_who who;
	if (proc_stat_read(s->w, pid, &st) != 0)
		return 0;
	if (vec_room(&s->d->processes, &s->cap, s->d->n + 1) < 0)
		return -ENOMEM;
	struct dump_process *p = &s->d->processes[s->d->n++];
	*p = (struct dump_process){.pid = pid, .ppid = st.ppid, .rank = NO_RANK, .state = st.state};
	p->has_who = procfile_who(s->w, pid, &who) == 0;
	if (p->has_who) {
		p->uid = who.uid;
		p->start_ticks = who.start_ticks;
	}
	TEXT_COPY(p->name, proc_known_as(st.comm));
	ignore(proc_command_read(s->w, pid, p->command, sizeof(p->command)), "shown without");
	return process_fill(s, p);
}

static void who_fill(struct dump_process *p, const struct member *m)
{
	p->rank = m->who.rank;
	TEXT_COPY(p->role, role_name(m->who.role));
	TEXT_COPY(p->command, m->command);
}

/* Reads the named process at once, and searches the other members afterwards, which takes longer. */
static int of_members(struct snap *s)
{
	cleanup(tasks_done) struct tasks t = {.n = 0};
	struct members m = {.n = 0};
	pid_t root = s->want->members->root;
	int r = root > 0 ? process_add(s, root) : 0;
	bool has_root = s->d->n > 0;
	if (r == 0)
		r = tasks_init(&t, SNAPSHOT_TASKS, -1);
	if (r == 0)
		r = tasks_scan(&t, s->w);
	if (r == 0)
		r = members_read(s->w, &t, s->want->members, &m);
	for (size_t i = 0; r == 0 && i < m.n; i++) {
		size_t before = s->d->n;
		if (over(s)) {
			s->d->cut = true;
			break;
		}
		bool is_root = has_root && m.row[i].task->pid == root;
		/* vigil leaves itself out where it was started by the process that it reads */
		pid_t pid = m.row[i].task->pid;
		if (!is_root && (pid == getpid() || foreign_is_own_helper(pid)))
			continue;
		if (!is_root)
			r = process_add(s, m.row[i].task->pid);
		if (is_root)
			who_fill(&s->d->processes[0], &m.row[i]);
		else if (s->d->n > before)
			who_fill(&s->d->processes[before], &m.row[i]);
	}
	members_done(&m);
	return r;
}

static int of_pids(struct snap *s)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < s->want->n_pids; i++) {
		if (over(s)) {
			s->d->cut = true;
			break;
		}
		r = process_add(s, s->want->pids[i]);
	}
	return r;
}

int snapshot_take(const struct world *w, const struct snapshot_want *want, struct stackdump *ret, struct fault *f)
{
	struct stackdump d = {.captured_unix_ms = w->unix_ms()};
	uint64_t begin_ns = w->mono_ns();
	cleanup(natives_freep) struct natives *own = want->natives ? NULL : natives_new();
	struct natives *natives = want->natives ? want->natives : own;
	struct snap s = {.w = w,
			 .want = want,
			 .begin_ns = begin_ns,
			 .natives = natives,
			 .d = &d,
			 .end_ns = want->budget_ns ? begin_ns + want->budget_ns : UINT64_MAX};
	int r = natives ? (want->members ? of_members(&s) : of_pids(&s)) : -ENOMEM;
	d.took_ns = w->mono_ns() - begin_ns;
	if (r == 0 && d.n == 0) {
		r = procview_why_none(w, want->members ? want->members->root : 0, f) == WORLD_DENIED ? WORLD_DENIED
												     : SNAPSHOT_NONE;
	} else if (r == 0 && s.denied == d.n) {
		*f = s.first_denied;
		r = WORLD_DENIED;
	} else if (r < 0 && !f->text[0]) {
		fault_set(f, 0, "the stacks could not be read: %s", strerror(-r));
	}
	if (r) {
		stackdump_done(&d);
		return r;
	}
	*ret = d;
	return 0;
}
