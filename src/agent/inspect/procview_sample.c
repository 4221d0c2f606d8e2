#include "agent/inspect/procview_parts.h"

#include <string.h>
#include <sys/syscall.h>

/* A thread that waits in the kernel stops within this time, or is stuck there. */
#define STOP_WAITING_US 2000
/* Tries for a thread that moves between interpreters while it is read. */
#define JOIN_TRIES 8
#define LIST_TRIES 8
/* Tries for a thread that was stopped while the interpreter changed its chain of frames, and then shows none. */
#define STOP_TRIES 3

/*
 * Work space of one sample, about 480 KiB. It is static rather than a part of each view because a recording has a view
 * for each of many processes, only one thread samples at a time, and borrowed results end with the next sample.
 */
static struct sample_scratch {
	struct unwind_regs regs;
	struct unwind_stack stack;
	struct unwind_trace trace;
	struct pyframe joined[PYSTACK_FRAMES], base[PYSTACK_FRAMES];
} scratch;

struct during {
	struct procview *view;
	const struct pythread *thread;
	bool stopped;
	struct procview_sample *sample;
};

static int by_depth(const void *a, const void *b)
{
	const struct pythread *x = a, *y = b;
	if (x->c_stack != y->c_stack)
		return x->c_stack < y->c_stack ? -1 : 1;
	return (x->interp_id < y->interp_id) - (x->interp_id > y->interp_id);
}

/*
 * Lists the Python threads. From CPython 3.13 on a state lives as long as the code that it runs, so the list may change
 * while it is read.
 */
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

/* Reads what the thread runs in other interpreters into scratch.joined, innermost first. */
static int read_others(struct procview *l, const struct pythread *t, bool stopped, struct procview_sample *ret,
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

/*
 * *ret: the outer stack and the list of states are the same after the inner stacks were read as before, so they did not
 * change in between.
 */
static int stood(struct procview *l, const struct pythread *t, const struct procview_sample *sample, size_t n_base,
		 bool *ret)
{
	struct pystack again;
	int r = pystacks_read(l->stacks, t, false, &again);
	*ret = r == 0 && same_frames(&again, scratch.base, n_base);
	if (r == 0)
		r = list_again(l, false);
	for (size_t i = 0; r == 0 && i < sample->n_parts; i++)
		*ret &= still_runs(l, sample->part[i].interp_id, t->tid);
	return r;
}

/*
 * The states of a thread are read one after the other. While one interpreter runs, its caller in another one stands
 * still; so the outer stack is read before and after the inner ones, and must not have changed.
 */
static int read_joined(struct procview *l, const struct pythread *t, bool stopped, struct procview_sample *ret)
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

static void read_python(struct procview *l, const struct pythread *t, bool stopped, struct procview_sample *ret)
{
	if (!t || !l->stacks)
		return;
	bool others = false;
	if (l->has_interps && t->tid)
		ret->python_result = list_again(l, stopped);
	/*
	 * The thread may have been stopped while it changed the list; what it runs in other interpreters is left out
	 * then.
	 */
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
	read_python(d->view, d->thread, d->stopped, d->sample);
}

/* Samples a thread that waits without stopping it: most threads wait, and some system calls would fail. */
static int sample_waiting(struct procview *l, pid_t tid, const struct pythread *thread, enum procview_still still,
			  struct procview_sample *ret)
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

/*
 * Samples a thread by interrupting it. 0: the sample is complete. Not for several interpreters, whose list of states
 * would have to be read at the same instant.
 */
static int sample_caught(struct procview *l, pid_t tid, const struct pythread *thread, struct procview_sample *ret)
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
	ret->native_state = unwind_state(&scratch.regs, &scratch.stack, &scratch.trace);
	return 0;
}

static int sample_stopped(struct procview *l, pid_t tid, const struct pythread *thread, uint64_t patience_us,
			  struct procview_sample *ret)
{
	struct during d = {l, thread, true, ret};
	int r = stopper_take(l->stopper, tid, patience_us, &scratch.regs, &scratch.stack, meanwhile, &d);
	if (r == 0) {
		native_unwind(l->native, &scratch.regs, &scratch.stack, &scratch.trace);
		ret->native = &scratch.trace;
		ret->native_state = unwind_state(&scratch.regs, &scratch.stack, &scratch.trace);
	}
	/* Halves the patience, so that processes that get no processor for long do not hold up the others. */
	if (r == STOPPER_STUCK)
		l->patience_us = MAX(l->patience_us / 2, (uint64_t)PROCVIEW_PATIENCE_MIN_US);
	else
		l->patience_us = procview_patience_us(&l->want);
	return r;
}

/* Samples a thread that runs: interrupts it where that is possible, else stops it. */
static int sample_running(struct procview *l, pid_t tid, const struct pythread *thread, struct procview_sample *ret)
{
	int r = STOPPER_RUNNING;
	for (int try = 0; try < STOP_TRIES; try++) {
		r = sample_caught(l, tid, thread, ret);
		if (r == STOPPER_RUNNING)
			r = sample_stopped(l, tid, thread, l->patience_us, ret);
		if (r || ret->python_result != PYSTACK_TORN)
			break;
	}
	return r;
}

/* Takes registers, stack and Python frames of the same instant. */
static int sample_native(struct procview *l, pid_t tid, const struct pythread *thread, enum procview_still still,
			 struct procview_sample *ret)
{
	int waits = still == PROCVIEW_RUNS ? STOPPER_RUNNING : sample_waiting(l, tid, thread, still, ret);
	if (waits == WORLD_GONE)
		return waits;
	bool whole = waits == 0 && (scratch.trace.end == UNWIND_COMPLETE || scratch.trace.end == UNWIND_TOO_DEEP);
	if (whole || still == PROCVIEW_FROZEN || (waits == 0 && still == PROCVIEW_TOUCHY))
		return waits;
	if (waits != 0)
		return sample_running(l, tid, thread, ret);
	int r = sample_stopped(l, tid, thread, l->want.patience_us ? l->patience_us : STOP_WAITING_US, ret);
	/* A failed stop leaves the sample that was taken without one. */
	return r == WORLD_GONE ? r : 0;
}

bool procview_is_incomplete(const struct procview_sample *sample)
{
	return sample->native && sample->native->end != UNWIND_COMPLETE && sample->native->end != UNWIND_TOO_DEEP;
}

int procview_sample(struct procview *l, pid_t tid, const struct pythread *thread, enum procview_still still,
		    struct procview_sample *ret)
{
	*ret = (struct procview_sample){.python_result = 0};
	if (l->stopper && tid > 0) {
		ret->native_result = sample_native(l, tid, thread, still, ret);
		if (ret->native_result == WORLD_GONE)
			return WORLD_GONE;
	}
	if (!ret->has_python)
		read_python(l, thread, still >= PROCVIEW_STOPPED, ret);
	return ret->python_result == WORLD_GONE ? WORLD_GONE : 0;
}
