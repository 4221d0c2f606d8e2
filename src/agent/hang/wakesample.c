#include "agent/hang/wakesample.h"

#include <string.h>
#include <sys/syscall.h>

#include "agent/wait/wakeplace.h"
#include "agent/inspect/standstill.h"
#include "base/clock.h"
#include "base/text.h"
#include "sense/proc/proc.h"
#include "sense/wait/threadlist.h"

#define THREADS_MOST 32 /* of one process */
#define OPENED_MOST 4 /* views that are opened in one counting: each takes milliseconds */
static const uint64_t budget_ns = 10 * NS_PER_MS;

/* A Python thread, and what was asked of it. */
struct asked_thread {
	struct pythread py;
	bool open; /* a question stands */
	uint64_t place, arg;
	struct waker_thread self;
	char name[32]; /* Python's */
};

struct view {
	pid_t pid; /* 0: free */
	struct procview *v; /* NULL: it has no Python, or may not be looked into */
	bool wanted, listed;
	struct asked_thread thread[THREADS_MOST];
	size_t n;
};

struct wakesample {
	const struct world *w;
	struct view view[WAKESAMPLE_VIEWS];
	size_t at_view, at_thread; /* where the next sample goes on */
	size_t n_opened; /* in this counting */
	uint64_t spent_ns;
};

struct wakesample *wakesample_new(const struct world *w)
{
	struct wakesample *s = calloc(1, sizeof(*s));
	if (s)
		s->w = w;
	return s;
}

static void view_close(struct view *x)
{
	procview_close(x->v);
	memset(x, 0, sizeof(*x));
}

void wakesample_begin(struct wakesample *s)
{
	if (!s)
		return;
	s->spent_ns = 0;
	s->n_opened = 0;
	for (size_t i = 0; i < WAKESAMPLE_VIEWS; i++) {
		struct view *x = &s->view[i];
		if (x->v && (procview_lost(x->v) || procview_changed(x->v)))
			view_close(x);
		x->wanted = x->listed = false;
		x->n = 0;
	}
}

static struct view *view_of(struct wakesample *s, pid_t pid)
{
	struct view *other = NULL;
	for (size_t i = 0; i < WAKESAMPLE_VIEWS; i++) {
		struct view *x = &s->view[i];
		if (x->pid == pid)
			return x;
		if (!x->wanted && (!other || (other->pid != 0 && x->pid == 0)))
			other = x;
	}
	return other && s->n_opened < OPENED_MOST ? other : NULL;
}

void wakesample_process(struct wakesample *s, pid_t pid)
{
	const struct procview_want want = {.natives = NULL};
	struct fault f = {.text = ""};
	struct view *x = s ? view_of(s, pid) : NULL;
	if (!x)
		return;
	if (x->pid != pid) {
		view_close(x);
		x->pid = pid;
		s->n_opened++;
		if (procview_open(s->w, pid, &want, &x->v, &f) != 0)
			x->v = NULL;
	}
	x->wanted = true;
}

const char *wakesample_name(const struct wakesample *s, pid_t pid, pid_t tid)
{
	for (size_t i = 0; s && i < WAKESAMPLE_VIEWS; i++)
		for (size_t k = 0; s->view[i].pid == pid && k < s->view[i].n; k++)
			if (s->view[i].thread[k].py.tid == tid)
				return s->view[i].thread[k].name;
	return NULL;
}

/* ---- one thread ---- */

/* The start of a thread and of its process, and its name. */
static bool self_read(const struct world *w, pid_t pid, struct asked_thread *t)
{
	struct threadwait now;
	struct proc_stat process;
	if (threadwait_read(w, pid, t->py.tid, NULL, false, &now) != 0 || proc_stat_read(w, pid, &process) != 0)
		return false;
	t->self = (struct waker_thread){.pid = pid,
					.tid = t->py.tid,
					.start_ticks = now.start_ticks,
					.process_start_ticks = process.start_ticks};
	memcpy(t->self.name, now.comm, sizeof(t->self.name));
	return true;
}

