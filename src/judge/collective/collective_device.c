#include <string.h>

#include "judge/collective/collective_parts.h"

/* True if all members are in the call, and it has ended on some of them only. */
static bool is_split(const struct collective_set *s, const struct collective_wait *one)
{
	return !one->by_count && collective_count_bits(s, one->ended) && !collective_count_bits(s, one->missing) &&
	       collective_count_bits(s, one->waiting) <= collective_count_bits(s, one->ended);
}

/*
 * True if that rank's device stands in this wait. A call that needs all ranks cannot end anywhere before this rank's
 * device has worked on it. Of others, as of a broadcast, the rank may be in it only because it waits in an earlier one.
 */
static bool stands(const struct collective_set *s, const struct collective_wait *one, size_t rank)
{
	uint32_t head = s->ranks[rank].head;
	if (!collective_has(one->waiting, rank))
		return false;
	return collective_needs_all(one->op) || (head != COLLECTIVE_NO_WAIT && is_split(s, &s->waits[head]));
}

static bool collective_device_of(const struct collective_set *s, const struct collective_wait *one,
				 struct ranklist *into)
{
	bool found = false;
	for (size_t i = 0; is_split(s, one) && i < s->n_ranks; i++) {
		if (!stands(s, one, i))
			continue;
		ranklist_add(into, s->ranks[i].rank);
		found = true;
	}
	return found;
}

static void collective_device_describe(const struct collective_set *s, const struct collective_wait *one,
				       const struct ranklist *here, struct collective_verdict *v)
{
	bool one_rank = here->n_all == 1;
	struct buf b = verdict_text(v);
	buf_wait(&b, s, one);
	buf_where(&b, one->call);
	buf_add(&b, " has ended on ");
	buf_bits(&b, s, one->ended);
	buf_add(&b, " and not on ");
	buf_ranks(&b, here);
	buf_printf(&b, ", though all are in it: the %s of ", one_rank ? "device" : "devices");
	buf_ranks(&b, here);
	buf_add(&b,
		one_rank ? " stands, or what it works on does not end." : " stand, or what they work on does not end.");
	if (one->passed)
		buf_printf(&b, " The others have gone on, and wait for %s now.", one_rank ? "it" : "them");
}

/* A call that needs all ranks proves it; of equal ones the oldest is told. */
static bool tells_more(const struct collective_wait *a, const struct collective_wait *b)
{
	bool all_a = collective_needs_all(a->op), all_b = collective_needs_all(b->op);
	return all_a != all_b ? all_a : a->since_ns && a->since_ns < b->since_ns;
}

/* Names the ranks whose devices stand in calls of other groups. */
static void collective_device_also(const struct ranklist *all, const struct ranklist *here,
				   struct collective_verdict *v)
{
	struct ranklist other = {.n = 0};
	for (size_t i = 0, j = 0; i < all->n; i++) {
		while (j < here->n && here->rank[j] < all->rank[i])
			j++;
		if (j == here->n || here->rank[j] != all->rank[i])
			ranklist_add(&other, all->rank[i]);
	}
	struct buf b = BUF_ON(v->text);
	b.len = strlen(v->text);
	buf_add(&b, " The same is true of ");
	buf_ranks(&b, &other);
	buf_add(&b, ", in calls of other groups.");
}

/* Those in which a device stands come first. */
static void collective_device_prove(const struct collective_set *s, const struct collective_wait *first,
				    struct collective_verdict *v)
{
	verdict_prove_wait(s, first, v);
	for (unsigned split = 2; split-- > 0;)
		for (size_t i = 0; i < s->n_waits && v->n_evidence < COLLECTIVE_EVIDENCE - 1; i++) {
			const struct collective_wait *one = &s->waits[i];
			if (one != first && !one->by_count && is_split(s, one) == (split != 0))
				verdict_prove_wait(s, one, v);
		}
}

