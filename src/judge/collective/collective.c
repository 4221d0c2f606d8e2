#include <string.h>

#include "judge/collective/collective_parts.h"

/* The set that is judged, and whether counters count: they do only where no more exact source is known. */
struct view {
	const struct collective_set *s;
	bool precise;
};

static bool collective_counts(const struct view *w, const struct collective_wait *one)
{
	if (!one->by_count)
		return true;
	/* A rank that is ahead for a moment is normal; only a counter that does not move is a wait. */
	return !w->precise && (!w->s->has_frozen || w->s->frozen);
}

static const struct collective_wait *head_of(const struct view *w, size_t rank)
{
	uint32_t h = w->s->ranks[rank].head;
	if (h == COLLECTIVE_NO_WAIT || !collective_counts(w, &w->s->waits[h]))
		return NULL;
	return &w->s->waits[h];
}

/* True when the rank stands in another wait, which explains why it is not in this one. */
static bool excused(const struct view *w, const struct collective_wait *here, size_t rank)
{
	const struct collective_wait *h = head_of(w, rank);
	return h && h != here;
}

static bool is_root(const struct view *w, const struct collective_wait *one, struct ranklist *into)
{
	bool found = false;
	for (size_t i = 0; i < w->s->n_ranks; i++) {
		if (!collective_has(one->missing, i) || excused(w, one, i))
			continue;
		ranklist_add(into, w->s->ranks[i].rank);
		found = true;
	}
	return found;
}

static bool older(const struct collective_wait *a, const struct collective_wait *b)
{
	return a->since_ns && (!b->since_ns || a->since_ns < b->since_ns);
}

static void prove_all(const struct view *w, const struct collective_wait *first, struct collective_verdict *v)
{
	if (first)
		verdict_prove_wait(w->s, first, v);
	for (size_t i = 0; i < w->s->n_waits && v->n_evidence < COLLECTIVE_EVIDENCE - 2; i++)
		if (&w->s->waits[i] != first && collective_counts(w, &w->s->waits[i]))
			verdict_prove_wait(w->s, &w->s->waits[i], v);
	for (size_t i = 0; i < w->s->n_ranks && v->n_evidence < COLLECTIVE_EVIDENCE; i++)
		if (w->s->ranks[i].why[0])
			verdict_prove(v, "Flight Recorder", "rank %d: %s", w->s->ranks[i].rank, w->s->ranks[i].why);
}

static enum confidence sure_of(const struct collective_set *s, const struct collective_wait *one, size_t blamed)
{
	size_t unknown = collective_count_bits(s, one->unknown), waiting = collective_count_bits(s, one->waiting);
	if (one->by_count && !s->frozen)
		return CONFIDENCE_LOW;
	if (one->is_p2p)
		return unknown ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH;
	if (blamed > waiting + unknown)
		/* Most ranks are elsewhere, so the few that wait may be the ones that are wrong. */
		return CONFIDENCE_LOW;
	return unknown || blamed == waiting ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH;
}

/* The last call that a rank made in any group. */
static const struct collective_call *last_of(const struct collective_set *s, int32_t rank)
{
	const struct collective_call *last = NULL;
	for (size_t i = 0; i < s->n_calls; i++)
		if (s->ranks[s->calls[i].rank].rank == rank && (!last || s->calls[i].order > last->order))
			last = &s->calls[i];
	return last;
}

static void describe_root(const struct view *w, const struct collective_wait *one, const struct ranklist *blamed,
			  struct collective_verdict *v)
{
	struct buf b = verdict_text(v);
	buf_bits(&b, w->s, one->waiting);
	buf_add(&b, collective_count_bits(w->s, one->waiting) == 1 ? " waits in " : " wait in ");
	buf_wait(&b, w->s, one);
	buf_where(&b, one->call);
	buf_add(&b, "; ");
	buf_ranks(&b, blamed);
	if (one->is_p2p)
		buf_printf(&b, " never made the %s and waits nowhere else.", one->send_waits ? "receive" : "send");
	else
		buf_printf(&b, " did not join and %s nowhere else.", blamed->n_all == 1 ? "waits" : "wait");
	const struct collective_call *last = blamed->n ? last_of(w->s, blamed->rank[0]) : NULL;
	if (last) {
		buf_printf(&b, " The last call of rank %d was %s", blamed->rank[0], last->op);
		buf_where(&b, last);
		buf_add(&b, last->done ? ", which ended." : ".");
	}
}

