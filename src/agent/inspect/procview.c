#include "agent/inspect/procview_parts.h"

#include <string.h>
#include <sys/auxv.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "judge/host/access.h"
#include "sense/proc/maps.h"
#include "sense/proc/proc.h"
#include "sense/python/pynames.h"

/* Times that a view is opened again because the process became another program meanwhile. */
#define OPEN_TRIES 3
#define NAMES_AGAIN_NS NS_PER_S

static void python_close(struct procview *l)
{
	struct procview_totals now;
	procview_count(l, &now);
	l->before.python = now.python;
	l->stacks = pystacks_free(l->stacks);
	freep(&l->others);
	l->others = NULL;
	l->n_others = 0;
	freep(&l->names);
	l->names = NULL;
	l->n_names = 0;
	l->names_ns = 0;
	l->has_interps = false;
	l->codes = pycodes_free(l->codes);
	l->has_python = false;
}

/* Hash of the files that the process has mapped as code. */
static uint64_t code_of(const struct maps *m)
{
	uint64_t h = HASH_START;
	for (size_t i = 0; i < m->n; i++) {
		const struct map_row *r = &m->rows[i];
		const uint64_t part[] = {r->start, r->end, r->offset, r->dev, r->inode};
		for (size_t k = 0; (r->flags & MAP_EXEC) && k < ARRAY_SIZE(part); k++)
			h = hash_mix(h ^ part[k]);
	}
	return h;
}

bool procview_code_changed(struct procview *l)
{
	cleanup(maps_done) struct maps m = {.n = 0};
	return maps_read(l->w, l->via, &m) != 0 || code_of(&m) != l->code;
}

/* 0, WORLD_GONE, WORLD_DENIED or -errno; anything else becomes a note. */
static int python_open(struct procview *l, struct fault *f)
{
	struct maps m = {.n = 0};
	l->python_later = false;
	l->note[0] = '\0';
	int r = maps_read(l->w, l->via, &m);
	if (r)
		return r;
	l->code = code_of(&m);
	struct fault why = {.text = ""};
	r = m.n ? pyrt_find(l->w, &l->remote, &m, &l->rt, &why) : PYRT_NONE;
	maps_done(&m);
	if (r == WORLD_GONE || r == WORLD_DENIED || r < 0) {
		if (f)
			*f = why;
		return r;
	}
	if (r != 0) {
		l->python_later = r == PYRT_NOT_YET || r == PYRT_NONE;
		if (r != PYRT_NONE)
			TEXT_COPY(l->note, why.text);
		return 0;
	}
	l->codes = pycodes_new(&l->rt, &l->remote);
	l->stacks = l->codes ? pystacks_new(l->w, &l->rt, &l->remote, l->codes) : NULL;
	if (!l->stacks) {
		python_close(l);
		return -ENOMEM;
	}
<<<<<<< HEAD
	if (l->has_mark)
		pystacks_program_id(l->stacks, l->mark_addr, l->mark);
=======
	if (l->has_program_id)
		pystacks_mark(l->stacks, l->program_id_addr, l->program_id);
>>>>>>> 97a6ac8 (agent: samples, polls and reports instead of looks and told)
	l->has_python = true;
	return 0;
}

static void procview_explain(const struct world *w, pid_t pid, struct fault *f)
{
	struct access_facts a;
	if (access_read(w, pid, &a) == 0)
		access_explain(&a, f);
	else
		(void)fault_set(f, 0, "process %d may not be looked into, and why could not be found out", (int)pid);
}

static void native_close(struct procview *l)
{
	struct procview_totals now;
	procview_count(l, &now);
	l->before.pauses = now.pauses;
	l->stopper = stopper_free(l->stopper);
	l->native = native_free(l->native);
}

static int native_open(struct procview *l)
{
	if (!l->want.natives || (l->want.native_without_python && l->has_python))
		return 0;
	l->native = native_new(l->want.natives, l->w, &l->remote);
	l->stopper = l->native ? stopper_new(l->w, l->pid, &l->remote) : NULL;
	return l->stopper ? 0 : -ENOMEM;
}

bool procview_lost(const struct procview *l)
{
	char path[64], text[1024];
	size_t len;
	struct proc_stat st;
	TEXT_FORMAT(path, "%d/task/%d/stat", l->pid, l->via);
	return file_read_at(l->w->proc_fd, path, text, sizeof(text), &len) != 0 ||
	       proc_stat_parse((struct span){text, len}, &st) != 0 || st.state == 'Z' || st.state == 'X';
}

