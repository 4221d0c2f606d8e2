#include "agent/hang/hangshares.h"

#include <string.h>

#include "agent/hang/sharego.h"
#include "agent/hang/sharethreads.h"
#include "agent/hang/sharewaits.h"
#include "agent/inspect/procview.h"
#include "base/buf.h"
#include "sense/speed/cpustat.h"
#include "sense/speed/runplace.h"
#include "sense/speed/threadcost.h"
#include "sense/wait/threadlist.h"

/* What the processors gave the ranks, and quotas took, is read again after so many samples. */
#define PROCESSORS_EVERY 25

struct hangshares {
	const struct world *w;
	struct procview *view[WAITSHARE_RANKS];
	int32_t rank[WAITSHARE_RANKS];
	struct cpuquota quota[WAITSHARE_RANKS]; /* before the first sample; without cores: it has none */
	struct threadcost cost[WAITSHARE_RANKS]; /* of its main thread (or of all), before the first sample */
	uint64_t cost_ns[WAITSHARE_RANKS]; /* when that was read; 0: it was not */
	struct runplace place[WAITSHARE_RANKS]; /* of its main thread, where a library of messages is loaded */
	struct sharego *go[WAITSHARE_RANKS]; /* NULL: it is not made by Go */
	struct sharethreads *threads[WAITSHARE_RANKS]; /* NULL: of Python, or made by Go */
	char role[WAITSHARE_RANKS][16];
	size_t n;
	bool has_go;
	struct sharewaits *waits; /* NULL without memory */
};

/* Of a job without ranks the one main process counts as rank 0. */
static int32_t hangshares_rank_of(const struct hangprocs *c, const struct hangprocs_member *m)
{
	size_t mains = 0;
	for (size_t i = 0; i < c->n_now; i++)
		mains += c->now[i].main;
	return mains == 1 && m->who.rank == NO_RANK ? 0 : m->who.rank;
}

/*
 * What its main thread has cost; of a program whose threads all count, what they ran and queued for together. Those
 * that have ended are lost.
 */
static int cost_read(const struct world *w, pid_t pid, bool whole, struct threadcost *ret)
{
	cleanup(freep) pid_t *tid = NULL;
	size_t n = 0;
	int r = threadcost_read(w, pid, pid, ret, NULL);
	if (r || !whole || threads_read(w, pid, &tid, &n) != 0)
		return r;
	for (size_t i = 0; i < MIN(n, (size_t)THREADSHARE_THREADS); i++) {
		struct threadcost other;
		if (tid[i] == pid || threadcost_read(w, pid, tid[i], &other, NULL) != 0)
			continue;
		ret->run_ns += other.run_ns;
		ret->queued_ns += other.queued_ns;
	}
	return 0;
}

struct hangshares *hangshares_new(const struct world *w, const struct hangprocs *c, struct natives *natives)
{
	const struct procview_want want = {.natives = NULL};
	struct hangshares *s = calloc(1, sizeof(*s));
	if (s) {
		s->w = w;
		s->waits = sharewaits_new();
	}
	for (size_t i = 0; s && i < c->n_now && s->n < WAITSHARE_RANKS; i++) {
		const struct hangprocs_member *m = &c->now[i];
		struct fault f = {.text = ""};
		if (!m->main || m->state == 'Z' || procview_open(w, m->pid, &want, &s->view[s->n], &f) != 0)
			continue;
		s->rank[s->n] = hangshares_rank_of(c, m);
		TEXT_COPY(s->role[s->n], role_name(m->who.role));
		ignore(cpuquota_read(w, m->pid, &s->quota[s->n]), "it has no group that counts, or has ended");
		s->go[s->n] = s->view[s->n]->has_python ? NULL : sharego_new(w, m->pid);
		s->has_go |= s->go[s->n] != NULL;
		ignore(runplace_open(w, m->pid, m->pid, &s->place[s->n]), "the kernel's facts tell of most waits");
		if (!s->go[s->n] && !s->view[s->n]->has_python)
			s->threads[s->n] = sharethreads_new(w, m->pid, natives);
		if (s->threads[s->n])
			sharewaits_threads_of(s->waits, m->pid);
		if (!s->go[s->n] && cost_read(w, m->pid, s->threads[s->n], &s->cost[s->n]) == 0 &&
		    s->cost[s->n].has_schedule)
			s->cost_ns[s->n] = w->mono_ns();
		s->n++;
	}
	return s;
}

struct hangshares *hangshares_free(struct hangshares *s)
{
	for (size_t i = 0; s && i < s->n; i++) {
		procview_close(s->view[i]);
		runplace_close(&s->place[i]);
		sharego_free(s->go[i]);
		sharethreads_free(s->threads[i]);
	}
	if (s)
		sharewaits_free(s->waits);
	free(s);
	return NULL;
}

