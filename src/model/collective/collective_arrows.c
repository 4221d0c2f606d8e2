#include "model/collective/collective_arrows.h"

#include "base/buf.h"

static void call_name(const struct collective_set *s, const struct collective_wait *w, struct collective_arrow *a)
{
	if (w->is_p2p)
		TEXT_COPY(a->call, w->send_waits ? "send" : "receive");
	else
		TEXT_FORMAT(a->call, "%s number %llu of group %s", w->op, (unsigned long long)w->seq,
			    s->groups[w->group].desc);
}

size_t collective_arrows(const struct collective_set *s, struct collective_arrow *dst, size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; i < s->n_ranks; i++) {
		const struct collective_wait *w =
			s->ranks[i].head == COLLECTIVE_NO_WAIT ? NULL : &s->waits[s->ranks[i].head];
		if (!w || (w->by_count && !s->frozen))
			continue;
		for (size_t k = 0; k < s->n_ranks && n < cap; k++) {
			if (k == i || !collective_has(w->missing, k))
				continue;
			dst[n] = (struct collective_arrow){.from = s->ranks[i].rank, .to = s->ranks[k].rank};
			call_name(s, w, &dst[n++]);
		}
	}
	return n;
}