static void program_id_read(struct procview *l)
{
	l->has_program_id = proc_auxv_read(l->w, l->via, AT_RANDOM, &l->program_id_addr) == 0 &&
			    remote_u64(&l->remote, l->program_id_addr, &l->program_id) == 0;
}

bool procview_changed(struct procview *l)
{
	uint64_t now = 0;
	return l->has_program_id && (remote_u64(&l->remote, l->program_id_addr, &now) != 0 || now != l->program_id);
}

bool procview_ask_changed(struct procview *l)
{
	/* With native frames the check is made before each sample, as the maps must be right first. */
	if (!l->has_program_id || !l->stacks || l->stopper)
		return false;
	pystacks_ask_program_id(l->stacks);
	return true;
}

bool procview_found_changed(struct procview *l, const struct procview_sample *sample)
{
<<<<<<< HEAD
	return look->python_result == PYSTACK_OTHER ||
	       (l->stacks && pystacks_program_id_is_open(l->stacks) && procview_changed(l));
=======
	return sample->python_result == PYSTACK_OTHER ||
	       (l->stacks && pystacks_mark_is_open(l->stacks) && procview_changed(l));
>>>>>>> 97a6ac8 (agent: samples, polls and reports instead of looks and told)
}

void procview_count(const struct procview *l, struct procview_totals *ret)
{
	*ret = l->before;
	if (l->stacks) {
		struct pystack_stats s = pystacks_stats(l->stacks);
		ret->python.samples += s.samples;
		ret->python.dropped += s.dropped;
		ret->python.unproved += s.unproved;
		ret->python.retries += s.retries;
		ret->python.walks += s.walks;
		ret->python.shortened += s.shortened;
	}
	if (l->stopper) {
		struct stopper_stats s = stopper_stats(l->stopper);
		stopper_stats_add(&ret->pauses, &s);
	}
}

enum procview_still procview_still_of(enum wait_kind kind, int64_t syscall)
{
	if (kind == WAIT_STOPPED)
		return PROCVIEW_STOPPED;
	if (kind == WAIT_RUNNING)
		return PROCVIEW_RUNS;
	return stopper_would_fail(syscall) ? PROCVIEW_TOUCHY : PROCVIEW_WAITS;
}

/* Checks that the process can have a stack. 0, WORLD_GONE, or WORLD_DENIED with the reason. */
static int stack_possible(const struct world *w, pid_t pid, struct proc_stat *ret, struct fault *f)
{
	int r = proc_stat_read(w, pid, ret);
	if (r)
		return r;
	const struct proc_stat st = *ret;
	if (st.kernel_thread || proc_is_over(&st)) {
		fault_set(
			f, 0,
			st.kernel_thread
				? "process %d (%s) is a thread of the kernel: it has no stack of its own to show"
				: "process %d (%s) has ended and waits for its parent to notice: it has no stack left",
			(int)pid, st.comm);
		return WORLD_DENIED;
	}
	return 0;
}

int procview_why_none(const struct world *w, pid_t root, struct fault *f)
{
	struct proc_stat st;
	if (root > 0 && stack_possible(w, root, &st, f) == WORLD_DENIED)
		return WORLD_DENIED;
	(void)fault_set(f, 0, "nothing of it is running any more");
	return WORLD_GONE;
}

int procview_open(const struct world *w, pid_t pid, const struct procview_want *want, struct procview **ret,
		  struct fault *f)
{
	struct proc_stat st;
	int r = stack_possible(w, pid, &st, f);
	if (r)
		return r;
	cleanup(procview_closep) struct procview *l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->w = w;
	l->pid = pid;
	l->start_ticks = st.start_ticks;
	l->want = *want;
	l->patience_us = procview_patience_us(want);
	l->via = proc_living_thread(w, pid);
	if (l->via == 0)
		return WORLD_GONE;
	remote_open(w, l->via, &l->remote);
	program_id_read(l);
	r = python_open(l, f);
	if (r == 0)
		r = native_open(l);
	for (int tries = 1; r == 0 && tries < OPEN_TRIES && procview_changed(l); tries++)
		procview_again(l);
	if (r == WORLD_DENIED)
		procview_explain(w, pid, f);
	if (r)
		return r;
	*ret = take(&l);
	return 0;
}

