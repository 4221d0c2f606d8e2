/*
 * What the goroutines of programs made by Go say of a job that stands. The runtime's threads wake up all the time, so
 * by them such a program works; whether its main goroutine can go on is known by its goroutines alone.
 */
#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"

/* As for other ranks that only wake up now and then. */
static const uint64_t work_ns = 5 * 60 * NS_PER_S, work_again_ns = 30 * NS_PER_S;

static const struct gostand *gostand_of(const struct hang_work *w, int32_t rank)
{
	for (size_t i = 0; i < w->c->n_go; i++)
		if (w->c->go[i].rank == rank)
			return &w->c->go[i];
	return NULL;
}

/* True if the rank waits for others, as far as its goroutines or its stack tell. */
static bool waits_for_others(const struct hang_work *w, int32_t rank)
{
	const struct gostand *s = gostand_of(w, rank);
	const struct stackgroup_rank *r = stackgroups_find(&w->g, rank);
	return s ? s->kind == GOSTAND_OUTSIDE : r && hang_waits(w, r);
}

/* Every rank waits either for a goroutine of its own, or for the other ranks. */
static bool explains_all(const struct hang_work *w)
{
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		const struct gostand *s = gostand_of(w, l->rank);
		if (l->serves || (s && (s->kind == GOSTAND_NOBODY || s->kind == GOSTAND_SOMEBODY)))
			continue;
		if (l->seen.exited || !waits_for_others(w, l->rank))
			return false;
	}
	return true;
}

static void stand_says(struct hang_work *w, const struct gostand *s)
{
	char who[HANG_WHO], since[24], long_for[60] = "";
	hang_who(s->rank, who);
	who[0] = 'R'; /* "rank" begins a sentence here */
	if (s->rank == NO_RANK)
		TEXT_FORMAT(who, "Process %d", (int)s->pid);
	if (s->since_ns && s->since_ns < w->p->now_ns)
		TEXT_FORMAT(long_for, ", for %s at least", duration_format(w->p->now_ns - s->since_ns, since));
	hang_says(w, "%s: %s%s; no goroutine that is still alive comes to what it waits for.", who, s->text, long_for);
	if (s->other[0] && s->owed)
		hang_says(w, "Those that could end it stand themselves, and nobody is left for these either: %s.",
			  s->other);
	else if (s->other[0])
		hang_says(w, "Beside it, %s.", s->other);
	hang_evidence(
		w, "goroutines", "memory of the process",
		"process %d (%s): of %u goroutines %u stand, seen twice; what goroutine 1 waits for was searched from "
		"the stacks of those that live, the variables and the timers",
		(int)s->pid, s->version, s->n, s->n_stand);
}

/*
 * True if what its main goroutine waits for comes from another process of the job in the end, as the goroutine that
 * lives only reads from that one: then the graph says more.
 */
static bool goroutine_waits_for_others(const struct hang_work *w, const struct gostand *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g ? waitgraph_thread(g, s->pid, 0) : NULL;
	return n && n->thread->goroutine && waitgraph_leads_to_rank(g, (uint32_t)(n - g->node));
}

/* Who waits for a goroutine that lives waits for its work, as one whose threads run does. */
static bool goroutine_works(struct hang_work *w)
{
	const struct gostand *works = NULL;
	for (size_t i = 0; i < w->c->n_go; i++)
		if (w->c->go[i].kind == GOSTAND_SOMEBODY && !goroutine_waits_for_others(w, &w->c->go[i]))
			works = &w->c->go[i];
	if (!works || w->s->has_after || w->standstill_ns >= work_ns || !explains_all(w))
		return false;
	w->v->kind = HANG_NONE;
	w->v->benign = true;
	TEXT_COPY(w->v->id, "own_thread");
	hang_says(w, "it waits for another goroutine that lives: %s", works->text);
	w->v->again_ns = work_again_ns;
	return true;
}

bool hang_goroutines(struct hang_work *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->c->n_go; i++) {
		const struct gostand *s = &w->c->go[i];
		if (s->kind != GOSTAND_NOBODY)
			continue;
		/*
		 * A program that makes no steps may leave its work to goroutines that wait for requests, and its main
		 * one in a wait that is meant for ever: nobody at all could end that.
		 */
		if (!w->stepping && s->serves && !s->owed)
			return false;
		n++;
	}
	if (n == 0)
		return goroutine_works(w);
	if (!explains_all(w))
		return false;
	if (!hang_old_enough(w, HANG_EXPLAINED))
		return true;
	hang_is(w, "orphaned_wait", CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < w->c->n_go; i++) {
		const struct gostand *s = &w->c->go[i];
		if (s->kind != GOSTAND_NOBODY)
			continue;
		hang_accuse(w, s->rank);
		stand_says(w, s);
	}
	hang_advise(
		w,
		"in Go, look for a goroutine that returned early without wg.Done(), Unlock(), close or a send; put "
		"these behind `defer`, and a case <-ctx.Done() beside the channel; `vigil stack` lists all goroutines");
	return true;
}
