/* Ranks that go round in calls of a library, such as MPI's: is it one long call, or many short ones? */
#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"

/* True of a rank without Python that is in the same call, from the same functions, at each look: it goes round. */
bool hang_stays_in_call(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct activity_found *now = &r->activity;
	if (!r->acting || r->acting->has_python || !now->frame || !activity_waits_for_ranks(now->kind))
		return false;
	const size_t at = (size_t)(now->frame - r->acting->frames), out = r->acting->n_frames - at;
	size_t seen = 0;
	for (size_t i = 0; i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct dump_thread *t = hang_acting_at(w->c->dumps[i], r);
		struct activity_found f = {.frame = NULL};
		if (t && t->n_frames == 0 && t->note[0])
			continue; /* it had no processor at that look, and did not stop in time */
		if (t)
			activity_of(t, &f);
		seen++;
		if (!f.frame || t->roams || f.kind != now->kind || strcmp(f.op, now->op) != 0)
			return false;
		const size_t then = (size_t)(f.frame - t->frames);
		if (t->n_frames - then != out)
			return false;
		for (size_t k = 0; k < out; k++)
			if (strcmp(t->frames[then + k].name, r->acting->frames[at + k].name) != 0)
				return false;
	}
	return seen > 1;
}

/* All are in the same call, or in messages alone: ranks that work on and on look so as well. */
static bool all_in_one_call(const struct hang_work *w)
{
	bool one = true, messages = true;
	for (size_t i = 0; i < w->g.n; i++) {
		one &= strcmp(w->g.rank[i].activity.op, w->g.rank[0].activity.op) == 0;
		messages &= w->g.rank[i].activity.kind == ACTIVITY_P2P;
	}
	return one || messages;
}

/* It goes round, without Python, and has too little of a processor to be met elsewhere soon, if it ever is. */
bool hang_is_starved(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const double much = 0.2;
	return r->acting && !r->acting->has_python && r->acting->wait.kind == WAIT_RUNNING &&
	       hang_queues(w, r->rank) >= much;
}

/*
 * Each rank was met in its call at each look, and its stack within that changes. So does that of ranks which make such
 * calls one after the other, as in an evaluation: it is told late, and low.
 */
void hang_goes_round_says(struct hang_work *w)
{
	if (w->v->kind != HANG_HANG || !hang_old_enough(w, HANG_VAGUE))
		return;
	if (all_in_one_call(w) && !hang_outlasts_helpers(w)) {
		w->v->kind = HANG_NONE;
		w->v->proved = false;
		w->v->id[0] = '\0';
		w->v->n_culprits = w->v->n_advice = w->v->n_evidence = 0;
		TEXT_COPY(w->v->text, "the ranks go round in one call, or make many such calls");
		return;
	}
	w->v->confidence = CONFIDENCE_LOW;
	w->v->proved = false;
	w->may_end = true;
	hang_says(w, "They go round in these calls, or make many of them.");
}