struct procview *procview_close(struct procview *l)
{
	if (!l)
		return NULL;
	python_close(l);
	native_close(l);
	remote_done(&l->remote);
	free(l);
	return NULL;
}

void procview_again(struct procview *l)
{
	python_close(l);
	native_close(l);
	remote_done(&l->remote); /* an open memory file belongs to the old program */
	program_id_read(l);
	ignore(python_open(l, NULL), "it is as it was: without Python");
	ignore(native_open(l), "then without native frames");
}

/*
 * A new thread enters Python's own list of threads later than the interpreter's, so the list is read again when a name
 * is missing, at most once in NAMES_AGAIN_NS.
 */
const char *procview_thread_name(struct procview *l, const struct pythread *t)
{
	if (!l->stacks || !t || t->interp_id != 0 || t->tid == l->pid)
		return NULL;
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < l->n_names; i++)
			if (l->names[i].thread_id == t->thread_id)
				return l->names[i].name;
		uint64_t now_ns = l->w->mono_ns();
		if (l->names_ns && now_ns - l->names_ns < NAMES_AGAIN_NS)
			return NULL;
		free(l->names);
		l->names = NULL;
		l->n_names = 0;
		l->names_ns = now_ns;
		ignore(pynames_read(&l->rt, &l->remote, t->interp, &l->names, &l->n_names),
		       "the kernel's names do, too");
	}
	return NULL;
}
<<<<<<< HEAD

struct during {
	struct procview *view;
	const struct pythread *thread;
	bool stopped;
	struct procview_look *look;
};

static int by_depth(const void *a, const void *b)
{
	const struct pythread *x = a, *y = b;
	if (x->c_stack != y->c_stack)
		return x->c_stack < y->c_stack ? -1 : 1;
	return (x->interp_id < y->interp_id) - (x->interp_id > y->interp_id);
}

/* From 3.13 on a state lives as long as what it runs: the list may change while it is read. */
static int list_python(struct procview *l, int tries, const struct pythread **ret, size_t *ret_n)
{
	int r = REMOTE_FAULT;
	for (int try = 0; try < tries && r == REMOTE_FAULT; try++)
		r = pystacks_threads(l->stacks, ret, ret_n);
	l->n_others = 0;
	if (r == 0)
		l->has_interps = pystacks_interpreters(l->stacks) > 1;
	for (size_t i = 0; r == 0 && l->has_interps && i < *ret_n; i++)
		l->n_others += (*ret)[i].interp_id != 0 && (*ret)[i].tid != 0;
	if (l->n_others == 0)
		return r;
	struct pythread *others = realloc(l->others, l->n_others * sizeof(*others));
	if (!others) {
		l->n_others = 0;
		return -ENOMEM;
	}
	l->others = others;
	for (size_t i = 0, k = 0; i < *ret_n; i++)
		if ((*ret)[i].interp_id != 0 && (*ret)[i].tid != 0)
			l->others[k++] = (*ret)[i];
	qsort(l->others, l->n_others, sizeof(*l->others), by_depth);
	return 0;
}

int procview_python_threads(struct procview *l, const struct pythread **ret, size_t *ret_n)
{
	return list_python(l, LIST_TRIES, ret, ret_n);
}

const struct pythread *procview_python_thread(const struct pythread *list, size_t n, pid_t tid)
{
	const struct pythread *found = NULL;
	for (size_t i = 0; i < n; i++)
		if (list[i].tid == tid && (!found || list[i].interp_id == 0))
			found = &list[i];
	return found;
}

bool procview_waits_for_gil(const struct procview *l, int64_t syscall, uint64_t argument)
{
	return l->stacks && syscall == SYS_futex && pystacks_is_gil(l->stacks, argument);
}

/* What the thread runs in other interpreters, into scratch.joined: the innermost first. */
static int read_others(struct procview *l, const struct pythread *t, bool stopped, struct procview_look *ret,
		       struct pystack *sum)
{
	for (size_t i = 0; i < l->n_others && ret->n_parts < PROCVIEW_INTERPS; i++) {
		struct pystack one;
		if (l->others[i].tid != t->tid || l->others[i].tstate == t->tstate)
			continue;
		int r = pystacks_read(l->stacks, &l->others[i], stopped, &one);
		if (r)
			return r;
		size_t n = MIN(one.n, PYSTACK_FRAMES - sum->n);
		if (n == 0)
			continue;
		memcpy(scratch.joined + sum->n, one.frames, n * sizeof(*one.frames));
		if (sum->n == 0)
			sum->gil = one.gil;
		sum->n += n;
		sum->cut |= one.cut || n < one.n;
		sum->bracketed &= one.bracketed;
		sum->collecting |= one.collecting;
		ret->part[ret->n_parts++] = (struct procview_part){sum->n, l->others[i].interp_id};
	}
	return 0;
}