bool collective_judge_devices(const struct collective_set *s, bool pairs, struct collective_verdict *v)
{
	const struct collective_wait *first = NULL;
	struct ranklist blamed = {.n = 0}, here = {.n = 0};
	for (size_t i = 0; i < s->n_waits; i++) {
		const struct collective_wait *one = &s->waits[i];
		if (one->is_p2p == pairs && collective_device_of(s, one, &blamed) && (!first || tells_more(one, first)))
			first = one;
	}
	if (!first)
		return false;
	ignore(collective_device_of(s, first, &here), "it is");
	size_t waiting = collective_count_bits(s, first->waiting), ended = collective_count_bits(s, first->ended);
	v->kind = COLLECTIVE_DEVICE;
	bool sure = waiting < ended && first->passed && !collective_count_bits(s, first->unknown) &&
		    collective_needs_all(first->op);
	v->confidence = sure ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
	if (first->source == COLLECTIVE_RING) /* not every end is reported to the plugin */
		v->confidence = sure ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
	verdict_call(s, v, first);
	verdict_blame(v, &blamed);
	collective_device_describe(s, first, &here, v);
	if (blamed.n_all > here.n_all)
		collective_device_also(&blamed, &here, v);
	verdict_advise(
		v, "Look at the GPUs of the ranks named: vigil gpus, and Xid in the kernel log. A GPU that fell off "
		   "the bus or has an uncorrectable error needs a reset, and its node a drain.");
	verdict_advise(
		v, "If the GPU is sound, it is in a kernel that does not end, or its process is stopped: vigil stack "
		   "and vigil waits of that rank.");
	collective_device_prove(s, first, v);
	return true;
}

static void collective_pair_side(struct buf *b, const struct collective_set *s, const struct collective_call *c,
				 const char *what)
{
	const char *sizes = c->sends || !c->out_sizes[0] ? c->in_sizes : c->out_sizes;
	const char *types = c->sends || !c->out_dtypes[0] ? c->in_dtypes : c->out_dtypes;
	uint64_t n = (c->sends && c->has_in) || !c->has_out ? c->in_elements : c->out_elements;
	buf_printf(b, "rank %d %s ", s->ranks[c->rank].rank, c->sends ? "sends" : "receives");
	if (strcmp(what, "size") != 0)
		buf_add(b, types);
	else if (sizes[0])
		buf_add(b, sizes);
	else
		buf_printf(b, "%llu elements", (unsigned long long)n);
	buf_where(b, c);
}

bool collective_judge_pairs(const struct collective_set *s, struct collective_verdict *v)
{
	const struct collective_wait *first = NULL;
	const char *what = "";
	for (size_t i = 0; i < s->n_waits; i++) {
		const struct collective_wait *one = &s->waits[i];
		if (one->is_p2p && one->other && collective_pair_clashes(one->call, one->other, &what) &&
		    (!first || (one->since_ns && one->since_ns < first->since_ns)))
			first = one;
	}
	if (!first)
		return false;
	const struct collective_call *out = first->send_waits ? first->call : first->other;
	const struct collective_call *in = first->send_waits ? first->other : first->call;
	ignore(collective_pair_clashes(out, in, &what), "they do");
	struct ranklist both = {.n = 0};
	ranklist_add(&both, s->ranks[out->rank].rank);
	ranklist_add(&both, s->ranks[in->rank].rank);
	struct buf b = verdict_text(v);
	buf_printf(&b, "A send and its receive in group %s differ in %s: ", s->groups[first->group].desc, what);
	collective_pair_side(&b, s, out, what);
	buf_add(&b, ", ");
	collective_pair_side(&b, s, in, what);
	buf_add(&b, ". Which side is wrong cannot be told.");
	v->kind = COLLECTIVE_MISMATCH;
	v->confidence = CONFIDENCE_MEDIUM;
	verdict_call(s, v, first);
	verdict_blame(v, &both);
	verdict_advise(
		v, "Both stages must agree on the shape and type of what is handed over: look for a last batch that "
		   "is smaller, an autocast on one side, or sends and receives in another order.");
	verdict_prove_wait(s, first, v);
	return true;
}
