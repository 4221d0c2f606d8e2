#include <string.h>

#include "judge/collective/collective_parts.h"

/* Variants of the call under one number; a real clash has two, rarely three. */
#define WAYS 8
/* Maximum of numbers by which a rank may be ahead or behind and still be recognised as shifted. */
#define SHIFT_MAX 4

struct way {
	const struct collective_call *first;
	size_t n;
	struct ranklist ranks;
};
struct ways {
	struct way way[WAYS];
	size_t n, n_calls;
};

static bool collective_clash_same_call(const struct collective_call *a, const struct collective_call *b)
{
	const char *what;
	return !collective_clashes(a, b, &what);
}

static void ways_of(const struct collective_set *s, const struct collective_clash *c, struct ways *ret)
{
	ret->n = ret->n_calls = 0;
	for (size_t i = c->first; i < c->first + c->n; i++) {
		const struct collective_call *call = &s->calls[i];
		size_t w = 0;
		while (w < ret->n && !collective_clash_same_call(ret->way[w].first, call))
			w++;
		if (w == WAYS)
			w = WAYS - 1;
		if (w == ret->n)
			ret->way[ret->n++] = (struct way){.first = call};
		ret->way[w].n++;
		ret->n_calls++;
		ranklist_add(&ret->way[w].ranks, s->ranks[call->rank].rank);
	}
}

/* The call that the rank made `further` numbers after this one; NULL: it made none, or it is not recorded. */
static const struct collective_call *further_on(const struct collective_set *s, const struct collective_call *c,
						uint64_t further)
{
	for (size_t i = (size_t)(c - s->calls) + 1; i < s->n_calls && c->part == 0; i++) {
		const struct collective_call *o = &s->calls[i];
		if (o->group != c->group || o->is_p2p || o->seq > c->seq + further)
			return NULL;
		if (o->rank == c->rank && o->seq == c->seq + further && !o->in_batch)
			return o;
	}
	return NULL;
}

/*
 * True when the calls of `behind` from here on fit those of `ahead` from `k` numbers later on: then `behind` left k
 * calls out. Where more calls are there to compare, one call that fits by chance is not enough.
 */
static bool fits(const struct collective_set *s, const struct collective_call *behind,
		 const struct collective_call *ahead, uint64_t k)
{
	const struct collective_call *a = further_on(s, ahead, k);
	if (!a || !collective_clash_same_call(a, behind))
		return false;
	for (uint64_t i = 1; i <= 3; i++) {
		const struct collective_call *b = further_on(s, behind, i);
		a = further_on(s, ahead, k + i);
		if (a && b && !collective_clash_same_call(a, b))
			return false;
	}
	return true;
}

static uint64_t left_out(const struct collective_set *s, const struct collective_call *behind,
			 const struct collective_call *ahead)
{
	for (uint64_t k = 1; k <= SHIFT_MAX; k++)
		if (fits(s, behind, ahead, k))
			return k;
	return 0;
}

/* other: the call that it is compared with, and what of it differs. */
static void buf_call(struct buf *b, const struct collective_call *c, const struct collective_call *other,
		     const char *what)
{
	buf_add(b, c->op);
	bool in = strcmp(what, "data type") == 0 ? strcmp(c->in_dtypes, other->in_dtypes) != 0
						 : c->in_elements != other->in_elements;
	const char *giving = in || (!c->out_sizes[0] && !c->out_dtypes[0]) ? "of" : "giving";
	if (strcmp(what, "size") == 0)
		buf_printf(b, " %s %s", giving, in && c->in_sizes[0] ? c->in_sizes : c->out_sizes);
	else if (strcmp(what, "data type") == 0)
		buf_printf(b, " %s %s", giving, in && c->in_dtypes[0] ? c->in_dtypes : c->out_dtypes);
	if (strcmp(what, "size") == 0 && !c->in_sizes[0] && c->has_in)
		buf_printf(b, "%llu elements", (unsigned long long)c->in_elements);
	buf_where(b, c);
}

static void collective_clash_advise(struct collective_verdict *v, const char *what, uint64_t skipped, uint64_t extra)
{
	if (strcmp(what, "size") == 0)
		verdict_advise(v, "Give every rank a tensor of the same size: pad the last batch, set drop_last=True, "
				  "or use all_gather_object for what differs.");
	else if (strcmp(what, "data type") == 0)
		verdict_advise(v, "Give every rank a tensor of the same type: look for an autocast or a .float() that "
				  "only some ranks come by.");
	else
		verdict_advise(v, "All ranks must call the same collectives in the same order: look for a branch "
				  "around one that depends on the rank, on data or on a caught exception.");
	if (skipped || extra)
		verdict_advise(v, skipped ? "Look for the call that these ranks leave out: the others name its line."
					  : "Look for the call that only these ranks make, at the line named.");
	verdict_advise(v, "TORCH_DISTRIBUTED_DEBUG=DETAIL checks each collective before it is started.");
}

