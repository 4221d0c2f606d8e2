/* No rank stands outside of a wait: which call does not end, and which ranks are in another one. */
#include <string.h>

#include "base/path.h"
#include "base/units.h"
#include "judge/hang/hang_parts.h"
#include "judge/hang/hang_store.h"

struct ops {
	const char *op[8];
	size_t n[8], len;
};

static size_t op_of(struct ops *o, const char *op)
{
	for (size_t i = 0; i < o->len; i++)
		if (strcmp(o->op[i], op) == 0)
			return i;
	if (o->len == ARRAY_SIZE(o->op))
		return o->len - 1;
	o->op[o->len] = op;
	return o->len++;
}

/* How far a rank is: by its epoch, or by its step. */
static double progress_place(const struct liveness *l, bool by_epoch)
{
	return by_epoch ? l->seen.progress.epoch : (double)l->seen.progress.step;
}

static bool has_progress(const struct liveness *l)
{
	return !l->serves && l->seen.has_progress;
}

/* The rank that is least far and the one that is farthest; returns the number of ranks whose progress is known. */
static size_t progress_ends(const struct liveness_set *p, const struct liveness **ret_low,
			    const struct liveness **ret_high)
{
	const struct liveness *low = NULL, *high = NULL;
	size_t n = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness *l = &p->rank[i];
		bool by_epoch = l->seen.progress.has_epoch;
		if (!has_progress(l))
			continue;
		n++;
		double at = progress_place(l, by_epoch);
		if (!low || at < progress_place(low, by_epoch))
			low = l;
		if (!high || at > progress_place(high, by_epoch))
			high = l;
	}
	*ret_low = low;
	*ret_high = high;
	return n;
}

/* Accuses the smaller of two parts: the ranks at the lowest place and those ahead. Parts of one size: the lowest. */
static void accuse_smaller_part(struct hang_work *w, double lowest, bool by_epoch, size_t n)
{
	size_t n_low = 0;
	for (size_t i = 0; i < w->p->n; i++)
		n_low += has_progress(&w->p->rank[i]) && progress_place(&w->p->rank[i], by_epoch) < lowest + 1;
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (has_progress(l) && (progress_place(l, by_epoch) < lowest + 1) == (n_low * 2 <= n))
			hang_accuse(w, l->rank);
	}
}

/* So long may one rank make steps of its own, as those of an evaluation, while others wait for it. */
static const uint64_t steps_on_ns = 5 * 60 * NS_PER_S, steps_on_again_ns = 30 * NS_PER_S;

/*
 * One rank stands in a wait for others, of which one at least makes steps. An evaluation, for which the others wait,
 * looks just as a rank that no longer takes part in their calls.
 */
static bool steps_go_on(struct hang_work *w)
{
	const struct liveness *stands = w->stalled_rank, *goes = NULL;
	const uint64_t most_ns = w->s->has_after ? MIN(steps_on_ns, w->s->after_ns) : steps_on_ns;
	char stood[24];
	for (size_t i = 0; i < w->p->n; i++)
		if (has_progress(&w->p->rank[i]) && (!goes || w->p->rank[i].step_ns > goes->step_ns))
			goes = &w->p->rank[i];
	if (!goes)
		return false;
	if (w->standstill_ns < most_ns) {
		w->v->benign = true;
		TEXT_COPY(w->v->id, "steps");
		w->v->again_ns = MIN(steps_on_again_ns, MAX(most_ns - w->standstill_ns, NS_PER_S));
		TEXT_FORMAT(w->v->text, "rank %d waits for others, and rank %d goes on with its steps", stands->rank,
			    goes->rank);
		return true;
	}
	hang_is(w, "steps_of_one", CONFIDENCE_LOW);
	hang_says(w, "Rank %d goes on and is in step %.6g; rank %d waits for others, and has made no step for %s.",
		  goes->rank, progress_place(goes, false), stands->rank, duration_format(w->standstill_ns, stood));
	hang_says(w, "A long evaluation looks like that, and so does a rank that no longer takes part in the calls of "
		     "the others, as within no_sync() or after it has skipped one of them.");
	return true;
}

