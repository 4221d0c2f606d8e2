#include "agent/hang/sharethreads.h"

#include <stdlib.h>
#include <string.h>

#include "agent/inspect/procview.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/units.h"
#include "sense/wait/threadlist.h"

/* While the main thread does not wait for others of its own, these are looked at in one of so many looks. */
static const uint32_t seldom = 4;
/* A stack is taken in one of so many looks, so many of them at most, and for so long in all. */
static const uint32_t stack_every = 8, stacks_most = 16;
static const uint64_t stacks_ns = 300 * NS_PER_MS;

struct sharethreads {
	const struct world *w;
	pid_t pid;
	struct threadwatch *watch;
	uint32_t looks;
	struct natives *natives; /* borrowed */
	struct procview *view; /* for stacks; NULL: not needed yet */
	uint32_t asked, stacks;
	uint64_t spent_ns;
	struct threadshare share;
	struct threadwait wait[THREADSHARE_THREADS];
	struct threadshare_look look[THREADSHARE_THREADS];
};

struct sharethreads *sharethreads_new(const struct world *w, pid_t pid, struct natives *natives)
{
	struct sharethreads *s = calloc(1, sizeof(*s));
	if (s)
		*s = (struct sharethreads){.w = w, .pid = pid, .natives = natives, .watch = threadwatch_new(w, pid)};
	return s && s->watch ? s : sharethreads_free(s);
}

struct sharethreads *sharethreads_free(struct sharethreads *s)
{
	if (s) {
		threadwatch_free(s->watch);
		procview_close(s->view);
	}
	free(s);
	return NULL;
}

static enum threadshare_does does_of(const struct sharewaits *waits, pid_t pid, const struct threadwait *t)
{
	switch (t->kind) {
	case WAIT_RUNNING:
		return THREADSHARE_RUNS;
	case WAIT_SLEEP:
		return THREADSHARE_NAPS;
	case WAIT_DISK:
	case WAIT_MEMORY:
	case WAIT_GPU:
	case WAIT_STOPPED:
		return THREADSHARE_BLOCKS;
	case WAIT_SIGNAL:
	case WAIT_ZOMBIE:
		return THREADSHARE_RESTS;
	default:
		break;
	}
	const bool own = sharewaits_own(waits, pid, t), lock = t->kind == WAIT_LOCK;
	const bool ranks = sharewaits_for_ranks(waits, pid, t);
	if (ranks && !own)
		return THREADSHARE_FOR_RANKS;
	/* one of its own wakes it up as well, or it receives messages */
	if (ranks && own && !lock)
		return THREADSHARE_UNKNOWN;
	if (own || lock)
		return THREADSHARE_RESTS;
	return sharewaits_unknown(waits, pid, t) || t->kind == WAIT_UNKNOWN ? THREADSHARE_UNKNOWN : THREADSHARE_BLOCKS;
}

/* The other threads, behind the main one. False: there is none, or there are too many. */
static bool others_read(struct sharethreads *s, size_t *ret_n)
{
	cleanup(freep) pid_t *tid = NULL;
	size_t n_tids = 0, n = 1;
	if (threads_read(s->w, s->pid, &tid, &n_tids) != 0 || n_tids < 2 || n_tids > THREADSHARE_THREADS)
		return false;
	for (size_t i = 0; i < n_tids; i++) {
		struct threadwatch_call c;
		if (tid[i] == s->pid || n == THREADSHARE_THREADS || threadwatch_call(s->watch, tid[i], &c) != 0)
			continue;
		s->look[n].tid = tid[i];
		s->wait[n++] = (struct threadwait){.kind = c.kind,
						   .has_syscall = c.nr >= 0,
						   .nr = c.nr,
						   .arg = {c.arg[0], c.arg[1], c.arg[2]},
						   .fd = -1};
	}
	*ret_n = n;
	return n > 1;
}

bool sharethreads_look(struct sharethreads *s, const struct sharewaits *waits, const struct threadwait *main_wait,
		       bool spins, struct sharethreads_found *ret)
{
	size_t n, at;
	*ret = (struct sharethreads_found){.unread = false};
	s->wait[0] = *main_wait;
	s->look[0].tid = s->pid;
	s->look[0].does = spins ? THREADSHARE_FOR_RANKS : does_of(waits, s->pid, main_wait);
	const bool rests = s->look[0].does == THREADSHARE_RESTS;
	if ((!rests && s->looks++ % seldom != 0) || main_wait->kind == WAIT_STOPPED || !others_read(s, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct threadwait *t = &s->wait[i];
		if (i > 0)
			s->look[i].does = does_of(waits, s->pid, t);
		s->look[i].word = hash_mix(hash_mix((uint64_t)t->nr) ^ t->arg[0]);
		ret->unread |= s->look[i].does == THREADSHARE_UNKNOWN ||
			       (i == 0 && sharewaits_unknown(waits, s->pid, t));
	}
	ret->is = threadshare_add(&s->share, s->look, n, &at);
	ret->wait = s->wait[at];
	ret->tid = s->look[at].tid;
	if (at > 0)
		task_comm(s->w, s->pid, s->look[at].tid, ret->name);
	return rests;
}

/* ---- where ---- */

/* What languages' own libraries have put into the program. */
static bool is_of_language(const char *name)
{
	static const char *const begins[] = {"std::", "core::", "alloc::", "__", "_start"};
	name += name[0] == '<';
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* A function of the program, no library's. */
static bool is_of_program(const struct frame *f)
{
	static const char *const libraries[] = {"lib", "ld-", "["};
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		if (strncmp(f->module, libraries[i], strlen(libraries[i])) == 0)
			return false;
	return f->kind == FRAME_NATIVE && f->module[0] && f->name[0] && f->name[0] != '[' &&
	       strncmp(f->name, "0x", 2) != 0 && !is_of_language(f->name);
}

static void place_write(struct procview *v, const struct procview_frame *frame, size_t n, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	size_t found = 0;
	buf_reset(&b);
	for (size_t i = 0; i < n && found < 2; i++) {
		struct frame f;
		procview_frame_text(v, &frame[i], false, &f);
		if (!is_of_program(&f))
			continue;
		buf_printf(&b, "%s%.48s", found > 0 ? ", called by " : "", f.name);
		found++;
	}
}

static bool view_open(struct sharethreads *s)
{
	const struct procview_want want = {.natives = s->natives};
	struct fault f = {.text = ""};
	return s->view || (procview_open(s->w, s->pid, &want, &s->view, &f) == 0 && s->view);
}

bool sharethreads_place(struct sharethreads *s, pid_t tid, const struct threadwait *t, char *dst, size_t cap)
{
	const uint64_t began_ns = s->w->mono_ns();
	const enum procview_still still = procview_still_of(t->kind, t->has_syscall ? t->nr : -1);
	const struct procview_frame *frames = NULL;
	struct procview_sample look;
	bool approximate;
	size_t n = 0;
	dst[0] = '\0';
	if (!s->natives || s->asked++ % stack_every != 0 || s->stacks >= stacks_most || s->spent_ns >= stacks_ns)
		return false;
	s->stacks++;
	if (still != PROCVIEW_TOUCHY && view_open(s) && procview_sample(s->view, tid, NULL, still, &look) == 0 &&
	    procview_merge(s->view, &look, &frames, &n, &approximate) == 0)
		place_write(s->view, frames, n, dst, cap);
	s->spent_ns += s->w->mono_ns() - began_ns;
	return dst[0] != '\0';
}
