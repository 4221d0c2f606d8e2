#include <string.h>

#include "judge/collective/collective_parts.h"

/* Some ranks have finalised a communicator while others still work in it. */
static bool uneven(const struct collective_set *s, const struct collective_group *g, struct collective_verdict *v)
{
	struct ranklist finished;
	if (!collective_count_bits(s, g->finished) || !collective_count_bits(s, g->running))
		return false;
	ranklist_of(s, g->finished, &finished);
	struct buf b = verdict_text(v);
	buf_ranks(&b, &finished);
	buf_printf(&b, " %s finished with communicator %s, ", finished.n_all == 1 ? "has" : "have", g->desc);
	buf_bits(&b, s, g->running);
	buf_add(&b, " still work in it: the ranks had different amounts of work.");
	v->kind = COLLECTIVE_UNEVEN;
	v->confidence = s->frozen ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
	verdict_blame(v, &finished);
	verdict_advise(v, "Give every rank the same number of steps: drop_last=True, DistributedSampler with padding, "
			  "or torch.distributed.algorithms.join.Join.");
	return true;
}

/* A communicator is being made, and not all members have come. */
static bool beginning(const struct collective_set *s, const struct collective_group *g, struct collective_verdict *v)
{
	struct ranklist away = {.n = 0};
	if (!collective_count_bits(s, g->starting))
		return false;
	size_t unnamed = 0;
	for (size_t i = 0; i < g->n_ranks; i++)
		unnamed += g->ranks[i] == NO_RANK;
	ranklist_of(s, g->absent, &away);
	struct buf b = verdict_text(v);
	buf_bits(&b, s, g->starting);
	buf_printf(&b, " %s in the initialisation of communicator %s; ",
		   collective_count_bits(s, g->starting) == 1 ? "waits" : "wait", g->desc);
	if (away.n)
		buf_ranks(&b, &away);
	else
		buf_printf(&b, "%zu of its %zu members", unnamed, g->n_ranks);
	buf_add(&b, away.n || unnamed ? " did not come to it." : " are missing: all came, and it does not end.");
	v->kind = COLLECTIVE_INIT;
	v->confidence = away.n ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
	verdict_blame(v, &away);
	verdict_advise(v, "Are all ranks started, with MASTER_ADDR, RANK and WORLD_SIZE that agree? Is the interface "
			  "right (NCCL_SOCKET_IFNAME), and open to the other nodes?");
	return true;
}

bool collective_judge_states(const struct collective_set *s, struct collective_verdict *v)
{
	for (size_t i = 0; i < s->n_groups; i++) {
		const struct collective_group *g = &s->groups[i];
		if (!beginning(s, g, v) && !uneven(s, g, v))
			continue;
		TEXT_COPY(v->group, g->desc);
		verdict_prove(v, collective_source_name(s, COLLECTIVE_RAS),
			      "communicator %s: %zu ready, %zu starting, %zu finished, %zu without an answer",
			      g->desc, collective_count_bits(s, g->running), collective_count_bits(s, g->starting),
			      collective_count_bits(s, g->finished), collective_count_bits(s, g->absent));
		return true;
	}
	return false;
}