static bool same_line(const struct stackgroup_rank *a, const struct stackgroup_rank *b)
{
	const struct dump_frame *x = a->activity.user, *y = b->activity.user;
	if (!x || !y)
		return true;
	return x->line == y->line && strcmp(x->file ? x->file : "", y->file ? y->file : "") == 0;
}

static bool alike(const struct stackgroup_rank *a, const struct stackgroup_rank *b)
{
	return strcmp(a->activity.op, b->activity.op) == 0 && same_line(a, b);
}

/*
 * A rank in the call that most ranks are in, and the number of ranks in it. What the library does below a call may
 * differ.
 */
static const struct stackgroup_rank *most_alike(const struct hang_work *w, size_t *ret_n)
{
	const struct stackgroup_rank *first = &w->g.rank[w->g.group[0].first];
	*ret_n = 0;
	for (size_t i = 0; i < w->g.n; i++) {
		size_t n = 0;
		for (size_t k = 0; k < w->g.n; k++)
			n += alike(&w->g.rank[i], &w->g.rank[k]);
		if (n > *ret_n)
			first = &w->g.rank[i];
		*ret_n = MAX(*ret_n, n);
	}
	return first;
}

static bool is_accused(const struct hang_work *w, int32_t rank)
{
	for (size_t i = 0; i < w->v->n_culprits; i++)
		if (w->v->culprits[i] == rank)
			return true;
	return false;
}

/*
 * True if the ranks are in different calls, and others than the accused are in the rarer one: that some have printed
 * more may be for another reason, as one that tells of an epoch when it begins, and others when it is over.
 */
static bool calls_tell_otherwise(const struct hang_work *w)
{
	size_t n = 0, differ = 0, agree = 0;
	const struct stackgroup_rank *most = w->g.n > 0 ? most_alike(w, &n) : NULL;
	for (size_t i = 0; i < w->g.n; i++) {
		const bool odd = !alike(most, &w->g.rank[i]);
		differ += odd;
		agree += odd == is_accused(w, w->g.rank[i].rank);
	}
	return differ > 0 && agree < w->g.n;
}

/* Ranks that are in another epoch, or two and more steps away; the minority is named. */
static bool uneven(struct hang_work *w)
{
	const struct liveness *low, *high;
	size_t n = progress_ends(w->p, &low, &high);
	if (n < 2)
		return false;
	if (w->stalled_rank)
		return steps_go_on(w);
	bool epochs = low->seen.progress.has_epoch && high->seen.progress.has_epoch;
	/* who prints each tenth step may be nine further than it says, and whose epoch is over in the next one */
	bool apart = epochs ? high->seen.progress.epoch >= low->seen.progress.epoch + 1 + low->seen.progress.epoch_ended
			    : high->seen.progress.step > low->seen.progress.step + MAX(low->stride, 1);
	if (!apart)
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	double lowest = progress_place(low, epochs);
	const char *unit = epochs ? "epoch" : "step";
	hang_is(w, "uneven_last_epoch", epochs ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	accuse_smaller_part(w, lowest, epochs, n);
	if (calls_tell_otherwise(w))
		w->v->confidence = CONFIDENCE_LOW;
	hang_says(w,
		  "The ranks are not at the same place: rank %d is in %s %.6g, rank %d in %s %.6g, and all wait for "
		  "one another.",
		  low->rank, unit, lowest, high->rank, unit, progress_place(high, epochs));
	hang_says(w, "They have had different numbers of batches: the data are split unevenly.");
	return true;
}

/* True when it has printed the end of its epoch, or has made the last of its steps and others have more of them. */
static bool epoch_over(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct liveness *l = liveness_find(w->p, r->rank);
	if (!l || !l->seen.has_progress)
		return false;
	const struct liveness_progress *x = &l->seen.progress;
	if (x->epoch_ended)
		return true;
	bool last = x->has_step && x->has_total && x->step + 1 >= x->total, differs = false;
	for (size_t i = 0; last && i < w->p->n; i++) {
		const struct liveness_progress *y = &w->p->rank[i].seen.progress;
		differs |=
			!w->p->rank[i].serves && w->p->rank[i].seen.has_progress && y->has_total && y->total > x->total;
	}
	return differs;
}

/*
 * Some ranks have come to the end of their epoch and call what comes after it; the others are in the middle of theirs.
 */
static bool epoch_over_for_some(struct hang_work *w)
{
	const struct stackgroup_rank *over = NULL, *amid = NULL;
	size_t n_over = 0;
	char a[300], b[300];
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i], **of = epoch_over(w, r) ? &over : &amid;
		const struct liveness *l = liveness_find(w->p, r->rank);
		n_over += of == &over;
		/* Each side is in one call, and a rank in the middle of its epoch has made steps. */
		if ((*of && !alike(*of, r)) || (of == &amid && !(l && l->stepping)))
			return false;
		*of = *of ? *of : r;
	}
	if (!over || !amid || alike(over, amid))
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "uneven_last_epoch", CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < w->g.n; i++)
		if (epoch_over(w, &w->g.rank[i]) == (n_over * 2 <= w->g.n))
			hang_accuse(w, w->g.rank[i].rank);
	hang_doing(w, over, a, sizeof(a));
	hang_doing(w, amid, b, sizeof(b));
	hang_says(w,
		  "Rank %d has come to the end of its epoch and waits in %s, rank %d is still within its own, in %s.",
		  over->rank, a, amid->rank, b);
	hang_says(w, "They have had different numbers of batches: the data are split unevenly.");
	return true;
}

