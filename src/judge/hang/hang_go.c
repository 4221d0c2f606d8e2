/*
 * What the goroutines of programs made by Go say of a job that stands. The runtime's threads wake up all the time, so
 * by them such a program works; whether its main goroutine can go on is known by its goroutines alone.
 */
#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"

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

/* Every rank either waits for a goroutine that nobody is left to wake, or for the other ranks. */
static bool explains_all(const struct hang_work *w)
{
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		const struct gostand *s = gostand_of(w, l->rank);
		if (l->serves || (s && s->kind == GOSTAND_NOBODY))
			continue;
		if (l->seen.exited || !waits_for_others(w, l->rank))
			return false;
	}
	return true;
}

static void stand_says(struct hang_work *w, const struct gostand *s)
{
	char who[HANG_WHO], since[24];
	hang_who(s->rank, who);
	if (s->rank == NO_RANK)
		hang_says(w, "%s", s->text);
	else
		hang_says(w, "%s: %s", who, s->text);
	if (s->since_ns && s->since_ns < w->p->now_ns)
		hang_says(w, ", for %s at least", duration_format(w->p->now_ns - s->since_ns, since));
	hang_says(w, "; no goroutine that is still alive comes to what it waits for.");
	if (s->other[0])
		hang_says(w, " Beside it, %s.", s->other);
	hang_evidence(w, "goroutines", "memory of the process",
		      "process %d (%s): of %u goroutines %u stand, seen twice; those that live were searched for what "
		      "goroutine 1 waits for, through their stacks, the variables and the timers, a few steps deep",
		      (int)s->pid, s->version, s->n, s->n_stand);
}

bool hang_goroutines(struct hang_work *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->c->n_go; i++) {
		const struct gostand *s = &w->c->go[i];
		if (s->kind != GOSTAND_NOBODY)
			continue;
		/* A program that makes no steps may leave its work to goroutines that wait for requests. */
		if (!w->stepping && s->serves)
			return false;
		n++;
	}
	if (n == 0 || !explains_all(w))
		return false;
	if (!hang_old_enough(w, w->stepping ? HANG_EXPLAINED : HANG_DOUBTFUL))
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
