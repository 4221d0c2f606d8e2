#include "agent/hang/sharethreads.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/hash.h"
#include "sense/wait/threadlist.h"

/* While the main thread does not wait for others of its own, these are looked at in one of so many looks. */
static const uint32_t seldom = 4;

struct sharethreads {
	const struct world *w;
	pid_t pid;
	struct threadwatch *watch;
	uint32_t looks;
	struct threadshare share;
	struct threadwait wait[THREADSHARE_THREADS];
	struct threadshare_look look[THREADSHARE_THREADS];
};

struct sharethreads *sharethreads_new(const struct world *w, pid_t pid)
{
	struct sharethreads *s = calloc(1, sizeof(*s));
	if (s)
		*s = (struct sharethreads){.w = w, .pid = pid, .watch = threadwatch_new(w, pid)};
	return s && s->watch ? s : sharethreads_free(s);
}

struct sharethreads *sharethreads_free(struct sharethreads *s)
{
	if (s)
		threadwatch_free(s->watch);
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
	if (sharewaits_for_ranks(waits, pid, t) && !own)
		return THREADSHARE_FOR_RANKS;
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
		ret->unread |= s->look[i].does == THREADSHARE_UNKNOWN || (i == 0 && sharewaits_unknown(waits, s->pid, t));
	}
	ret->is = threadshare_add(&s->share, s->look, n, &at);
	ret->wait = s->wait[at];
	if (at > 0)
		task_comm(s->w, s->pid, s->look[at].tid, ret->name);
	return rests;
}