/* The next frame of the program's own Python inwards from this one, which is not looked at; NULL: none. */
static const struct dump_frame *own_inwards(const struct dump_thread *t, size_t *at)
{
	while (*at > 0) {
		const struct dump_frame *f = &t->frames[--*at];
		if (f->kind == FRAME_PYTHON && activity_is_user(f))
			return f;
	}
	return NULL;
}

/* Of two ranks that came the same way: where their ways part, in one function. */
static void parting_says(struct hang_work *w, const struct stackgroup_rank *a, const struct stackgroup_rank *b)
{
	if (!a->acting || !b->acting)
		return;
	size_t i = a->acting->n_frames, k = b->acting->n_frames;
	for (;;) {
		const struct dump_frame *x = own_inwards(a->acting, &i), *y = own_inwards(b->acting, &k);
		if (!x || !y || !hang_same_code(x, y))
			return;
		if (x->line == y->line)
			continue;
		const bool first = x->line < y->line;
		const int32_t behind = first ? a->rank : b->rank, before = first ? b->rank : a->rank;
		hang_says(w, "In %s (%s) rank %d still waits at line %d and rank %d has come to line %d,", x->name,
			  x->file ? path_name(x->file) : "", behind, MIN(x->line, y->line), before,
			  MAX(x->line, y->line));
		hang_says(w, "unless rank %d is a round ahead.", behind);
		return;
	}
}

static bool mismatched(struct hang_work *w)
{
	struct ops o = {.len = 0};
	const struct stackgroup_rank *other = NULL;
	size_t n;
	char a[300], b[300];
	const struct stackgroup_rank *first = most_alike(w, &n);
	for (size_t i = 0; i < w->g.n; i++) {
		o.n[op_of(&o, w->g.rank[i].activity.op)]++;
		if (!other && !alike(first, &w->g.rank[i]))
			other = &w->g.rank[i];
	}
	if (!other)
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	bool named = o.len > 1;
	bool clear = n * 2 > w->g.n;
	/* Of a sender and a receiver that do not match one is wrong, and it may be either. */
	bool paired = first->activity.kind == ACTIVITY_P2P || other->activity.kind == ACTIVITY_P2P;
	bool sure = named && clear && !paired && hang_all_still(w);
	/* of many that are two halves nobody is named */
	bool halves = !clear && w->g.n > 2;
	const bool guess = halves || (paired && w->g.n > 2);
	hang_is(w, "mismatched_collective", sure ? CONFIDENCE_HIGH : guess ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM);
	w->v->proved = sure;
	for (size_t i = 0; i < w->g.n && !halves; i++)
		if (!clear || !alike(first, &w->g.rank[i]))
			hang_accuse(w, w->g.rank[i].rank);
	hang_doing(w, first, a, sizeof(a));
	hang_doing(w, other, b, sizeof(b));
	hang_says(w, "The ranks wait in different calls: rank %d in %s, rank %d in %s.", first->rank, a, other->rank,
		  b);
	if (!clear && w->g.n == 2)
		parting_says(w, first, other);
	if (!clear)
		hang_says(w, "Neither side is the larger one: which of them is wrong cannot be told.");
	else if (paired)
		hang_says(w, "One of them sends or receives: the rank that it does so with may have left that out.");
	return true;
}

