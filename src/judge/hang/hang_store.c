/* Ranks that wait for the store: for a key that nobody sets, to meet, or for a server that has ended. */
#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"
#include "judge/hang/hang_store.h"

/* The store has taken their questions, and answers when somebody sets what they wait for. */
static bool key_not_set(struct hang_work *w, const struct stackgroup_rank *one)
{
	char doing[300];
	hang_is(w, "store_key_not_set", CONFIDENCE_LOW); /* who has to set it is not known, and may be no rank */
	hang_doing(w, one, doing, sizeof(doing));
	hang_says(w, "All ranks wait for the store, and none of them is left to set what they wait for: rank %d in %s.",
		  one->rank, doing);
	hang_store_key_says(w);
	return true;
}

/* The program's own line asks the store, and no library does so for it, as one that makes a group. */
static bool asks_store_itself(const struct stackgroup_rank *r)
{
	if (r->activity.kind != ACTIVITY_STORE || !r->acting || !r->activity.user)
		return false;
	for (size_t i = 0; i < r->acting->n_frames; i++)
		if (r->acting->frames[i].kind == FRAME_PYTHON)
			return &r->acting->frames[i] == r->activity.user;
	return false;
}

/* The program gives its key no more than this to come, by the time limit of its call, and it is not over yet. */
static bool key_may_be_given_up(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const uint64_t most_ns = 2 * 60 * NS_PER_S, over_ns = 5 * NS_PER_S;
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, r->acting->tid) : NULL;
	const uint64_t limit_ns = n && n->thread ? n->thread->limit_ns : 0;
	return limit_ns > 0 && limit_ns <= most_ns && w->standstill_ns < limit_ns + over_ns;
}

/*
 * Some wait for a key, all others in collectives, so nobody of them sets it: the others wait for those at the store.
 * That the calls differ is no mistake by itself: who has to set the key is not known.
 */
bool hang_key_beside_calls(struct hang_work *w)
{
	const struct stackgroup_rank *one = NULL, *other = NULL;
	char a[300], b[300];
	bool given_up = false;
	size_t n = 0;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		const bool asks = asks_store_itself(r);
		if (!asks && r->activity.kind != ACTIVITY_COLLECTIVE)
			return false;
		n += asks;
		given_up |= asks && key_may_be_given_up(w, r);
		one = asks && !one ? r : one;
		other = !asks && !other ? r : other;
	}
	if (!one || !other || !w->stepping)
		return false;
	if (given_up || !hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "store_key_not_set", CONFIDENCE_LOW);
	for (size_t i = 0; i < w->g.n && n * 2 <= w->g.n; i++)
		if (asks_store_itself(&w->g.rank[i]))
			hang_accuse(w, w->g.rank[i].rank);
	hang_doing(w, one, a, sizeof(a));
	hang_doing(w, other, b, sizeof(b));
	hang_says(w, "Rank %d waits for the store, in %s; rank %d waits for the others, in %s.", one->rank, a,
		  other->rank, b);
	hang_store_key_says(w);
	hang_says(w, "No rank is left to set it: it has another name where it is set, or a rank went on without that.");
	return true;
}

/* They stand where the ranks of a job meet for the first time, whatever it has printed before as its steps. */
static bool all_meet(const struct hang_work *w)
{
	for (size_t i = 0; i < w->g.n; i++) {
		const struct dump_thread *t = w->g.rank[i].acting;
		bool meets = false;
		for (size_t k = 0; t && k < t->n_frames && !meets; k++) {
			const struct dump_frame *f = &t->frames[k];
			meets = f->kind == FRAME_PYTHON && f->file && strstr(f->file, "torch/distributed/") &&
				strcmp(f->name, "init_process_group") == 0;
		}
		if (!meets)
			return false;
	}
	return w->g.n > 0;
}

uint32_t hang_world_size(const struct hang_work *w)
{
	return w->c->environment ? w->c->environment->world_size : 0;
}

/* The ranks that have no process here, by the number of them that the others were told: they may be late. */
static size_t absent_ranks(const struct hang_work *w, int32_t absent[static STACKGROUP_RANKS])
{
	size_t n = 0;
	for (uint32_t r = 0; r < MIN(hang_world_size(w), (uint32_t)STACKGROUP_RANKS); r++)
		if (!liveness_find(w->p, (int32_t)r))
			absent[n++] = (int32_t)r;
	return n;
}

static void says_absent(struct hang_work *w, const int32_t *absent, size_t n)
{
	char ranks[200];
	if (n == 0)
		return;
	w->v->confidence = CONFIDENCE_LOW;
	hang_ranks_text(absent, n, ranks, sizeof(ranks));
	hang_says(w, "WORLD_SIZE is %u, and %s %s not here: not started, late, or on another machine.",
		  hang_world_size(w), ranks, n == 1 ? "is" : "are");
}

bool hang_store_waits(struct hang_work *w)
{
	const struct stackgroup_rank *one = NULL;
	const struct liveness *zero = liveness_find(w->p, 0);
	int32_t absent[STACKGROUP_RANKS];
	char doing[300];
	size_t n = 0, n_absent = absent_ranks(w, absent);
	for (size_t i = 0; i < w->g.n; i++) {
		n += w->g.rank[i].activity.kind == ACTIVITY_STORE;
		if (!one && w->g.rank[i].activity.kind == ACTIVITY_STORE)
			one = &w->g.rank[i];
	}
	/* Who is in another call has not come to what the others wait for. */
	if (!one || (n < w->g.n && !(zero && zero->seen.exited)))
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	if (w->stepping && !(zero && zero->seen.exited) && hang_waits_for_key(w))
		return key_not_set(w, one);
	const bool gone = zero && zero->seen.exited, lost = gone || (w->stepping && !all_meet(w));
	/* a rank may be started, or come to the end of its imports, a minute after the others */
	if (!lost && n_absent > 0 && !hang_outlasts_helpers(w))
		return true;
	/* who does not come, or does not answer, is seen only where the server has ended */
	hang_is(w, lost ? "store_lost" : "rendezvous", gone ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW);
	if (lost)
		hang_accuse(w, 0);
	hang_doing(w, one, doing, sizeof(doing));
	hang_says(w,
		  lost ? "The ranks wait for the store that rank 0 serves, and it does not answer: rank %d in %s."
		       : "The ranks wait to meet, and do not: rank %d in %s.",
		  one->rank, doing);
	if (!lost)
		says_absent(w, absent, n_absent);
	return true;
}