static void wakesample_threads_list(struct wakesample *s, struct view *x)
{
	const struct pythread *list;
	size_t n = 0;
	x->listed = true;
	x->n = 0;
	if (!x->v->has_python || procview_python_threads(x->v, &list, &n) != 0)
		return;
	for (size_t i = 0; i < n && x->n < THREADS_MOST; i++) {
		x->thread[x->n] = (struct asked_thread){.py = list[i]};
		struct asked_thread *t = &x->thread[x->n];
		if (list[i].tid <= 0 || list[i].interp_id != 0 || !self_read(s->w, x->pid, t))
			continue;
		wakeplace_name(x->v, &list[i], t->name, sizeof(t->name));
		x->n++;
	}
}

/* The turns on a processor that a token names; false: none. */
static bool turns_of(const char *token, uint64_t *ret)
{
	struct span rest = span_of(token), line, word = {NULL, 0};
	if (!span_line(&rest, &line))
		return false;
	for (int i = 0; i < 3; i++)
		if (!span_word(&line, &word))
			return false;
	return span_u64(word, ret) == 0;
}

/* Asks who ends the wait in which the thread is, if it is one for a lock of the program's. */
static void wakesample_ask(struct wakesample *s, struct wakers *k, struct view *x, struct asked_thread *t)
{
	char token[STANDSTILL_TOKEN];
	struct threadwait call;
	uint64_t turns;
	if (!standstill_token(s->w, x->v->via, t->py.tid, token, &call) || wake_kind_of(call.nr) != WAKE_LOCK ||
	    call.nr != SYS_futex || procview_waits_for_gil(x->v, call.nr, call.arg[0]) || !turns_of(token, &turns))
		return;
	t->place = wakeplace_of(x->v, &t->py);
	t->arg = call.arg[0];
	if (t->place == 0 || standstill_moved(s->w, x->v->via, t->py.tid, token))
		return;
	t->open = wakers_ask(k, t->py.tid, turns, t->arg) == 0;
}

static void answer_take(struct wakers *k, struct asked_thread *t,
			void (*keep)(void *ctx, const struct waker_row *r, uint64_t place), void *ctx)
{
	struct waker_row r = {.wakee = t->self, .kind = WAKE_LOCK, .arg = t->arg, .n = 1};
	if (t->open && wakers_answer(k, t->py.tid, &r.waker))
		keep(ctx, &r, t->place);
	t->open = false;
}

/* Goes on to the next thread; false: all processes were gone through. */
static struct view *next_thread(struct wakesample *s, struct asked_thread **ret)
{
	for (size_t tries = 0; tries <= WAKESAMPLE_VIEWS; tries++) {
		struct view *x = &s->view[s->at_view];
		if (x->wanted && x->v && !x->listed)
			wakesample_threads_list(s, x);
		if (x->wanted && x->v && s->at_thread < x->n) {
			*ret = &x->thread[s->at_thread++];
			return x;
		}
		s->at_view = (s->at_view + 1) % WAKESAMPLE_VIEWS;
		s->at_thread = 0;
	}
	return NULL;
}

void wakesample_take(struct wakesample *s, struct wakers *k, bool ask,
		     void (*keep)(void *ctx, const struct waker_row *r, uint64_t place), void *ctx)
{
	uint64_t began_ns = clock_thread_ns(), most_ns = budget_ns / 16;
	size_t threads = 0;
	for (size_t i = 0; s && i < WAKESAMPLE_VIEWS; i++) {
		threads += s->view[i].wanted && s->view[i].v ? THREADS_MOST : 0;
		for (size_t t = 0; !ask && t < s->view[i].n; t++)
			answer_take(k, &s->view[i].thread[t], keep, ctx);
	}
	struct asked_thread *first = NULL, *t = NULL;
	for (size_t i = 0; ask && i < threads && s->spent_ns < budget_ns; i++) {
		struct view *x = next_thread(s, &t);
		if (!x || t == first || clock_thread_ns() - began_ns > most_ns)
			break;
		first = first ? first : t;
		answer_take(k, t, keep, ctx);
		wakesample_ask(s, k, x, t);
	}
	if (s)
		s->spent_ns += clock_thread_ns() - began_ns;
}