/* True when all ranks that neither send nor receive are in one call. */
static bool others_alike(const struct hang_work *w)
{
	const struct stackgroup_rank *one = NULL;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		if (r->activity.kind == ACTIVITY_P2P)
			continue;
		if (one && !alike(one, r))
			return false;
		one = r;
	}
	return one != NULL;
}

/* A rank at the line of the program at which more than half of all are, but not all; NULL if there is none. */
static const struct stackgroup_rank *usual_place(const struct hang_work *w)
{
	for (size_t i = 0; i < w->g.n; i++) {
		size_t n = 0;
		for (size_t k = 0; k < w->g.n; k++)
			n += same_line(&w->g.rank[i], &w->g.rank[k]);
		if (n * 2 > w->g.n)
			return n < w->g.n ? &w->g.rank[i] : NULL;
	}
	return NULL;
}

/*
 * The others wait for the ranks that are elsewhere, or outside of it; where all are in it, each may be the one. A
 * library's send or receive may be a part of the call that the program has made, so the program's lines go first.
 */
static const struct stackgroup_rank *accuse_elsewhere(struct hang_work *w, size_t n_p2p)
{
	const struct stackgroup_rank *place = usual_place(w), *one = NULL;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		const bool is_p2p = r->activity.kind == ACTIVITY_P2P;
		if (place ? same_line(place, r) : n_p2p < w->g.n && is_p2p)
			continue;
		hang_accuse(w, r->rank);
		one = one || !place || !is_p2p ? one : r;
	}
	return one;
}

/* True if the job has two ranks and no more: what one of them sends or receives is the other's. */
static bool only_two(const struct hang_work *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->p->n; i++)
		n += !w->p->rank[i].serves;
	return n == 2 && w->g.n == 2;
}

static void pair_says(struct hang_work *w, const struct stackgroup_rank *one)
{
	char doing[300];
	const struct stackgroup_rank *other = &w->g.rank[one == &w->g.rank[0]];
	hang_doing(w, other, doing, sizeof(doing));
	hang_says(w, "Rank %d waits in %s: there are only these two, so they wait for each other.", other->rank, doing);
}

/* True if the job has two ranks, of which one is in a collective while the other one sends or receives. */
static bool in_two_calls(const struct hang_work *w)
{
	size_t collective = 0, p2p = 0;
	for (size_t i = 0; i < w->g.n; i++) {
		const enum activity a = w->g.rank[i].activity.kind;
		collective += a == ACTIVITY_COLLECTIVE || a == ACTIVITY_SYNC_BN;
		p2p += a == ACTIVITY_P2P;
	}
	return only_two(w) && collective == 1 && p2p == 1;
}

/* True if every rank of the job is in a send: none receives, so none of the sends can end. */
static bool all_send(const struct hang_work *w)
{
	static const char *const sends[] = {"MPI_Send", "MPI_Ssend", "MPI_Rsend", "send"};
	size_t n = 0, live = 0;
	for (size_t i = 0; i < w->p->n; i++)
		live += !w->p->rank[i].serves;
	for (size_t i = 0; i < w->g.n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(sends); k++)
			n += w->g.rank[i].activity.op && strcmp(w->g.rank[i].activity.op, sends[k]) == 0;
	return n == w->g.n && n == live && n > 1;
}

/* Ranks of which each waits for a message with the next one: no other one can end that. */
static bool message_circle(struct hang_work *w)
{
	const struct waitgraph_sink *s = hang_message_circle(w);
	char way[600];
	if (!s)
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "p2p_wait", CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < s->n_ranks; i++)
		hang_accuse(w, s->rank[i]);
	waitgraph_way_text(w->c->graph, s, way, sizeof(way));
	hang_says(w, "Each of these ranks waits for a message with the next one: %s.", way);
	hang_says(w, s->n_ranks == 2
			     ? "Both are in their calls, so the messages do not match: the order, the tag or the group."
			     : "All of them are in such calls, so one has to make another call first.");
	return true;
}

/*
 * The rank at which the sends and receives of all ranks end that are in one: it is in another call, so that what the
 * last of them waits for does not come. NULL: there is none, or their peers are not known. ret_last: that one.
 */