static const struct pythread *main_thread(struct procview *l)
{
	const struct pythread *list;
	size_t n;
	if (!l->has_python || pystacks_threads(l->stacks, &list, &n) != 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (list[i].tid == l->pid)
			return &list[i];
	return NULL;
}

/* The dump borrows the texts for one call of waitshare_add, which does not write to them: the casts only drop const. */
static void frame_borrow(struct procview *l, const struct procview_frame *f, struct dump_frame *to)
{
	struct frame text;
	procview_frame_text(l, f, false, &text);
	*to = (struct dump_frame){.kind = text.kind,
				  .line = text.line,
				  .name = (char *)(uintptr_t)text.name,
				  .file = text.file[0] ? (char *)(uintptr_t)text.file : NULL,
				  .module = text.module[0] ? (char *)(uintptr_t)text.module : NULL};
}

struct round {
	struct dump_process process[WAITSHARE_RANKS];
	struct dump_thread thread[WAITSHARE_RANKS];
	uint8_t sign[WAITSHARE_RANKS]; /* enum waitshare_sign */
	const char *whom[WAITSHARE_RANKS]; /* what it waits for, if no rank; borrowed; NULL: unknown */
	char place[WAITSHARE_RANKS][130]; /* of a program made by Go; of another one's own thread */
	bool unknown; /* some thread is in a wait that is not known yet */
};

/*
 * Where a program without Python runs or sleeps, "in nap, called by load"; of: its thread, "": the main one. True if
 * that is its function.
 */
static bool place_read(struct sharethreads *s, pid_t tid, const char *of, const struct threadwait *t, char *dst,
		       size_t cap)
{
	char function[120];
	if (t->kind != WAIT_SLEEP && t->kind != WAIT_RUNNING)
		return false;
	const bool known = sharethreads_place(s, tid, t, function, sizeof(function));
	if (known)
		text_format(dst, cap, "in %s", function);
	else if (t->kind == WAIT_SLEEP && of[0])
		text_format(dst, cap, "in a thread of its own (%s)", of);
	return known;
}

static bool rank_sample(struct hangshares *s, size_t i, struct round *to, size_t at)
{
	struct dump_process *p = &to->process[at];
	struct dump_thread *t = &to->thread[at];
	struct procview *l = s->view[i];
	struct procview_sample look;
	const struct procview_frame *frames = NULL;
	size_t n = 0;
	bool approximate;
	*t = (struct dump_thread){.tid = l->pid, .main = true};
	if (threadwait_read(s->w, l->pid, l->pid, NULL, false, &t->wait) != 0)
		return false;
	bool go = s->go[i] && t->wait.kind != WAIT_STOPPED &&
		  sharego_look(s->go[i], &t->wait, to->place[at], sizeof(to->place[at]));
	const struct pythread *py = main_thread(l);
	bool spins = runplace_inside(&s->place[i]) && t->wait.kind == WAIT_RUNNING;
	struct sharethreads_found found = {.unread = false};
	bool whole = s->threads[i] && sharethreads_look(s->threads[i], s->waits, &t->wait, spins, &found);
	to->unknown |= found.unread;
	const bool vague = whole && found.is == THREADSHARE_VAGUE;
	if (whole)
		t->wait = vague ? (struct threadwait){.kind = WAIT_POLL, .nr = -1, .fd = -1, .state = t->wait.state}
				: found.wait;
	const bool function = s->threads[i] && !vague &&
			      place_read(s->threads[i], whole ? found.tid : l->pid, found.name, &t->wait, to->place[at],
					 sizeof(to->place[at]));
	/* Which thread of such a program works its first one does not tell: the sample does not count. */
	bool native = !l->has_python && (go || whole || !sharewaits_own(s->waits, l->pid, &t->wait));
	bool for_ranks = whole ? found.is == THREADSHARE_WAITS
			       : spins || sharewaits_for_ranks(s->waits, l->pid, &t->wait);
	to->sign[at] = (uint8_t)((for_ranks ? WAITSHARE_FOR_RANKS : 0) |
				 (sharewaits_for_lock(s->waits, l->pid, &t->wait) ? WAITSHARE_FOR_LOCK : 0) |
				 (sharewaits_unknown(s->waits, l->pid, &t->wait) ? WAITSHARE_UNREAD : 0) |
				 (vague || (py && sharewaits_vague(s->waits, l->pid, &t->wait)) ? WAITSHARE_VAGUE : 0) |
				 (py && sharewaits_own(s->waits, l->pid, &t->wait) ? WAITSHARE_FOR_OWN : 0) |
				 (whole && !vague && found.name[0] ? WAITSHARE_BY_THREAD : 0) |
				 (native ? WAITSHARE_NATIVE : 0) | (function ? WAITSHARE_FUNCTION : 0));
	to->whom[at] = sharewaits_whom(s->waits, l->pid, &t->wait);
	if (to->place[at][0] && (t->wait.kind == WAIT_SLEEP || s->threads[i]))
		to->whom[at] = to->place[at];
	to->unknown |= sharewaits_unknown(s->waits, l->pid, &t->wait);
	enum procview_still still = procview_still_of(t->wait.kind, t->wait.has_syscall ? t->wait.nr : -1);
	if (py && procview_sample(l, l->pid, py, still, &look) == 0 &&
	    procview_merge(l, &look, &frames, &n, &approximate) != 0)
		n = 0;
	TEXT_COPY(t->wait_kind, wait_kind_name(t->wait.kind));
	if (t->wait.has_syscall && t->wait.nr >= 0 && !go)
		TEXT_COPY(t->syscall, syscall_name(t->wait.nr));
	t->has_python = n > 0;
	t->frames = calloc(n ? n : 1, sizeof(*t->frames));
	for (size_t k = 0; t->frames && k < n; k++)
		frame_borrow(l, &frames[k], &t->frames[k]);
	t->n_frames = t->frames ? n : 0;
	*p = (struct dump_process){
		.pid = l->pid, .rank = s->rank[i], .state = t->wait.state, .threads = t, .n_threads = 1};
	TEXT_COPY(p->role, s->role[i]);
	return true;
}

static void forget(struct hangshares *s, size_t i)
{
	procview_close(s->view[i]);
	runplace_close(&s->place[i]);
	sharego_free(s->go[i]);
	sharethreads_free(s->threads[i]);
	s->n--;
	s->go[i] = s->go[s->n];
	s->threads[i] = s->threads[s->n];
	s->view[i] = s->view[s->n];
	s->rank[i] = s->rank[s->n];
	s->quota[i] = s->quota[s->n];
	s->cost[i] = s->cost[s->n];
	s->cost_ns[i] = s->cost_ns[s->n];
	s->place[i] = s->place[s->n];
	memcpy(s->role[i], s->role[s->n], sizeof(s->role[i]));
}

/* How often the quota held each rank back since before the first sample. */
static void quotas_read(const struct hangshares *s, struct waitshare *to)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct cpuquota *was = &s->quota[i];
		struct cpuquota now;
		if (was->cores <= 0 || cpuquota_read(s->w, s->view[i]->pid, &now) != 0 ||
		    strcmp(now.group, was->group) != 0)
			continue;
		waitshare_quota(to, s->rank[i], now.cores, sub_floor(now.periods, was->periods),
				sub_floor(now.throttled, was->throttled));
	}
}