static int list_again(struct procview *l, bool stopped)
{
	const struct pythread *list;
	size_t n;
	return list_python(l, stopped ? 1 : LIST_TRIES, &list, &n);
}

static bool same_frames(const struct pystack *a, const struct pyframe *b, size_t n)
{
	bool same = a->n == n;
	for (size_t i = 0; same && i < n; i++)
		same = a->frames[i].addr == b[i].addr && a->frames[i].code == b[i].code &&
		       a->frames[i].instr == b[i].instr;
	return same;
}

static bool still_runs(const struct procview *l, uint64_t interp_id, pid_t tid)
{
	for (size_t i = 0; i < l->n_others; i++)
		if (l->others[i].interp_id == interp_id && l->others[i].tid == tid)
			return true;
	return false;
}

/* Were base, and who ran what, the same after the inner stacks were read as before? Then they were so in between. */
static int stood(struct procview *l, const struct pythread *t, const struct procview_look *look, size_t n_base,
		 bool *ret)
{
	struct pystack again;
	int r = pystacks_read(l->stacks, t, false, &again);
	*ret = r == 0 && same_frames(&again, scratch.base, n_base);
	if (r == 0)
		r = list_again(l, false);
	for (size_t i = 0; r == 0 && i < look->n_parts; i++)
		*ret &= still_runs(l, look->part[i].interp_id, t->tid);
	return r;
}

/*
 * The states of a thread are read one after the other. While one interpreter runs, what called it stands: so the outer
 * stack is read before and after the inner ones, and has to be the same.
 */
static int read_joined(struct procview *l, const struct pythread *t, bool stopped, struct procview_look *ret)
{
	for (int try = 0; try < JOIN_TRIES; try++) {
		struct pystack base, sum = {.frames = scratch.joined, .bracketed = true};
		bool same = true;
		ret->n_parts = 0;
		int r = pystacks_read(l->stacks, t, stopped, &base);
		if (r)
			return r;
		size_t n = base.n;
		memcpy(scratch.base, base.frames, n * sizeof(*scratch.base));
		base.frames = scratch.base;
		r = read_others(l, t, stopped, ret, &sum);
		if (!stopped && (r == PYSTACK_STALE || r == PYSTACK_TORN)) {
			same = false;
			r = list_again(l, false);
		} else if (r == 0 && sum.n > 0 && !stopped) {
			r = stood(l, t, ret, n, &same);
		}
		if (r)
			return r;
		if (!same)
			continue;
		if (sum.n > 0) {
			size_t fit = MIN(n, PYSTACK_FRAMES - sum.n);
			memcpy(scratch.joined + sum.n, scratch.base, fit * sizeof(*scratch.base));
			sum.n += fit;
			sum.cut |= base.cut || fit < n;
			sum.bracketed &= base.bracketed;
			base = sum;
		}
		ret->part[ret->n_parts++] = (struct procview_part){base.n, t->interp_id};
		ret->python = base;
		return 0;
	}
	return PYSTACK_TORN;
}

static void read_python(struct procview *l, const struct pythread *t, bool stopped, struct procview_look *ret)
{
	if (!t || !l->stacks)
		return;
	bool others = false;
	if (l->has_interps && t->tid)
		ret->python_result = list_again(l, stopped);
	/* It may have been stopped while it changed the list; then what it runs in other interpreters is not shown. */
	if (stopped && ret->python_result == REMOTE_FAULT)
		ret->python_result = 0;
	for (size_t i = 0; i < l->n_others && !others && t->tid; i++)
		others = l->others[i].tid == t->tid && l->others[i].tstate != t->tstate;
	if (ret->python_result) {
		ret->n_parts = 0;
	} else if (others) {
		ret->python_result = read_joined(l, t, stopped, ret);
	} else {
		ret->python_result = pystacks_read(l->stacks, t, stopped, &ret->python);
		ret->part[0] = (struct procview_part){ret->python.n, t->interp_id};
		ret->n_parts = 1;
	}
	ret->has_python = ret->python_result == 0;
	if (!ret->has_python)
		ret->python.n = 0;
}