static void advise_missing(struct collective_verdict *v, bool p2p)
{
	verdict_advise(v, "Look at the stacks of the ranks named (vigil stack): what they do instead is the cause. "
			  "Data loading, saving, an exception that was caught, a lock, evaluation on one rank only.");
	if (p2p)
		verdict_advise(v, "Each send needs a receive of the same group, made in the same order: compare the "
				  "schedule of the two stages.");
	verdict_advise(v, "A longer time-out does not help; it hides this.");
}

static bool judge_roots(const struct view *w, struct collective_verdict *v)
{
	const struct collective_wait *root = NULL;
	struct ranklist blamed = {.n = 0}, here;
	for (size_t i = 0; i < w->s->n_waits; i++) {
		const struct collective_wait *one = &w->s->waits[i];
		if (!collective_counts(w, one) || !is_root(w, one, &blamed))
			continue;
		if (!root || older(one, root))
			root = one;
	}
	if (!root)
		return false;
	here = (struct ranklist){.n = 0};
	ignore(is_root(w, root, &here), "it is");
	v->kind = root->is_p2p ? COLLECTIVE_P2P : COLLECTIVE_MISSING;
	v->confidence = sure_of(w->s, root, here.n_all);
	verdict_call(w->s, v, root);
	verdict_blame(v, &blamed);
	describe_root(w, root, &here, v);
	advise_missing(v, root->is_p2p);
	prove_all(w, root, v);
	return true;
}

/* The wait in which a rank that is missing here stands; one that has missing ranks itself is preferred. */
static const struct collective_wait *next_of(const struct view *w, const struct collective_wait *one)
{
	const struct collective_wait *end = NULL;
	for (size_t i = 0; i < w->s->n_ranks; i++) {
		if (!collective_has(one->missing, i) || !excused(w, one, i))
			continue;
		end = head_of(w, i);
		if (collective_count_bits(w->s, end->missing))
			return end;
	}
	return end;
}

/*
 * A wait that lies on a circle of waits; NULL: there is none. A path that goes on for as many steps as there are waits
 * runs in a circle.
 */
static const struct collective_wait *circle(const struct view *w)
{
	for (size_t i = 0; i < w->s->n_waits; i++) {
		const struct collective_wait *at = &w->s->waits[i];
		if (!collective_counts(w, at))
			continue;
		for (size_t n = 0; at && n < w->s->n_waits; n++)
			at = next_of(w, at);
		if (at)
			return at;
	}
	return NULL;
}

static void describe_circle(const struct view *w, const struct collective_wait *start, bool one_group,
			    struct collective_verdict *v)
{
	struct buf b = verdict_text(v);
	buf_add(&b, one_group ? "Ranks called different collectives of one group: " : "Ranks wait for each other: ");
	const struct collective_wait *at = start;
	for (unsigned n = 0; n < 4; n++) {
		buf_add(&b, n ? "; " : "");
		buf_bits(&b, w->s, at->waiting);
		buf_add(&b, collective_count_bits(w->s, at->waiting) == 1 ? " waits in " : " wait in ");
		buf_wait(&b, w->s, at);
		buf_where(&b, at->call);
		buf_add(&b, ", where ");
		buf_bits(&b, w->s, at->missing);
		buf_add(&b, collective_count_bits(w->s, at->missing) == 1 ? " is missing" : " are missing");
		at = next_of(w, at);
		if (!at || at == start)
			break;
	}
	buf_add(&b, at == start ? "." : "; and so on, in a circle.");
}

/* Blames the part of the circle in which the fewest ranks stand; on a tie all ranks of the circle. */
static enum confidence blame_circle(const struct view *w, const struct collective_wait *start,
				    struct collective_verdict *v, bool *ret_one_group, bool *ret_p2p)
{
	const struct collective_wait *at = start, *least = NULL;
	struct ranklist all = {.n = 0}, few;
	bool tie = false;
	*ret_one_group = *ret_p2p = true;
	do {
		size_t n = collective_count_bits(w->s, at->missing);
		size_t best = least ? collective_count_bits(w->s, least->missing) : SIZE_MAX;
		tie = n == best || (tie && n > best);
		if (n < best)
			least = at;
		*ret_one_group &= at->group == start->group && !at->is_p2p;
		*ret_p2p &= at->is_p2p;
		for (size_t i = 0; i < w->s->n_ranks; i++)
			if (collective_has(at->missing, i))
				ranklist_add(&all, w->s->ranks[i].rank);
		at = next_of(w, at);
	} while (at && at != start);
	ranklist_of(w->s, least->missing, &few);
	verdict_blame(v, tie ? &all : &few);
	verdict_call(w->s, v, tie ? start : least);
	return tie ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH;
}

