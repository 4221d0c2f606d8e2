#include "model/speed/threadshare.h"

#include <string.h>

#include "base/base.h"

/* Looks at a thread or a word before it is known. */
static const uint32_t looks_least = 20;
/* A thread that is at one word in so much of its looks only joins others. */
static const double parked = 0.95;
/* One that is at waits for ranks in more receives messages for others. */
static const double receives = 0.98;
/* One that rests in less is about something that has nothing to do with steps, or is what takes all the time. */
static const double rests_least = 0.02;
/* One that is busy in so much of the looks in which the one of the steps waits for ranks, works for itself. */
static const double beside_least = 0.9;
/* All wait for ranks in less of the looks at a word: a wait for work; in more: one for messages. */
static const double idle_hardly = 0.1, idle_mostly = 0.6;

static bool busy(const struct threadshare_look *x)
{
	return x->does == THREADSHARE_RUNS || x->does == THREADSHARE_NAPS || x->does == THREADSHARE_BLOCKS;
}

/* NULL: there is no room. */
static struct threadshare_thread *threadshare_thread(struct threadshare *s, pid_t tid)
{
	struct threadshare_thread *room = NULL;
	for (size_t i = 0; i < THREADSHARE_THREADS; i++) {
		if (s->thread[i].tid == tid)
			return &s->thread[i];
		if (!room && s->thread[i].tid == 0)
			room = &s->thread[i];
	}
	if (room)
		*room = (struct threadshare_thread){.tid = tid, .late = s->looks > 1};
	return room;
}

static struct threadshare_word *threadshare_word(struct threadshare *s, uint64_t word)
{
	for (size_t i = 0; i < THREADSHARE_WORDS; i++) {
		if (s->word[i].word == 0)
			s->word[i].word = word;
		if (s->word[i].word == word)
			return &s->word[i];
	}
	return NULL;
}

static bool look_has(const struct threadshare_look *look, size_t n, pid_t tid)
{
	for (size_t i = 0; i < n; i++)
		if (look[i].tid == tid)
			return true;
	return false;
}

/* Threads that have ended make room. */
static void ended_forget(struct threadshare *s, const struct threadshare_look *look, size_t n)
{
	for (size_t i = 0; i < THREADSHARE_THREADS; i++)
		if (s->thread[i].tid != 0 && !look_has(look, n, s->thread[i].tid))
			s->thread[i].tid = 0;
}

static void look_count(struct threadshare_thread *t, const struct threadshare_look *x)
{
	t->n++;
	t->rests += !busy(x);
	t->ranks += x->does == THREADSHARE_FOR_RANKS;
	if (x->does != THREADSHARE_RESTS)
		return;
	t->same = t->word == x->word ? t->same + 1 : 1;
	t->word = x->word;
}

static bool is_parked(const struct threadshare_thread *t)
{
	return t && t->n >= looks_least && t->same >= parked * t->n;
}

/* The index of the thread that goes through the steps. */
static size_t steps_find(struct threadshare *s, const struct threadshare_look *look, size_t n)
{
	size_t best = 0;
	uint32_t most = 0;
	if (!is_parked(threadshare_thread(s, look[0].tid)))
		return 0;
	for (size_t i = 1; i < n; i++) {
		const struct threadshare_thread *t = threadshare_thread(s, look[i].tid);
		if (t && t->n >= looks_least && t->ranks > most && t->ranks < receives * t->n) {
			most = t->ranks;
			best = i;
		}
	}
	return best;
}

static bool works_beside(const struct threadshare_thread *t)
{
	return t && t->beside + t->apart >= looks_least / 2 && t->beside >= beside_least * (t->beside + t->apart);
}

/* Whether it works for the one of the steps is not known: too few looks, or it is busy at all of them. */
static bool unsure(const struct threadshare_thread *t)
{
	return !t || (!t->late && t->n < looks_least / 2) || (t->n >= looks_least && t->rests < rests_least * t->n);
}

/*
 * The one that is busy for the one at `of`, one that runs first, then one that is blocked. n: none. any: who is busy at
 * all looks, or works for itself, may be it as well; else ret_unsure is true of such ones.
 */
static size_t busy_find(struct threadshare *s, const struct threadshare_look *look, size_t n, size_t of, bool any,
			bool *ret_unsure)
{
	static const enum threadshare_does order[] = {THREADSHARE_RUNS, THREADSHARE_BLOCKS, THREADSHARE_NAPS};
	size_t best = n;
	*ret_unsure = false;
	for (size_t k = 0; k < ARRAY_SIZE(order) && best == n; k++)
		for (size_t i = 0; i < n && best == n; i++) {
			const struct threadshare_thread *t = threadshare_thread(s, look[i].tid);
			if (i == of || look[i].does != order[k] || (!any && works_beside(t)))
				continue;
			if (!any && unsure(t))
				*ret_unsure = true;
			else
				best = i;
		}
	return best;
}

/* The first of those that do this; n: none. */
static size_t doing_find(const struct threadshare_look *look, size_t n, enum threadshare_does does)
{
	size_t i = 0;
	while (i < n && look[i].does != does)
		i++;
	return i;
}

/*
 * The one of the steps waits for others of its process. Where none of these is at a wait that another rank could end,
 * it waits for one that is busy, or sleeps; else it may wait for one or the other.
 */
static enum threadshare_is rests(struct threadshare *s, const struct threadshare_look *look, size_t n, size_t of,
				 size_t *ret_at)
{
	bool not_sure;
	const size_t ranks = doing_find(look, n, THREADSHARE_FOR_RANKS);
	const bool outside = ranks < n || doing_find(look, n, THREADSHARE_UNKNOWN) < n;
	size_t works = busy_find(s, look, n, of, false, &not_sure);
	const bool idle = works == n && !not_sure && ranks < n;
	struct threadshare_word *w = threadshare_word(s, look[of].word | 1);
	if (works == n && !outside)
		works = busy_find(s, look, n, of, true, &not_sure);
	if (!w || (outside && ranks == n))
		return THREADSHARE_VAGUE;
	w->n++;
	w->idle += idle;
	if (!outside && works < n) {
		*ret_at = works;
		return THREADSHARE_AS_THREAD;
	}
	if (w->n < looks_least)
		return THREADSHARE_VAGUE;
	if (ranks < n && (idle || w->idle > idle_mostly * w->n)) {
		*ret_at = ranks;
		return THREADSHARE_WAITS;
	}
	if (works == n || w->idle >= idle_hardly * w->n)
		return THREADSHARE_VAGUE;
	*ret_at = works;
	return THREADSHARE_AS_THREAD;
}

enum threadshare_is threadshare_add(struct threadshare *s, const struct threadshare_look *look, size_t n,
				    size_t *ret_at)
{
	s->looks++;
	*ret_at = 0;
	ended_forget(s, look, n);
	for (size_t i = 0; i < n; i++) {
		struct threadshare_thread *t = threadshare_thread(s, look[i].tid);
		if (t)
			look_count(t, &look[i]);
	}
	const size_t of = steps_find(s, look, n);
	if (look[of].does == THREADSHARE_RESTS)
		return rests(s, look, n, of, ret_at);
	for (size_t i = 0; i < n; i++) {
		struct threadshare_thread *t = i != of ? threadshare_thread(s, look[i].tid) : NULL;
		if (!t || look[of].does != THREADSHARE_FOR_RANKS)
			continue;
		t->beside += busy(&look[i]);
		t->apart += !busy(&look[i]);
	}
	*ret_at = of;
	return look[of].does == THREADSHARE_FOR_RANKS ? THREADSHARE_WAITS : THREADSHARE_AS_THREAD;
}
