#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"
#include "judge/hang/hang_store.h"
#include "judge/rules/hang_refine.h"

static bool in(const int32_t *ranks, size_t n, int32_t rank)
{
	for (size_t i = 0; i < n; i++)
		if (ranks[i] == rank)
			return true;
	return false;
}

/* True when all accused ranks of the list are accused here too. An empty list contradicts nothing. */
static bool agrees(const struct hang_work *w, const int32_t *ranks, size_t n)
{
	if (n == 0 || w->v->n_culprits == 0)
		return true;
	for (size_t i = 0; i < n; i++)
		if (!in(w->v->culprits, w->v->n_culprits, ranks[i]))
			return false;
	return true;
}

static const char *hang_join_cause_of(enum hang_collective_kind k, bool had_steps)
{
	switch (k) {
	case HANG_COLLECTIVE_MISSING:
		return "missing_rank";
	case HANG_COLLECTIVE_MISMATCH:
		return "mismatched_collective";
	case HANG_COLLECTIVE_EQUAL:
		return "equal_count_stall";
	case HANG_COLLECTIVE_P2P:
		return "p2p_wait";
	case HANG_COLLECTIVE_DEAD:
		return "dead_rank";
	case HANG_COLLECTIVE_INIT:
		return had_steps ? "missing_rank" : "rendezvous";
	case HANG_COLLECTIVE_UNEVEN:
		return "uneven_last_epoch";
	case HANG_COLLECTIVE_DEVICE:
		return "gpu_stuck";
	case HANG_COLLECTIVE_CYCLE:
		return "collective_order";
	default:
		return NULL;
	}
}

static const char *collective_id(const struct hang_work *w)
{
	const struct hang_collective *c = w->c->collective;
	return c && c->valid ? hang_join_cause_of(c->kind, w->stepping) : NULL;
}

/* Counters of the library itself show which rank has not entered a call; stacks do not. */
bool hang_collective_says(struct hang_work *w)
{
	/* A rank that stands outside of every wait is the better witness; hang_collective_joins compares both. */
	return collective_id(w) && !hang_culprit(w) && hang_collective_alone(w);
}

/*
 * Calls that can never end: other ones at their number, or one that has ended on the others. Ranks that wait for each
 * other in two groups may have asked for a call without waiting for it, and make the other one later, unless all stand.
 */
static bool never_end(const struct hang_work *w, const struct hang_collective *c)
{
	if (c->confidence != CONFIDENCE_HIGH)
		return false;
	const uint32_t all = hang_world_size(w);
	if (c->kind == HANG_COLLECTIVE_CYCLE)
		return w->has_stacks && hang_all_still(w) && all > 0 && w->g.n >= all;
	return c->kind == HANG_COLLECTIVE_MISMATCH || c->kind == HANG_COLLECTIVE_DEVICE;
}

/* True if all of those ranks are here, so that their stacks say what keeps them. */
static bool are_here(const struct hang_work *w, const struct hang_collective *c)
{
	bool here = w->has_stacks && c->n_culprits > 0;
	for (size_t i = 0; i < c->n_culprits; i++)
		here &= stackgroups_find(&w->g, c->culprits[i]) != NULL;
	return here;
}

/* How sure they are alone: they know who has not come, not whether it will; one that is not here may be at work. */
static enum confidence alone_sure(const struct hang_work *w, const struct hang_collective *c)
{
	if (c->kind == HANG_COLLECTIVE_EQUAL || never_end(w, c))
		return c->confidence;
	return MIN(c->confidence, are_here(w, c) ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW);
}

bool hang_collective_alone(struct hang_work *w)
{
	const struct hang_collective *c = w->c->collective;
	const char *id = collective_id(w);
	if (!id)
		return false;
	const enum confidence sure = alone_sure(w, c);
	const bool vague = sure < c->confidence && sure == CONFIDENCE_LOW;
	if (!hang_old_enough(w, HANG_FIRM) || (vague && !hang_outlasts_helpers(w)))
		return true;
	hang_is(w, id, sure);
	w->v->proved = never_end(w, c);
	w->may_end |= sure < c->confidence;
	for (size_t i = 0; i < c->n_culprits; i++)
		hang_accuse(w, c->culprits[i]);
	hang_says(w, "%s.", c->text);
	if (w->v->n_culprits > 0 && w->has_stacks) {
		const struct stackgroup_rank *r = stackgroups_find(&w->g, w->v->culprits[0]);
		char doing[300];
		if (r) {
			hang_doing(w, r, doing, sizeof(doing));
			hang_says(w, "Rank %d stands: %s.", r->rank, doing);
		} else {
			hang_says(w, "Rank %d was not seen on this node.", w->v->culprits[0]);
		}
	}
	return true;
}

/* True if a rank that others wait for may come by itself, as far as the graph of waits knows. */
static bool may_come(const struct hang_work *w, int32_t rank)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; g && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->main || !n->who || !n->who->main || n->who->rank != rank || n->sink == WAITGRAPH_NONE)
			continue;
		const struct waitgraph_sink *s = &g->sink[n->sink];
		return !s->dead && (s->end == WAITEND_RUNS || s->end == WAITEND_CLOCK || s->end == WAITEND_OUTSIDE ||
				    s->end == WAITEND_VISITOR || s->end == WAITEND_STORAGE);
	}
	return false;
}