static const struct stackgroup_rank *peer_elsewhere(const struct hang_work *w, const struct stackgroup_rank **ret_last)
{
	const struct stackgroup_rank *end = NULL;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *last = &w->g.rank[i], *at = hang_peer(w, last);
		if (last->activity.kind != ACTIVITY_P2P)
			continue;
		for (size_t steps = 0; at && at->activity.kind == ACTIVITY_P2P && steps < w->g.n; steps++) {
			last = at;
			at = hang_peer(w, at);
		}
		if (!at || at->activity.kind == ACTIVITY_P2P || (end && end != at))
			return NULL;
		end = at;
		*ret_last = last;
	}
	return end;
}

/* How many ranks wait for a message, and where one of them stands. */
static void p2p_says(struct hang_work *w, const struct stackgroup_rank *one, size_t n)
{
	char doing[300];
	hang_doing(w, one, doing, sizeof(doing));
	hang_says(w, "%zu of %zu ranks wait%s in a send or receive whose counterpart does not come: rank %d in %s.", n,
		  w->g.n, n == 1 ? "s" : "", one->rank, doing);
}

/* True if no other rank is in the call that this one waits in for its message, as a receiver beside a sender. */
static bool alone_in_its_call(const struct hang_work *w, const struct stackgroup_rank *last)
{
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		const bool waits = r != last && r->activity.kind == ACTIVITY_P2P;
		if (waits && strcmp(r->activity.op, last->activity.op) == 0)
			return false;
	}
	return true;
}

/*
 * Of a rank that waits for a message and the one in another call either may be wrong; of several that wait alike, the
 * one. Who sends to a rank that receives from another one is no witness against that one.
 */
static void peer_says(struct hang_work *w, const struct stackgroup_rank *last, const struct stackgroup_rank *end,
		      size_t n)
{
	char doing[300];
	const bool either = alone_in_its_call(w, last);
	hang_accuse(w, end->rank);
	if (either)
		hang_accuse(w, last->rank);
	p2p_says(w, last, n);
	hang_doing(w, end, doing, sizeof(doing));
	hang_says(w, "It waits for rank %d, which is in %s.", end->rank, doing);
	if (either)
		hang_says(w, "These two calls do not match; which of them is wrong cannot be told.");
}

static bool p2p(struct hang_work *w)
{
	size_t n = 0;
	const struct stackgroup_rank *one = NULL;
	char doing[300];
	for (size_t i = 0; i < w->g.n; i++) {
		if (w->g.rank[i].activity.kind != ACTIVITY_P2P)
			continue;
		n++;
		if (!one)
			one = &w->g.rank[i];
	}
	/* A few of them beside many in one collective: the few are missing in it. */
	if (n == 0 || (n * 2 < w->g.n && others_alike(w)))
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "p2p_wait", CONFIDENCE_MEDIUM);
	const struct stackgroup_rank *last = NULL, *end = peer_elsewhere(w, &last);
	if (end && !in_two_calls(w)) {
		peer_says(w, last, end, n);
		return true;
	}
	const struct stackgroup_rank *elsewhere = accuse_elsewhere(w, n);
	/*
	 * Rank 0 alone may be the one that the others send to; and of all, or of senders beside ranks that have gone on
	 * to a collective, each may be the one. Two have only each other.
	 */
	const bool mixed = in_two_calls(w), sends = all_send(w);
	if (mixed)
		hang_accuse(w, one->rank);
	const bool pair = only_two(w) && w->v->n_culprits == 2;
	if (!sends && !mixed && (w->v->n_culprits == w->g.n || !elsewhere || elsewhere->rank == 0)) {
		w->v->confidence = CONFIDENCE_LOW;
		w->v->n_culprits = pair ? 2 : 0;
	}
	p2p_says(w, one, n);
	if (sends) {
		hang_says(w, "All ranks send and none receives, so each waits for another one to receive first.");
	} else if (pair) {
		pair_says(w, one);
	} else if (elsewhere) {
		hang_doing(w, elsewhere, doing, sizeof(doing));
		hang_says(w, "Rank %d is not where most are: in %s.", elsewhere->rank, doing);
	}
	return true;
}

/*
 * One of several ranks has come to its end, and all others wait for messages: from that one none comes. Whether it is
 * its that is missing is not known.
 */