static size_t largest(const struct ways *w, bool *ret_tie)
{
	size_t best = 0;
	*ret_tie = false;
	for (size_t i = 1; i < w->n; i++) {
		if (w->way[i].n > w->way[best].n) {
			best = i;
			*ret_tie = false;
		} else if (w->way[i].n == w->way[best].n) {
			*ret_tie = true;
		}
	}
	return best;
}

/* A clash that has not ended comes first, then the oldest one. */
static const struct collective_clash *worst(const struct collective_set *s, bool minor)
{
	const struct collective_clash *best = NULL;
	for (size_t i = 0; i < s->n_clashes; i++) {
		const struct collective_clash *c = &s->clashes[i];
		if (c->minor != minor)
			continue;
		if (!best || (best->done && !c->done) ||
		    (best->done == c->done && s->calls[c->first].created_ns < s->calls[best->first].created_ns))
			best = c;
	}
	return best;
}

static void collective_clash_describe(const struct collective_set *s, const struct ways *w, size_t major, bool tie,
				      bool minor, struct collective_verdict *v)
{
	const struct collective_call *m = w->way[major].first;
	const char *what = "operation";
	struct buf b = verdict_text(v);
	uint64_t skipped = 0, extra = 0;
	buf_printf(&b, "Number %llu of group %s is not the same call everywhere: ", (unsigned long long)m->seq,
		   s->groups[m->group].desc);
	if (m->part)
		buf_add(&b, "in its batch, ");
	for (size_t i = 0, reported = 0; i < w->n; i++) {
		if (i == major)
			continue;
		const struct collective_call *c = w->way[i].first;
		ignore(collective_clashes(m, c, &what), "they do");
		buf_add(&b, reported++ ? "; " : "");
		buf_ranks(&b, &w->way[i].ranks);
		buf_add(&b, " called ");
		buf_call(&b, c, m, what);
		skipped = left_out(s, c, m);
		extra = left_out(s, m, c);
	}
	buf_add(&b, ", ");
	buf_ranks(&b, &w->way[major].ranks);
	buf_add(&b, " ");
	buf_call(&b, m, w->way[major ? 0 : 1].first, what);
	buf_add(&b, ".");
	if (skipped && extra)
		skipped = extra = 0; /* calls that alternate fit both ways */
	if (!tie && skipped)
		buf_printf(&b, " From here on the former are %llu ahead: they left out %s.",
			   (unsigned long long)skipped, skipped == 1 ? "this call" : "these calls");
	else if (!tie && extra)
		buf_printf(&b, " From here on the former are %llu behind: they made %s too many.",
			   (unsigned long long)extra, extra == 1 ? "one" : "some");
	else if (tie)
		buf_add(&b, " Which side is wrong cannot be told: both are of the same number.");
	if (minor)
		buf_add(&b, " It has ended on all of them; what came out of it is not defined.");
	collective_clash_advise(v, what, tie ? 0 : skipped, tie ? 0 : extra);
}

bool collective_judge_clash(const struct collective_set *s, bool minor, struct collective_verdict *v)
{
	const struct collective_clash *c = worst(s, minor);
	static const struct ways none;
	struct ways w = none;
	bool tie;
	if (!c)
		return false;
	ways_of(s, c, &w);
	if (w.n < 2)
		return false;
	size_t major = largest(&w, &tie);
	const struct collective_call *m = w.way[major].first;
	const struct collective_group *g = &s->groups[m->group];
	struct ranklist blamed = {.n = 0};
	for (size_t i = 0; i < w.n; i++)
		for (size_t j = 0; (tie || i != major) && j < w.way[i].ranks.n; j++)
			ranklist_add(&blamed, w.way[i].ranks.rank[j]);
	v->kind = COLLECTIVE_MISMATCH;
	/* The silent members could make the smaller part the larger one. */
	size_t silent = collective_count_bits(s, g->members) - MIN(collective_count_bits(s, g->members), w.n_calls);
	bool sure = w.way[major].n > w.n_calls - w.way[major].n + silent;
	v->confidence = tie || minor ? CONFIDENCE_LOW : sure && !c->done ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
	TEXT_COPY(v->group, g->desc);
	TEXT_COPY(v->op, m->op);
	v->has_seq = true;
	v->seq = m->seq;
	verdict_blame(v, &blamed);
	collective_clash_describe(s, &w, major, tie, minor, v);
	const char *source = collective_source_name(s, m->by_op ? COLLECTIVE_RING : COLLECTIVE_FLIGHTREC);
	for (size_t i = 0; i < w.n; i++) {
		const struct collective_call *k = w.way[i].first;
		char ranks[160];
		struct buf b = BUF_ON(ranks);
		buf_reset(&b);
		buf_ranks(&b, &w.way[i].ranks);
		verdict_prove(v, source, "%s: %s in %s %s out %s %s%s%s", ranks, k->op, k->in_sizes, k->in_dtypes,
			      k->out_sizes, k->out_dtypes, k->where[0] ? " at " : "", k->where);
	}
	return true;
}
