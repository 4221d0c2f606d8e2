#include <string.h>

#include "model/collective/collective_parts.h"

#define COMPARE(a, b) ((a) > (b)) - ((a) < (b))

/* Order: group; collectives before pairs; collectives by (operation,) number, part and rank, pairs by both ends. */
static int compare_calls(const void *va, const void *vb)
{
	const struct collective_call *a = va, *b = vb;
	int r = COMPARE(a->group, b->group);
	if (!r)
		r = COMPARE(a->is_p2p, b->is_p2p);
	if (!r && a->is_p2p) {
		r = COMPARE(a->sends ? a->rank : a->peer, b->sends ? b->rank : b->peer);
		if (!r)
			r = COMPARE(a->sends ? a->peer : a->rank, b->sends ? b->peer : b->rank);
		if (!r)
			r = COMPARE(b->sends, a->sends);
		return r ? r : COMPARE(a->order, b->order);
	}
	if (!r && a->by_op)
		r = collective_text_order(a->op, b->op);
	if (!r)
		r = COMPARE(a->seq, b->seq);
	if (!r)
		r = COMPARE(a->part, b->part);
	if (!r)
		r = COMPARE(a->rank, b->rank);
	return r ? r : COMPARE(a->order, b->order);
}

static uint32_t peer_of(struct collective_set *s, const struct collective_call *c)
{
	const struct collective_group *g = &s->groups[c->group];
	int32_t p = c->peer_in_group;
	if (p >= 0 && g->ranks && (size_t)p < g->n_ranks && g->ranks[p] != NO_RANK)
		return collective_rank_at(s, g->ranks[p]);
	return collective_rank_at(s, p);
}

/* Gives an index to every rank that is mentioned, so that sets of ranks can be made. */
static int resolve(struct collective_set *s)
{
	for (size_t i = 0; i < s->n_groups; i++)
		for (size_t j = 0; j < s->groups[i].n_ranks; j++)
			if (s->groups[i].ranks[j] != NO_RANK &&
			    collective_rank_at(s, s->groups[i].ranks[j]) == UINT32_MAX)
				return -ENOMEM;
	for (size_t i = 0; i < s->n_calls; i++) {
		struct collective_call *c = &s->calls[i];
		c->by_op = s->groups[c->group].seq_per_op;
		s->groups[c->group].has_pairs |= c->is_p2p;
		if (c->is_p2p && (c->peer = peer_of(s, c)) == UINT32_MAX)
			return -ENOMEM;
	}
	return 0;
}

static int members(struct collective_set *s)
{
	for (size_t i = 0; i < s->n_groups; i++) {
		struct collective_group *g = &s->groups[i];
		g->members = collective_bits_new(s);
		if (!g->members)
			return -ENOMEM;
		for (size_t j = 0; j < g->n_ranks; j++)
			if (g->ranks[j] != NO_RANK)
				collective_set_bit(g->members, collective_rank_at(s, g->ranks[j]));
	}
	for (size_t i = 0; i < s->n_calls; i++)
		if (!s->groups[s->calls[i].group].ranks)
			collective_set_bit(s->groups[s->calls[i].group].members, s->calls[i].rank);
	return 0;
}

/*
 * A recorder can be told to leave calls out that have ended; what a rank reports of the group then says how far it is.
 * Where there are sends and receives as well, the report may be of their numbers.
 */
static void front_told(const struct collective_set *s, const struct collective_last *l, struct collective_front *f)
{
	f->reported = l->seq;
	f->whole = !s->groups[l->group].has_pairs && (f->last == -1 || f->last == l->seq);
	f->told_done = f->whole && l->done <= l->seq ? l->done : -1;
}

static void front_of(const struct collective_set *s, struct collective_range r, uint32_t group,
		     struct collective_front *f)
{
	for (size_t i = 0; i < s->n_ranks; i++)
		f[i] = (struct collective_front){.last = -1, .last_done = -1, .reported = -2, .told_done = -1};
	for (size_t i = 0; i < r.n; i++) {
		const struct collective_call *c = &r.calls[i];
		f[c->rank].last = MAX(f[c->rank].last, (int64_t)c->seq);
		if (c->done && !c->in_batch)
			f[c->rank].last_done = MAX(f[c->rank].last_done, (int64_t)c->seq);
	}
	for (size_t i = 0; i < s->n_lasts; i++)
		if (s->lasts[i].group == group)
			front_told(s, &s->lasts[i], &f[s->lasts[i].rank]);
}

enum standing { STANDS_IN, STANDS_OUT, STANDS_UNKNOWN };

/* Whether a rank without a recorded call of that number has made it, has not come to it, or is unknown. */
static enum standing standing(const struct collective_set *s, const struct collective_front *f, size_t rank,
			      uint64_t seq, enum collective_source source)
{
	const struct collective_rank *r = &s->ranks[rank];
	if (f[rank].last >= (int64_t)seq)
		return STANDS_IN;
	if (!(r->sources & source))
		return STANDS_UNKNOWN;
	if (source == COLLECTIVE_RING)
		return f[rank].last < 0 && r->is_wrapped ? STANDS_UNKNOWN : STANDS_OUT;
	if (!r->is_cut)
		return f[rank].whole && f[rank].reported >= (int64_t)seq ? STANDS_IN : STANDS_OUT;
	if (f[rank].reported == -2)
		return STANDS_UNKNOWN;
	return f[rank].reported >= (int64_t)seq ? STANDS_IN : STANDS_OUT;
}