static bool one_at_its_end(struct hang_work *w)
{
	const struct stackgroup_rank *one = NULL, *other = NULL;
	char doing[300];
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		const struct stackgroup_rank **of = r->activity.kind == ACTIVITY_EXIT ? &one : &other;
		if (r->activity.kind != ACTIVITY_EXIT && r->activity.kind != ACTIVITY_P2P)
			return false;
		if (of == &one && one)
			return false;
		*of = r;
	}
	if (!one || w->g.n < 3)
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "rank_finishing", CONFIDENCE_LOW);
	hang_accuse(w, one->rank);
	hang_doing(w, other, doing, sizeof(doing));
	hang_says(w,
		  "Rank %d has come to its end (%s) and sends nothing more, while all others wait in a send or "
		  "receive: rank %d in %s.",
		  one->rank, one->activity.op, other->rank, doing);
	return true;
}

/* A thread beside the one by which a rank is judged that waits for the other ranks as well; NULL: none. */
static const struct dump_thread *second_caller(const struct stackgroup_rank *r, struct activity_found *ret)
{
	for (size_t i = 0; r->process && i < r->process->n_threads; i++) {
		const struct dump_thread *t = &r->process->threads[i];
		if (t == r->acting || t == r->main || !t->has_python || t->n_frames == 0)
			continue;
		activity_of(t, ret);
		if (ret->user && (ret->kind == ACTIVITY_COLLECTIVE || ret->kind == ACTIVITY_P2P))
			return t;
	}
	return NULL;
}

/* Two threads of a rank are in collectives: which of them comes first may differ between the ranks. */
static bool threads_cross(struct hang_work *w)
{
	char doing[300], other[300], ranks[200];
	int32_t with[STACKGROUP_RANKS];
	struct activity_found found, any;
	size_t n = 0;
	for (size_t i = 0; i < w->g.n; i++)
		if (second_caller(&w->g.rank[i], &any)) {
			found = any;
			with[n++] = w->g.rank[i].rank;
		}
	if (n == 0)
		return false;
	hang_is(w, "collective_order", CONFIDENCE_MEDIUM);
	w->advice = "collective_threads";
	for (size_t i = 0; i < n && only_two(w); i++)
		hang_accuse(w, with[i]);
	hang_doing(w, &w->g.rank[0], doing, sizeof(doing));
	activity_text(&found, other, sizeof(other));
	hang_ranks_text(with, n, ranks, sizeof(ranks));
	hang_says(w, "All %zu ranks are in the same call, and it does not end: %s.", w->g.n, doing);
	hang_says(w, "A second thread of %s is in one too: %s.", ranks, other);
	hang_says(w, "Calls of one group have to come in the same order in all ranks, and two threads keep none.");
	return true;
}

static bool one_gpu_spins(const struct hang_work *w)
{
	for (size_t i = 0; i < w->p->n; i++)
		if (w->p->rank[i].gpu_known && w->p->rank[i].gpu_spins)
			return true;
	return false;
}

static size_t ranks_here(const struct hang_work *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->p->n; i++)
		n += !w->p->rank[i].serves;
	return n;
}

/*
 * True if one of the ranks, which are all in one call, has named another rank than the others whose data it is about:
 * each part waits for the other. Those of groups that lie on other machines as well may all be right.
 */
static bool roots_differ(struct hang_work *w)
{
	char doing[300];
	for (size_t i = 0; w->c->graph && i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		const struct waitgraph_node *n = r->process ? waitgraph_thread(w->c->graph, r->process->pid, 0) : NULL;
		if (!n || !n->odd || !n->odd->root)
			continue;
		const bool larger = hang_world_size(w) > ranks_here(w), alone = n->odd->by_number;
		const bool sure = !larger && (alone || w->g.n == 2);
		hang_is(w, "mismatched_collective", sure ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW);
		hang_doing(w, r, doing, sizeof(doing));
		hang_says(w, "All %zu ranks are in the same call, but not about the data of the same rank: %s.", w->g.n,
			  doing);
		hang_says(w, "Of rank %d%s %s; of %s it is %s.", r->rank, alone ? " alone" : "", n->odd->text,
			  alone ? "all others" : "another one", n->odd->owner_text);
		for (size_t k = 0; k < w->g.n; k++)
			if (alone ? k == i : w->g.n == 2)
				hang_accuse(w, w->g.rank[k].rank);
		hang_advise(w, "let all ranks agree on that number first (take it from rank 0, or from the "
			       "configuration): each of them found another one by itself");
		return true;
	}
	return false;
}

