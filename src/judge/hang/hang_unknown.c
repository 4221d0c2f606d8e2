/* Nothing says why a job stands: what is known of it is told, and that it is not known why. */
#include "base/units.h"
#include "judge/hang/hang_gone.h"

/* On a crowded machine a job that is ready to go on may stand for minutes. What hangs asks for no processor. */
static bool lacks_processors(const struct hang_work *w)
{
	const double much = 0.2;
	for (size_t i = 0; i < w->g.n; i++)
		if (hang_queues(w, w->g.rank[i].rank) >= much)
			return true;
	return false;
}

static const uint64_t look_again_ns = 25 * NS_PER_S;

/* True if something of the job takes a little of a processor all along, which is no standstill, be it work or not. */
static bool computes_a_little(const struct hang_work *w)
{
	const double little = 0.02;
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (!l->serves && !l->seen.exited && l->trace[LIVENESS_CPU].known &&
		    l->trace[LIVENESS_CPU].rate / 1e9 >= little)
			return true;
	}
	return false;
}

/*
 * How it waits is not known, but its process tries in vain to connect, maybe in a thread of a library's, and that is
 * what it may wait for. The only rank that is left is named.
 */
static bool refused_beside(struct hang_work *w, const struct stackgroup_rank *r)
{
	char doing[300], who[HANG_WHO];
	bool ended;
	if (!hang_is_refused(w, r->rank))
		return false;
	hang_is(w, "network_wait", CONFIDENCE_LOW);
	w->v->unexplained = true;
	hang_doing(w, r, doing, sizeof(doing));
	hang_who(r->rank, who);
	who[0] = r->rank == NO_RANK ? 'T' : 'R';
	hang_says(w, "%s stands %s.", who, doing);
	ignore(hang_says_refused(w, r->rank), "it is, as was asked");
	hang_says_ranks_left_then(w);
	if (r->rank != NO_RANK && hang_live_ranks(w->p, &ended) == 1)
		hang_accuse(w, r->rank);
	return true;
}

void hang_unknown(struct hang_work *w)
{
	char stood[24], doing[300], who[HANG_WHO];
	const struct stackgroup_rank *r = hang_culprit(w);
	bool little = w->has_stacks && computes_a_little(w);
	enum hang_proof need = little ? HANG_DOUBTFUL : hang_left_then(w) ? HANG_EXPLAINED : HANG_VAGUE;
	if (!hang_old_enough(w, need)) {
		if (little) /* the next look may find more */
			w->v->again_ns = MIN(w->v->again_ns, look_again_ns);
		return;
	}
	if (!w->stalled_rank && w->s->rule != HANG_RULE_IO_GPU && lacks_processors(w)) {
		TEXT_COPY(w->v->text, "its threads are ready, and others have the processors");
		return;
	}
	for (size_t i = 0; i < w->g.n && !w->stalled_rank; i++)
		if (w->g.rank[i].compared && !w->g.rank[i].unchanged && w->s->rule != HANG_RULE_IO_GPU) {
			TEXT_COPY(w->v->text, "nothing moves but the stacks");
			return;
		}
	if (r && refused_beside(w, r))
		return;
	hang_is(w, "hang_unknown", CONFIDENCE_LOW);
	w->v->unexplained = true;
	hang_says(w, "Nothing has moved for %s, and nothing that was looked at says why.",
		  duration_format(w->standstill_ns, stood));
	if (!w->has_stacks) {
		hang_says(w, "No stacks could be read.");
		return;
	}
	if (!r)
		return;
	hang_doing(w, r, doing, sizeof(doing));
	hang_who(r->rank, who);
	who[0] = r->rank == NO_RANK ? 'T' : 'R';
	hang_says(w, "%s stands %s.", who, doing);
	hang_says_who_left_then(w);
	if (hang_first_waiting(w) || w->stalled_rank)
		hang_accuse_all(w);
}