/* Compares two sources that do not depend on each other. */
void hang_collective_joins(struct hang_work *w)
{
	const struct hang_collective *c = w->c->collective;
	if (!c || !c->valid || c->n_culprits == 0 || w->v->n_culprits == 0)
		return;
	bool same = agrees(w, c->culprits, c->n_culprits);
	/* that it is this rank is sure then, not that it will never come */
	const bool open = w->may_end || (w->by_ticks && !w->v->proved) || may_come(w, c->culprits[0]);
	if (same && c->confidence == CONFIDENCE_HIGH && w->v->confidence < CONFIDENCE_HIGH && !open &&
	    c->n_culprits == w->v->n_culprits)
		w->v->confidence = CONFIDENCE_HIGH;
	if (same)
		return;
	/* One of the two names the wrong rank. */
	if (w->v->confidence == CONFIDENCE_HIGH)
		w->v->confidence = CONFIDENCE_MEDIUM;
	char ranks[200];
	hang_ranks_text(c->culprits, c->n_culprits, ranks, sizeof(ranks));
	hang_says(w, "The collective library's own counters name %s instead.", ranks);
}

/*
 * What a rule found in stacks says why the job stands only if it found it in a thread that others wait for: the main
 * thread of an accused rank. Other threads (of a progress bar, of a writer) always wait for something.
 */
static bool stands_there(const struct hang_work *w, const struct cause_verdict *b)
{
	bool accused = b->n_stack_ranks == 0 || w->v->n_culprits == 0;
	for (size_t i = 0; i < b->n_stack_ranks; i++)
		accused |= in(w->v->culprits, w->v->n_culprits, b->stack_ranks[i]);
	return !b->of_stack || (b->of_main_thread && accused);
}

/* True if the rule tells of a slow store by a place, and an accused rank stands at a lock there. */
static bool is_at_a_lock(const struct hang_work *w, const struct cause_verdict *b)
{
	for (size_t i = 0; hang_refine_tells_of_bytes(b) && i < w->n_blocking; i++) {
		const struct stackgroup_rank *r = &w->g.rank[w->blocking[i]];
		const bool accused = w->v->n_culprits == 0 || in(w->v->culprits, w->v->n_culprits, r->rank);
		if (accused && !w->benign[i] && !hang_may_await_bytes(r))
			return true;
	}
	return false;
}

/*
 * True if what the rule read is of the standstill: where stacks stand, or a line with a time. Of a line without one it
 * is not known whether the job went on for long after it, as after an error that was caught.
 */
static bool is_of_then(const struct hang_work *w, const struct cause_verdict *b)
{
	const int64_t slack_ms = 30000, stood_ms = (int64_t)(w->standstill_ns / (NS_PER_S / 1000));
	const int64_t at_ms = b->n_evidence > 0 ? b->evidence[0].time_unix_ms : 0;
	return b->of_stack || (at_ms > 0 && at_ms >= w->c->now_unix_ms - stood_ms - slack_ms);
}

void hang_book_joins(struct hang_work *w)
{
	const struct cause_verdict *b = w->c->book;
	if (!b || !b->valid)
		return;
	if (b->role != RULE_ROOT || b->confidence < RULE_MEDIUM || !hang_may_refine(w->v->id, b) ||
	    !agrees(w, b->culprits, b->n_culprits) || !stands_there(w, b) || is_at_a_lock(w, b)) {
		hang_evidence(w, "cause_book", "", "%s: %s", b->id, b->text);
		return;
	}
	for (size_t i = 0; i < b->n_advice; i++)
		hang_advise(w, "%s", b->advice[i]);
	hang_says(w, "The cause book says: %s", b->text);
	char ranks[200];
	hang_ranks_text(w->v->culprits, w->v->n_culprits, ranks, sizeof(ranks));
	hang_evidence(w, "verdict", "", "before the cause book was asked: %s%s%s", w->v->id,
		      w->v->n_culprits ? " of " : "", w->v->n_culprits ? ranks : "");
	/*
	 * The rule that says why also names the rank: of several ranks that stand there one has failed, and the rest
	 * may wait for it.
	 */
	if (b->n_culprits > 0)
		w->v->n_culprits = 0;
	for (size_t i = 0; i < b->n_culprits; i++)
		hang_accuse(w, b->culprits[i]);
	TEXT_COPY(w->v->id, b->id);
	if (w->v->confidence == CONFIDENCE_LOW && !w->may_end && is_of_then(w, b))
		w->v->confidence = CONFIDENCE_MEDIUM;
	/* that it names the rank which stands is a second witness */
	if (w->stepping && b->n_culprits == 0 && !is_of_then(w, b))
		w->v->confidence = CONFIDENCE_LOW;
	/* The place is seen, the reason is read: high confidence needs the rule to be sure as well. */
	if (b->confidence < RULE_HIGH && w->v->confidence == CONFIDENCE_HIGH)
		w->v->confidence = CONFIDENCE_MEDIUM;
}