static bool stalled(struct hang_work *w)
{
	const struct stackgroup_rank *one = &w->g.rank[0];
	char doing[300];
	bool bn = false;
	for (size_t i = 0; i < w->g.n; i++)
		bn |= w->g.rank[i].activity.also_sync_bn;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	if (!bn && (threads_cross(w) || roots_differ(w)))
		return true;
	/* Which group each call is for is not seen from outside: MPI's communicators can be crossed at one line. */
	bool crossed = one->activity.op && strncmp(one->activity.op, "MPI_", 4) == 0;
	/* Without devices that spin in the call nothing says that all are in the same one: groups may differ. */
	const bool spins = !crossed && one_gpu_spins(w);
	hang_is(w, bn ? "sync_batch_norm" : "equal_count_stall", bn || spins ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW);
	hang_doing(w, one, doing, sizeof(doing));
	hang_says(w, "All %zu ranks are in the same call, and it does not end: %s.", w->g.n, doing);
	if (bn)
		hang_says(w, "It is the exchange of a synchronised batch normalisation.");
	else if (hang_world_size(w) <= ranks_here(w))
		hang_says(w,
			  "No rank is missing, so what is below does not move: the network, a GPU, or the library%s.",
			  spins || crossed ? "" : "; or they are in it for different groups or sources");
	if (crossed)
		hang_says(w, "Or they are in it for different communicators, each of which waits for the others.");
	return true;
}

/* All ranks that could be read wait, so the missing one is among those that could not. */
static bool one_unseen(struct hang_work *w)
{
	char ranks[200];
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "missing_rank", CONFIDENCE_LOW);
	for (size_t i = 0; i < w->n_unseen; i++)
		hang_accuse(w, w->unseen[i]);
	hang_ranks_text(w->v->culprits, w->v->n_culprits, ranks, sizeof(ranks));
	hang_says(w, "All ranks that could be looked into wait for others; the stacks of %s could not be read.", ranks);
	hang_says_who_waits(w);
	return true;
}

/*
 * Some ranks of the job are on other machines, so that nobody sees where they stand. That all of this one wait says no
 * more than that one of those has not come: it may be at work, and a call of this machine may be for it alone.
 */
static void larger_world_says(struct hang_work *w)
{
	const size_t world = hang_world_size(w), here = ranks_here(w);
	if (w->v->kind != HANG_HANG || world <= here)
		return;
	w->v->confidence = CONFIDENCE_LOW;
	w->may_end = true;
	w->v->proved = false;
	if (strcmp(w->v->id, "rendezvous") != 0) /* which says which ranks are not here */
		hang_says(w, "%zu of %zu ranks are here: one of the others may be the one that does not come.", here,
			  world);
}

/* So many arrows away is looked for somebody who acts. */
#define BESIDE_MOST 4

/*
 * True if this thread may go on by itself, or somebody may for whom it waits, other than the main thread of a rank.
 * ticks: also by nothing but its clock, though none of the job takes anything in: by a time of its own.
 */
static bool may_go_on(const struct hang_work *w, const struct waitgraph_node *n, bool ticks, int depth)
{
	const struct waitgraph *g = w->c->graph;
	if (n->dead || depth == BESIDE_MOST || (depth > 0 && n->main && n->who && n->who->main))
		return false;
	if (hang_may_act(w, n) && (ticks || !hang_ticks(w, n)))
		return true;
	for (uint32_t i = 0; i < n->n_edges; i++)
		if (may_go_on(w, &g->node[g->edge[n->first_edge + i].to], ticks, depth + 1))
			return true;
	return false;
}

/*
 * A thread beside the one by which a rank is judged that is in the program's own code, in no call with others, and may
 * go on: once it has what it waits for it may make the call that the ranks miss. *ret: of which rank; NULL: there is
 * none.
 */