static bool judge_circle(const struct view *w, struct collective_verdict *v)
{
	const struct collective_wait *start = circle(w);
	bool one_group, p2p;
	if (!start)
		return false;
	v->confidence = blame_circle(w, start, v, &one_group, &p2p);
	if (start->by_count && !w->s->frozen)
		v->confidence = CONFIDENCE_LOW;
	v->kind = one_group ? COLLECTIVE_MISMATCH : COLLECTIVE_CYCLE;
	describe_circle(w, start, one_group, v);
	if (p2p)
		verdict_advise(v, "Let one side send first and the other receive first, or use batch_isend_irecv.");
	else if (one_group)
		verdict_advise(
			v, "All ranks must call the same collectives in the same order: look for a branch around one.");
	else
		verdict_advise(v, "Call the collectives of several groups in the same order on every rank; use one "
				  "thread and one stream for them, or wait for the first before the second.");
	prove_all(w, start, v);
	return true;
}

/* The oldest wait in which all known ranks take part. with_unknown: some of its ranks are unknown. */
static const struct collective_wait *base_wait(const struct view *w, bool with_unknown)
{
	const struct collective_wait *best = NULL;
	for (size_t i = 0; i < w->s->n_waits; i++) {
		const struct collective_wait *one = &w->s->waits[i];
		if (!collective_counts(w, one) || collective_count_bits(w->s, one->missing))
			continue;
		if ((collective_count_bits(w->s, one->unknown) > 0) != with_unknown)
			continue;
		if (!best || older(one, best))
			best = one;
	}
	return best;
}

static bool judge_pairs_ended(const struct view *w, struct collective_verdict *v)
{
	return collective_judge_devices(w->s, true, v);
}

static bool judge_silent(const struct view *w, struct collective_verdict *v)
{
	const struct collective_wait *one = base_wait(w, true);
	struct ranklist silent;
	if (!one)
		return false;
	ranklist_of(w->s, one->unknown, &silent);
	size_t waiting = collective_count_bits(w->s, one->waiting);
	bool few = one->is_p2p || silent.n_all <= waiting;
	struct buf b = verdict_text(v);
	buf_bits(&b, w->s, one->waiting);
	buf_add(&b, waiting == 1 ? " waits in " : " wait in ");
	buf_wait(&b, w->s, one);
	buf_where(&b, one->call);
	buf_add(&b, "; of ");
	buf_ranks(&b, &silent);
	buf_add(&b, few ? " there is no record. A rank that is stuck before its library's own watch cannot write one: "
			  "it is probably the one that did not join."
			: " there is no record: with so many missing it cannot be told who did not join.");
	v->kind = one->is_p2p ? COLLECTIVE_P2P : COLLECTIVE_MISSING;
	v->confidence = few ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
	verdict_call(w->s, v, one);
	if (few)
		verdict_blame(v, &silent);
	verdict_advise(v, "Look at the processes of the ranks without a record: are they alive, and where do they "
			  "stand (vigil stack)?");
	prove_all(w, one, v);
	return true;
}

static void advise_equal(struct collective_verdict *v)
{
	verdict_advise(v, "No rank is to blame by its calls. Look below: GPU errors (vigil gpus, Xid in the kernel "
			  "log), the network of the nodes (link_downed, retransmits), a kernel that spins.");
	verdict_advise(v, "NCCL_DEBUG=INFO and NCCL's RAS show whether a peer or a network card answers no more.");
}

static void describe_equal(const struct collective_set *s, const struct collective_wait *one, struct buf *b)
{
	const char *below = "what holds it up lies below, in a GPU, the network or a host.";
	if (collective_count_bits(s, one->ended)) {
		buf_bits(b, s, one->waiting);
		buf_add(b, collective_count_bits(s, one->waiting) == 1 ? " is still in " : " are still in ");
		buf_wait(b, s, one);
		buf_where(b, one->call);
		buf_add(b, ", which has ended on ");
		buf_bits(b, s, one->ended);
		buf_printf(b, ": %s", below);
		return;
	}
	buf_add(b, collective_count_bits(s, one->waiting) == 2 ? "Both sides are in " : "All ranks are in ");
	buf_wait(b, s, one);
	buf_where(b, one->call);
	if (one->call && collective_is_odd(one->call))
		buf_printf(b,
			   ", which takes %s and gives %s; no such call is possible, so the dump is wrong. It does not "
			   "end",
			   one->call->in_sizes, one->call->out_sizes);
	else
		buf_add(b, one->call ? " and made the same call, and it does not end" : ", and it does not end");
	buf_printf(b, ": %s", below);
}

