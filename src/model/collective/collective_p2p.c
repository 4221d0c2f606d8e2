#include <string.h>

#include "model/collective/collective_parts.h"

/* One side of a direction between two ranks: the sends of one rank or the receives of the other. */
struct side {
	const struct collective_call *calls;
	size_t n;
	size_t open; /* index of the first call that has not ended; n: none */
};

static struct side side_of(const struct collective_call *calls, size_t n)
{
	struct side s = {calls, n, n};
	/* calls end in order, so every call before an ended one has ended */
	while (s.open > 0 && !calls[s.open - 1].done)
		s.open--;
	return s;
}

static bool knows(const struct collective_set *s, uint32_t rank, enum collective_source source)
{
	const struct collective_rank *r = &s->ranks[rank];
	return (r->sources & source) && !(source == COLLECTIVE_FLIGHTREC && r->is_cut);
}

static int wait_of(struct collective_set *s, const struct side *here, const struct side *there, uint32_t other)
{
	const struct collective_call *c = &here->calls[here->open];
	enum collective_source source = c->by_op ? COLLECTIVE_RING : COLLECTIVE_FLIGHTREC;
	struct collective_wait *w = collective_wait_new(s, c->group, source);
	if (!w)
		return -ENOMEM;
	w->is_p2p = true;
	w->from = c->sends ? c->rank : c->peer;
	w->to = c->sends ? c->peer : c->rank;
	w->send_waits = c->sends;
	w->op = c->op;
	w->seq = c->seq;
	w->call = c;
	w->since_ns = c->created_ns;
	collective_stands(s, w, c->rank, c->order);
	if (there->open < there->n) {
		w->other = &there->calls[there->open];
		collective_stands(s, w, other, w->other->order);
	} else if (there->n > here->open && (source != COLLECTIVE_RING || here->open > 0) &&
		   !s->ranks[c->rank].is_wrapped && !s->ranks[other].is_wrapped) {
		collective_set_bit(w->ended, other); /* the counterpart was made, and has ended */
	} else {
		collective_set_bit(knows(s, other, source) ? w->missing : w->unknown, other);
	}
	return 0;
}

static int seal_pair(struct collective_set *s, const struct collective_call *calls, size_t n)
{
	size_t sends = 0;
	while (sends < n && calls[sends].sends)
		sends++;
	const struct side out = side_of(calls, sends), in = side_of(calls + sends, n - sends);
	uint32_t from = calls->sends ? calls->rank : calls->peer, to = calls->sends ? calls->peer : calls->rank;
	if (out.open < out.n)
		return wait_of(s, &out, &in, to);
	if (in.open < in.n)
		return wait_of(s, &in, &out, from);
	return 0;
}

int collective_seal_p2p(struct collective_set *s, struct collective_call *calls, size_t n)
{
	int e = 0;
	for (size_t first = 0, size; first < n && e == 0; first += size) {
		const struct collective_call *a = &calls[first];
		uint32_t from = a->sends ? a->rank : a->peer, to = a->sends ? a->peer : a->rank;
		for (size = 1; first + size < n; size++) {
			const struct collective_call *b = &calls[first + size];
			if ((b->sends ? b->rank : b->peer) != from || (b->sends ? b->peer : b->rank) != to)
				break;
		}
		e = seal_pair(s, a, size);
	}
	return e;
}