static const struct dump_thread *caller_beside(const struct hang_work *w, bool ticks,
					       const struct stackgroup_rank **ret)
{
	struct activity_found found;
	for (size_t i = 0; w->c->graph && i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		for (size_t k = 0; r->process && k < r->process->n_threads; k++) {
			const struct dump_thread *t = &r->process->threads[k];
			const struct waitgraph_node *n = waitgraph_thread(w->c->graph, r->process->pid, t->tid);
			if (t == r->acting || t == r->main || !t->has_python || !n)
				continue;
			activity_of(t, &found);
			if (!found.user || activity_waits_for_ranks(found.kind) || !may_go_on(w, n, ticks, 0))
				continue;
			*ret = r;
			return t;
		}
	}
	return NULL;
}

/* What all ranks wait for may come by a thread beside them: it has a helper's time, and nothing is proved. */
static void caller_beside_says(struct hang_work *w)
{
	char place[300];
	const struct stackgroup_rank *r = NULL;
	const struct dump_thread *t = w->v->kind == HANG_HANG ? caller_beside(w, false, &r) : NULL;
	if (!t && w->v->kind == HANG_HANG && caller_beside(w, true, &r)) {
		w->v->confidence = MIN(w->v->confidence, CONFIDENCE_MEDIUM);
		w->v->proved = false;
	}
	if (!t)
		return;
	if (!hang_outlasts_helpers(w)) {
		w->v->kind = HANG_NONE;
		w->v->proved = false;
		w->v->id[0] = '\0';
		w->v->n_culprits = w->v->n_advice = w->v->n_evidence = 0;
		TEXT_COPY(w->v->text, "a thread beside those that wait may make the call that they miss");
		return;
	}
	w->v->confidence = CONFIDENCE_LOW;
	w->may_end = true;
	w->v->proved = false;
	hang_place(w, r->process, t, place, sizeof(place));
	hang_says(w, "Or they wait for a call that thread %d (%s) of rank %d has not made yet: %s.", (int)t->tid,
		  t->name, r->rank, place);
}

/* ret_goes_round: a rank's stack changes within the call that it stays in. */
static bool where_all_wait(struct hang_work *w, bool *ret_goes_round)
{
	if (w->n_blocking > 0 || w->g.n < 2)
		return false;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		*ret_goes_round |= hang_is_starved(w, r) || (r->compared && !r->unchanged);
		if (!r->compared || r->unchanged)
			continue;
		if (!hang_stays_in_call(w, r)) {
			TEXT_COPY(w->v->text, "the ranks wait for one another, but their stacks change");
			return true;
		}
	}
	if (w->n_unseen > 0)
		return w->n_unseen * 2 < w->g.n && one_unseen(w);
	if (w->stalled_rank && message_circle(w))
		return true;
	return uneven(w) || message_circle(w) || one_at_its_end(w) || p2p(w) || hang_store_waits(w) ||
	       hang_key_beside_calls(w) ||
	       epoch_over_for_some(w) || mismatched(w) || stalled(w);
}

bool hang_all_wait(struct hang_work *w)
{
	bool goes_round = false;
	const bool decided = where_all_wait(w, &goes_round);
	if (goes_round)
		hang_goes_round_says(w);
	caller_beside_says(w);
	larger_world_says(w);
	return decided;
}

/* The GPU of a waiting rank spins; that of a rank that never got there does not. */
static bool one_does_not_spin(struct hang_work *w)
{
	size_t spins = 0, known = 0;
	char ranks[200];
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (l->serves || l->seen.exited)
			continue;
		if (!l->gpu_known)
			return false;
		known++;
		spins += l->gpu_spins;
	}
	if (spins == 0 || spins == known || spins * 2 < known)
		return false;
	hang_is(w, "missing_rank", CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < w->p->n; i++)
		if (!w->p->rank[i].serves && !w->p->rank[i].seen.exited && !w->p->rank[i].gpu_spins)
			hang_accuse(w, w->p->rank[i].rank);
	hang_ranks_text(w->v->culprits, w->v->n_culprits, ranks, sizeof(ranks));
	hang_says(w,
		  "%zu of %zu GPUs spin, as in a collective that does not end; those of %s do not: what they should do "
		  "there was never started.",
		  spins, known, ranks);
	return true;
}

bool hang_by_counters(struct hang_work *w)
{
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	const bool decided = one_does_not_spin(w) || uneven(w);
	larger_world_says(w);
	return decided;
}