static void meanwhile(void *ctx)
{
	struct during *d = ctx;
	read_python(d->view, d->thread, d->stopped, d->look);
}

/* A thread that waits is not touched: most do, and some system calls would fail. */
static int look_from_outside(struct procview *l, pid_t tid, const struct pythread *thread, enum procview_still still,
			     struct procview_look *ret)
{
	struct during d = {l, thread, still >= PROCVIEW_STOPPED, ret};
	int r = stopper_blocked(l->w, l->pid, tid, &l->remote, &scratch.regs, &scratch.stack, meanwhile, &d);
	if (r == 0) {
		native_unwind(l->native, &scratch.regs, &scratch.stack, &scratch.trace);
		ret->native = &scratch.trace;
	}
	return r;
}

struct caught {
	struct procview *view;
	pid_t tid;
};

static int catch (void *ctx, const struct iovec *from, size_t n_from, void *into, size_t *ret_bytes)
{
	const struct caught *c = ctx;
	struct procview *l = c->view;
	int r = stopper_catch(l->stopper, l->want.instant, c->tid, from, n_from, into, ret_bytes, &scratch.regs,
			      &scratch.stack);
	return r == 0 || r == WORLD_GONE ? r : PYSTACK_AWAY;
}

/* 0: all that there is of it is there. Of several interpreters the list of threads belongs to the instant: not so. */
static int look_caught(struct procview *l, pid_t tid, const struct pythread *thread, struct procview_look *ret)
{
	struct caught c = {l, tid};
	const struct pystack_source camera = {catch, &c};
	size_t none;
	bool python = thread && l->stacks;
	if (!l->want.instant || (python && l->has_interps))
		return STOPPER_RUNNING;
	int r = python ? pystacks_read_by(l->stacks, thread, &camera, &ret->python) : catch (&c, NULL, 0, NULL, &none);
	if (r) {
		ret->python.n = 0;
		ret->has_python = false;
		return r == WORLD_GONE ? r : STOPPER_RUNNING;
	}
	if (python) {
		ret->part[0] = (struct procview_part){ret->python.n, thread->interp_id};
		ret->n_parts = 1;
		ret->has_python = true;
		ret->python_result = 0;
	}
	native_unwind(l->native, &scratch.regs, &scratch.stack, &scratch.trace);
	ret->native = &scratch.trace;
	return 0;
}

static int look_stopped(struct procview *l, pid_t tid, const struct pythread *thread, uint64_t patience_us,
			struct procview_look *ret)
{
	struct during d = {l, thread, true, ret};
	int r = stopper_take(l->stopper, tid, patience_us, &scratch.regs, &scratch.stack, meanwhile, &d);
	if (r == 0) {
		native_unwind(l->native, &scratch.regs, &scratch.stack, &scratch.trace);
		ret->native = &scratch.trace;
	}
	/* Processes that get no processor for long must not hold up the others for ever. */
	if (r == STOPPER_STUCK)
		l->patience_us = MAX(l->patience_us / 2, (uint64_t)PATIENCE_MIN_US);
	else
		l->patience_us = l->want.patient ? PATIENCE_ONCE_US : PATIENCE_US;
	return r;
}

/* Caught where that can be done, else stopped. */
static int look_running(struct procview *l, pid_t tid, const struct pythread *thread, struct procview_look *ret)
{
	int r = STOPPER_RUNNING;
	for (int try = 0; try < STOP_TRIES; try++) {
		r = look_caught(l, tid, thread, ret);
		if (r == STOPPER_RUNNING)
			r = look_stopped(l, tid, thread, l->patience_us, ret);
		if (r || ret->python_result != PYSTACK_TORN)
			break;
	}
	return r;
}

