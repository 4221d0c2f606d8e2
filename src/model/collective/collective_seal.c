#include <string.h>

#include "model/collective/collective_parts.h"

/* A range of calls of one group, one number or one pair. */
struct range {
	struct collective_call *calls;
	size_t n;
};

static int compare_text(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a, b);
}

#define COMPARE(a, b) ((a) > (b)) - ((a) < (b))

/* Order: group; collectives before pairs; collectives by (operation,) number and rank, pairs by both ends. */
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
		r = compare_text(a->op, b->op);
	if (!r)
		r = COMPARE(a->seq, b->seq);
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

/* The progress of one rank in a group, by call numbers. */
struct front {
	int64_t last; /* highest number it called; -1: none */
	int64_t last_done; /* highest number that ended; -1: none */
	int64_t reported; /* the last number as reported by the rank itself; -2: not reported */
};

static void front_of(const struct collective_set *s, struct range r, uint32_t group, struct front *f)
{
	for (size_t i = 0; i < s->n_ranks; i++)
		f[i] = (struct front){-1, -1, -2};
	for (size_t i = 0; i < r.n; i++) {
		const struct collective_call *c = &r.calls[i];
		f[c->rank].last = MAX(f[c->rank].last, (int64_t)c->seq);
		if (c->done && !c->in_batch)
			f[c->rank].last_done = MAX(f[c->rank].last_done, (int64_t)c->seq);
	}
	for (size_t i = 0; i < s->n_lasts; i++)
		if (s->lasts[i].group == group)
			f[s->lasts[i].rank].reported = s->lasts[i].seq;
}

/* True if a call has ended. A stream works in order: every call before an ended one has ended. */
static bool is_done(const struct collective_call *c, const struct front *f)
{
	return c->done || (int64_t)c->seq < f[c->rank].last_done;
}

enum standing { STANDS_IN, STANDS_OUT, STANDS_UNKNOWN };

/* Whether a rank without a recorded call of that number has made it, has not come to it, or is unknown. */
static enum standing standing(const struct collective_set *s, const struct front *f, size_t rank, uint64_t seq,
			      enum collective_source source)
{
	const struct collective_rank *r = &s->ranks[rank];
	if (f[rank].last >= (int64_t)seq)
		return STANDS_IN;
	if (!(r->sources & source))
		return STANDS_UNKNOWN;
	if (source == COLLECTIVE_RING)
		return f[rank].last < 0 && r->is_wrapped ? STANDS_UNKNOWN : STANDS_OUT;
	if (!r->is_cut)
		return STANDS_OUT;
	if (f[rank].reported == -2)
		return STANDS_UNKNOWN;
	return f[rank].reported >= (int64_t)seq ? STANDS_IN : STANDS_OUT;
}

static int wait_at(struct collective_set *s, struct range r, const struct front *f, size_t first)
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
		if (one->in_batch || is_done(one, f))
			continue;
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
	}
	return 0;
}

/* The sizes that must be equal on all ranks. Bit 0: input, bit 1: output; 0: none. */
static unsigned size_rule(const char *op)
{
	static const struct {
		const char *start;
		unsigned rule;
	} rules[] = {
		{"all_to_all", 0},	{"alltoall", 0},   {"all_reduce", 1}, {"allreduce", 1},	  {"reduce_scatter", 1},
		{"_reduce_scatter", 1}, {"reduce", 1},	   {"all_gather", 2}, {"_all_gather", 2}, {"broadcast", 2},
		{"_broadcast", 2},	{"gather", 1},	   {"scatter", 2},    {"send", 0},	  {"recv", 0},
		{"coalesced", 0},	{"_coalesced", 0}, {"barrier", 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (strncmp(op, rules[i].start, strlen(rules[i].start)) == 0)
			return rules[i].rule;
	return 0;
}

static bool differ(const char *a, const char *b)
{
	return a[0] && b[0] && compare_text(a, b) != 0;
}

bool collective_clashes(const struct collective_call *a, const struct collective_call *b, const char **ret_what)
{
	unsigned rule = size_rule(a->op);
	const char *what = NULL;
	if (compare_text(a->op, b->op) != 0)
		what = "operation";
	else if ((rule & 1 && differ(a->in_dtypes, b->in_dtypes)) || (rule & 2 && differ(a->out_dtypes, b->out_dtypes)))
		what = "data type";
	else if (rule & 1 && a->has_in && b->has_in && a->in_elements != b->in_elements)
		what = "size";
	else if (rule & 2 && a->has_out && b->has_out && a->out_elements != b->out_elements)
		what = "size";
	if (what)
		*ret_what = what;
	return what != NULL;
}

/*
 * Records the earliest number with clashing calls. If the call ended on all ranks, only different operations count:
 * different sizes that worked are allowed.
 */
static int clash_in(struct collective_set *s, struct range r, const struct front *f)
{
	const char *what = "";
	for (size_t first = 0, n; first < r.n; first += n) {
		const struct collective_call *a = NULL;
		bool clash = false, serious = false, done = true;
		for (n = 0; first + n < r.n && r.calls[first + n].seq == r.calls[first].seq; n++) {
			const struct collective_call *c = &r.calls[first + n];
			if (c->in_batch)
				continue;
			done &= is_done(c, f);
			if (!a)
				a = c;
			else if (c->rank != a->rank && collective_clashes(a, c, &what)) {
				clash = true;
				serious |= strcmp(what, "operation") == 0;
			}
		}
		if (!clash || (done && !serious))
			continue;
		struct collective_clash *list =
			collective_more(s, s->clashes, &s->n_clashes, &s->cap_clashes, sizeof(*s->clashes));
		if (!list)
			return -ENOMEM;
		s->clashes = list;
		s->clashes[s->n_clashes++] = (struct collective_clash){
			.group = r.calls->group, .first = (size_t)(r.calls + first - s->calls), .n = n, .done = done};
		return 0;
	}
	return 0;
}

static int seal_numbers(struct collective_set *s, struct range r, struct front *f)
{
	front_of(s, r, r.calls->group, f);
	int e = clash_in(s, r, f);
	for (size_t i = 0; i < r.n && e == 0; i++) {
		if (r.calls[i].in_batch || is_done(&r.calls[i], f))
			continue;
		while (i > 0 && r.calls[i - 1].seq == r.calls[i].seq)
			i--;
		return wait_at(s, r, f, i);
	}
	return e;
}

static int seal_group(struct collective_set *s, struct range r, struct front *f)
{
	size_t pairs = 0;
	while (pairs < r.n && !r.calls[pairs].is_p2p)
		pairs++;
	int e = 0;
	for (size_t first = 0, n; first < pairs && e == 0; first += n) {
		for (n = 1; first + n < pairs; n++)
			if (r.calls->by_op && compare_text(r.calls[first + n].op, r.calls[first].op) != 0)
				break;
		e = seal_numbers(s, (struct range){r.calls + first, n}, f);
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
	struct front *f = arena_alloc(&s->arena, MAX(s->n_ranks, (size_t)1) * sizeof(*f));
	if (!f)
		return -ENOMEM;
	for (size_t first = 0, n; first < s->n_calls && e == 0; first += n) {
		for (n = 1; first + n < s->n_calls && s->calls[first + n].group == s->calls[first].group;)
			n++;
		e = seal_group(s, (struct range){s->calls + first, n}, f);
	}
	if (e == 0)
		e = collective_seal_counts(s);
	s->sealed = e == 0;
	return e;
}