static void ended_on(struct collective_wait *w, const struct collective_front *f, uint32_t rank)
{
	collective_set_bit(w->ended, rank);
	w->passed |= f[rank].last > (int64_t)w->seq || (f[rank].whole && f[rank].reported > (int64_t)w->seq);
}

/*
 * NCCL tells its plugin of ends only where it reports kernels or transfers. Of a rank that never ended such a call it
 * is not known that it has not ended this one.
 */
static void ends_check(const struct collective_set *s, struct collective_wait *w, const struct collective_front *f)
{
	bool silent = false;
	for (size_t i = 0; i < s->n_ranks && w->source == COLLECTIVE_RING; i++)
		silent |= collective_has(w->waiting, i) && f[i].last_done < 0;
	if (silent)
		memset(w->ended, 0, (s->n_ranks + 63) / 64 * sizeof(*w->ended));
}

static int wait_at(struct collective_set *s, struct collective_range r, const struct collective_front *f, size_t first)
{
	const struct collective_call *c = &r.calls[first];
	const struct collective_group *g = &s->groups[c->group];
	enum collective_source source = c->by_op ? COLLECTIVE_RING : COLLECTIVE_FLIGHTREC;
	struct collective_wait *w = collective_wait_new(s, c->group, source);
	if (!w)
		return -ENOMEM;
	w->op = c->op;
	w->seq = c->seq;
	collective_bits *in = collective_bits_new(s);
	if (!in)
		return -ENOMEM;
	for (size_t i = first; i < r.n && r.calls[i].seq == c->seq; i++) {
		const struct collective_call *one = &r.calls[i];
		collective_set_bit(in, one->rank);
		if (one->in_batch)
			continue;
		if (collective_ended(one, f)) {
			ended_on(w, f, one->rank);
			continue;
		}
		collective_stands(s, w, one->rank, one->order);
		if (!w->since_ns || (one->created_ns && one->created_ns < w->since_ns))
			w->since_ns = one->created_ns;
		if (!w->call)
			w->call = one;
	}
	for (size_t i = 0; i < s->n_ranks; i++) {
		if (!collective_has(g->members, i) || collective_has(in, i))
			continue;
		enum standing st = standing(s, f, i, c->seq, source);
		if (st != STANDS_IN)
			collective_set_bit(st == STANDS_OUT ? w->missing : w->unknown, i);
		else if (MAX(f[i].last_done, f[i].told_done) >= (int64_t)c->seq)
			ended_on(w, f, (uint32_t)i);
	}
	ends_check(s, w, f);
	return 0;
}

static size_t first_of(struct collective_range r, size_t i)
{
	while (i > 0 && r.calls[i - 1].seq == r.calls[i].seq)
		i--;
	return i;
}

/* Where those stand for whom the call of the latest wait has ended. */
static int wait_beyond(struct collective_set *s, struct collective_range r, const struct collective_front *f, size_t i)
{
	const struct collective_wait *w = &s->waits[s->n_waits - 1];
	for (uint64_t seq = w->seq; i < r.n; i++) {
		const struct collective_call *c = &r.calls[i];
		if (c->seq != seq && !c->in_batch && collective_has(w->ended, c->rank) && !collective_ended(c, f))
			return wait_at(s, r, f, first_of(r, i));
	}
	return 0;
}

static int seal_numbers(struct collective_set *s, struct collective_range r, struct collective_front *f)
{
	front_of(s, r, r.calls->group, f);
	int e = collective_seal_clash(s, r, f);
	for (size_t i = 0; i < r.n && e == 0; i++) {
		if (r.calls[i].in_batch || collective_ended(&r.calls[i], f))
			continue;
		i = first_of(r, i);
		e = wait_at(s, r, f, i);
		return e ? e : wait_beyond(s, r, f, i);
	}
	return e;
}

static int seal_group(struct collective_set *s, struct collective_range r, struct collective_front *f)
{
	size_t pairs = 0;
	while (pairs < r.n && !r.calls[pairs].is_p2p)
		pairs++;
	int e = 0;
	for (size_t first = 0, n; first < pairs && e == 0; first += n) {
		for (n = 1; first + n < pairs; n++)
			if (r.calls->by_op && collective_text_order(r.calls[first + n].op, r.calls[first].op) != 0)
				break;
		e = seal_numbers(s, (struct collective_range){r.calls + first, n}, f);
	}
	if (e == 0 && pairs < r.n)
		e = collective_seal_p2p(s, r.calls + pairs, r.n - pairs);
	return e;
}

int collective_seal(struct collective_set *s)
{
	int e = resolve(s);
	if (e == 0)
		e = members(s);
	if (e)
		return e;
	if (s->n_calls)
		qsort(s->calls, s->n_calls, sizeof(*s->calls), compare_calls);
	struct collective_front *f = arena_alloc(&s->arena, MAX(s->n_ranks, (size_t)1) * sizeof(*f));
	if (!f)
		return -ENOMEM;
	for (size_t first = 0, n; first < s->n_calls && e == 0; first += n) {
		for (n = 1; first + n < s->n_calls && s->calls[first + n].group == s->calls[first].group;)
			n++;
		e = seal_group(s, (struct collective_range){s->calls + first, n}, f);
	}
	if (e == 0)
		e = collective_seal_counts(s);
	s->sealed = e == 0;
	return e;
}