/* What the main threads had of the processors since before the first sample. */
static void costs_read(const struct hangshares *s, struct waitshare *to)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct threadcost *was = &s->cost[i];
		struct threadcost now;
		pid_t pid = s->view[i]->pid;
		if (s->cost_ns[i] == 0 || cost_read(s->w, pid, s->threads[i], &now) != 0 || !now.has_schedule ||
		    now.start_ticks != was->start_ticks)
			continue;
		waitshare_processor(to, s->rank[i], sub_floor(now.run_ns, was->run_ns),
				    sub_floor(now.queued_ns, was->queued_ns), s->w->mono_ns() - s->cost_ns[i],
				    sub_floor(now.voluntary, was->voluntary));
	}
}

void hangshares_sample(struct hangshares *s, const struct hangprocs *procs, struct waitshare *to)
{
	uint64_t began = s->w->mono_ns();
	cleanup(freep) struct round *k = calloc(1, sizeof(*k));
	size_t n = 0;
	for (size_t i = 0; k && i < s->n;) {
		if (rank_sample(s, i, k, n)) {
			n++;
			i++;
		} else {
			forget(s, i);
		}
	}
	if (n) {
		struct stackdump d = {.captured_unix_ms = s->w->unix_ms(), .processes = k->process, .n = n};
		waitshare_add(to, &d, k->sign, k->whom);
		if (to->samples % PROCESSORS_EVERY == 0) {
			quotas_read(s, to);
			costs_read(s, to);
		}
	}
	for (size_t i = 0; i < n; i++)
		free(k->thread[i].frames);
	if (k && k->unknown && s->waits)
		sharewaits_learn(s->waits, s->w, procs, s->has_go);
	to->last_ns = s->w->mono_ns();
	to->took_ns += to->last_ns - began;
}