static bool judge_equal(const struct view *w, struct collective_verdict *v)
{
	const struct collective_wait *one = base_wait(w, false);
	const struct collective_set *s = w->s;
	struct buf b;
	if (one) {
		b = verdict_text(v);
		describe_equal(s, one, &b);
		verdict_call(s, v, one);
		v->confidence = CONFIDENCE_MEDIUM;
	} else if (!w->precise && s->n_counts && s->frozen) {
		b = verdict_text(v);
		buf_add(&b, "All ranks have launched the same collectives, and none has moved between two looks: what "
			    "holds them up lies below (GPU, network, host), or is a send or receive, which RAS does "
			    "not count.");
		v->confidence = CONFIDENCE_LOW;
	} else {
		return false;
	}
	v->kind = COLLECTIVE_EQUAL;
	advise_equal(v);
	prove_all(w, one, v);
	return true;
}

static bool judge_dead(const struct view *w, struct collective_verdict *v)
{
	struct ranklist dead = {.n = 0};
	for (size_t i = 0; i < w->s->n_ranks; i++)
		if (w->s->ranks[i].is_dead)
			ranklist_add(&dead, w->s->ranks[i].rank);
	if (dead.n == 0)
		return false;
	struct buf b = verdict_text(v);
	buf_ranks(&b, &dead);
	buf_printf(&b, " %s NCCL's peers no more: gone, stopped, or cut off from the network. The others wait for %s.",
		   dead.n_all == 1 ? "answers" : "answer", dead.n_all == 1 ? "it" : "them");
	v->kind = COLLECTIVE_DEAD;
	v->confidence = CONFIDENCE_HIGH;
	verdict_blame(v, &dead);
	verdict_advise(v, "Find out why that process ended or stopped (vigil why): out of memory, a crash, a signal. "
			  "End the job: the ranks that wait cannot go on.");
	prove_all(w, NULL, v);
	return true;
}

static void judge_nothing(const struct view *w, struct collective_verdict *v)
{
	size_t reported = 0;
	for (size_t i = 0; i < w->s->n_ranks; i++)
		reported += w->s->ranks[i].sources != 0;
	struct buf b = verdict_text(v);
	if (w->s->has_frozen && !w->s->frozen)
		buf_add(&b, "The counters of the collectives moved between two looks: nothing is stuck in one.");
	else if (w->s->n_counts && !w->precise && !w->s->n_calls)
		buf_add(&b,
			"All ranks have launched the same collectives; one look alone cannot tell whether they move.");
	else
		buf_printf(&b, "Of %zu %s no collective waits: all that is recorded has ended.", reported,
			   reported == 1 ? "rank" : "ranks");
	v->kind = COLLECTIVE_NONE;
	v->confidence = w->s->n_calls || (w->s->has_frozen && !w->s->frozen) ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
	prove_all(w, NULL, v);
}

int collective_judge(const struct collective_set *s, struct collective_verdict *ret)
{
	struct view w = {.s = s};
	bool reported = false;
	*ret = (struct collective_verdict){.valid = false};
	for (size_t i = 0; i < s->n_ranks; i++)
		reported |= s->ranks[i].sources != 0 || s->ranks[i].is_dead;
	if (!s->sealed || !reported)
		return COLLECTIVE_NOTHING;
	for (size_t i = 0; i < s->n_ranks; i++)
		w.precise |= (s->ranks[i].sources & (COLLECTIVE_FLIGHTREC | COLLECTIVE_RING)) != 0;
	ret->valid = true;
	bool (*const by_rank[])(const struct view *, struct collective_verdict *) = {
		judge_roots, judge_circle, judge_pairs_ended, judge_silent, judge_equal};
	if (judge_dead(&w, ret) || collective_judge_clash(s, false, ret) || collective_judge_pairs(s, ret) ||
	    collective_judge_states(s, ret) || collective_judge_devices(s, false, ret))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(by_rank); i++)
		if (by_rank[i](&w, ret))
			return 0;
	if (!collective_judge_clash(s, true, ret))
		judge_nothing(&w, ret);
	return 0;
}