/* Registers, stack and Python frames of the same instant. */
static int look_native(struct procview *l, pid_t tid, const struct pythread *thread, enum procview_still still,
		       struct procview_look *ret)
{
	int waits = still == PROCVIEW_RUNS ? STOPPER_RUNNING : look_from_outside(l, tid, thread, still, ret);
	if (waits == WORLD_GONE)
		return waits;
	bool whole = waits == 0 && (scratch.trace.end == UNWIND_COMPLETE || scratch.trace.end == UNWIND_TOO_DEEP);
	if (whole || still == PROCVIEW_FROZEN || (waits == 0 && still == PROCVIEW_TOUCHY))
		return waits;
	if (waits != 0)
		return look_running(l, tid, thread, ret);
	int r = look_stopped(l, tid, thread, l->want.patient ? l->patience_us : STOP_WAITING_US, ret);
	/* What was seen from outside is less, but something. */
	return r == WORLD_GONE ? r : 0;
}

bool procview_is_incomplete(const struct procview_look *look)
{
	return look->native && look->native->end != UNWIND_COMPLETE && look->native->end != UNWIND_TOO_DEEP;
}

int procview_look(struct procview *l, pid_t tid, const struct pythread *thread, enum procview_still still,
		  struct procview_look *ret)
{
	*ret = (struct procview_look){.python_result = 0};
	if (l->stopper && tid > 0) {
		ret->native_result = look_native(l, tid, thread, still, ret);
		if (ret->native_result == WORLD_GONE)
			return WORLD_GONE;
	}
	if (!ret->has_python)
		read_python(l, thread, still >= PROCVIEW_STOPPED, ret);
	return ret->python_result == WORLD_GONE ? WORLD_GONE : 0;
}

static size_t inputs(struct procview *l, const struct procview_look *look)
{
	size_t n = look->native ? look->native->n : 0;
	for (size_t i = 0; i < n; i++) {
		struct native_symbol s;
		native_symbol(l->native, look->native->frame[i].pc, look->native->frame[i].exact, &s);
		scratch.native[i] = (struct merge_native){.eval_loop = s.kind == NATIVE_EVAL_LOOP,
							  .trampoline = s.kind == NATIVE_TRAMPOLINE};
	}
	for (size_t i = 0; i < look->python.n; i++)
		scratch.python[i].entry = look->python.frames[i].flags & PYFRAME_ENTRY;
	return n;
}

static void part_of(const struct procview_look *look, size_t index, struct procview_frame *ret)
{
	size_t k = 0;
	while (k + 1 < look->n_parts && index >= look->part[k].end)
		k++;
	ret->interp_id = look->part[k].interp_id;
	ret->last_of_interp = index + 1 == look->part[k].end;
}

int procview_merge(struct procview *l, const struct procview_look *look, const struct procview_frame **ret,
		   size_t *ret_n, bool *ret_approximate)
{
	size_t n_native = inputs(l, look);
	struct merge_result m = stackmerge(scratch.native, n_native, scratch.python, look->python.n,
					   l->has_python && l->rt.minor <= 10, scratch.item);
	for (size_t i = 0; i < m.n; i++) {
		const struct merge_item *it = &scratch.item[i];
		scratch.frame[i] = (struct procview_frame){
			.python = it->python,
			.py = it->python ? &look->python.frames[it->index] : NULL,
			.native = it->python ? NULL : &look->native->frame[it->index],
		};
		if (it->python)
			part_of(look, it->index, &scratch.frame[i]);
	}
	*ret = scratch.frame;
	*ret_n = m.n;
	/* A stack of one kind only cannot be out of step with the other, nor one of which the outer part is not kept. */
	*ret_approximate = m.approximate && look->native && look->python.n > 0 && look->native->end != UNWIND_TOO_DEEP;
	return 0;
}

void procview_frame_text(struct procview *l, const struct procview_frame *f, bool lines, struct frame *ret)
{
	if (f->python) {
		const struct pycode *c = f->py->known;
		*ret = (struct frame){.kind = FRAME_PYTHON,
				      .name = c->name,
				      .file = c->file,
				      .module = "",
				      .line = pycode_line(&l->rt, c, f->py->instr),
				      .first_line = c->first_line};
		return;
	}
	struct native_symbol s;
	native_symbol(l->native, f->native->pc, f->native->exact, &s);
	if (lines)
		native_line(l->native, f->native->pc, f->native->exact, &s);
	*ret = (struct frame){.kind = FRAME_NATIVE,
			      .name = s.name,
			      .file = s.file ? s.file : "",
			      .module = s.module ? s.module : "",
			      .line = (int32_t)MIN(s.line, (uint32_t)INT32_MAX)};
}
=======
>>>>>>> 576b114 (agent: split heapread and procview by subject)
