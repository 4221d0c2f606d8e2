#include <string.h>

#include "base/buf.h"
#include "model/collective/collective_parts.h"

static struct collective_call *call_new(struct collective_set *s)
{
	struct collective_call *c = collective_more(s, s->calls, &s->n_calls, &s->cap_calls, sizeof(*s->calls));
	if (!c)
		return NULL;
	s->calls = c;
	c = &s->calls[s->n_calls++];
	*c = (struct collective_call){.op = ""};
	return c;
}

static int add_entry(struct collective_set *s, uint32_t rank, uint32_t group, const struct flightrec_entry *e,
		     uint64_t order)
{
	bool pair = e->is_p2p && !e->is_batch;
	/* a batch of sends and receives has no number that ranks share */
	if (e->is_p2p && e->is_batch)
		return 0;
	if (pair && !e->has_peers) {
		s->n_dropped++;
		return 0;
	}
	struct collective_call *c = call_new(s);
	if (!c)
		return -ENOMEM;
	*c = (struct collective_call){
		.group = group,
		.rank = rank,
		.op = collective_text(s, e->op),
		.seq = pair ? e->p2p_seq : e->collective_seq,
		.is_p2p = pair,
		.sends = e->sends,
		.peer_in_group = e->sends ? e->target : e->source,
		.done = e->state == FLIGHTREC_COMPLETED,
		.in_batch = e->in_batch && !pair,
		.part = e->in_batch && !pair ? e->part : 0,
		.has_in = e->has_in,
		.has_out = e->has_out,
		.in_elements = e->in_elements,
		.out_elements = e->out_elements,
		.in_sizes = collective_text(s, e->in_sizes),
		.out_sizes = collective_text(s, e->out_sizes),
		.in_dtypes = collective_text(s, e->in_dtypes),
		.out_dtypes = collective_text(s, e->out_dtypes),
		.where = collective_text(s, e->where),
		.created_ns = e->created_ns,
		.order = order,
	};
	return c->op && c->in_sizes && c->out_sizes && c->in_dtypes && c->out_dtypes && c->where ? 0 : -ENOMEM;
}

/* Adds what the rank itself reports of a group; needed for dumps without their end, or without calls that ended. */
static int add_status(struct collective_set *s, uint32_t rank, uint32_t group, const struct flightrec_group *g)
{
	if (!g->has_status)
		return 0;
	struct collective_last *l = collective_more(s, s->lasts, &s->n_lasts, &s->cap_lasts, sizeof(*s->lasts));
	if (!l)
		return -ENOMEM;
	s->lasts = l;
	s->lasts[s->n_lasts++] = (struct collective_last){group, rank, g->last_enqueued, g->last_completed};
	return 0;
}

int collective_add_flightrec(struct collective_set *s, int32_t rank, const struct flightrec *r)
{
	uint32_t at = collective_rank_at(s, rank);
	uint32_t *group = arena_alloc(&s->arena, MAX(r->n_groups, (size_t)1) * sizeof(*group));
	if (at == UINT32_MAX || !group)
		return -ENOMEM;
	s->ranks[at].sources |= COLLECTIVE_FLIGHTREC;
	s->ranks[at].is_cut |= r->cut;
	s->ranks[at].is_wrapped |= r->n_entries && r->entries[0].record_id > 0;
	if (r->cut)
		TEXT_FORMAT(s->ranks[at].why, "%s", r->why);
	for (size_t i = 0; i < r->n_groups; i++) {
		const struct flightrec_group *g = &r->groups[i];
		group[i] = collective_group_at(s, g->name, g->desc, g->ranks, g->n_ranks);
		if (group[i] == UINT32_MAX || add_status(s, at, group[i], g) != 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < r->n_entries; i++) {
		int e = add_entry(s, at, group[r->entries[i].group], &r->entries[i], i);
		if (e)
			return e;
	}
	return 0;
}

/* The PyTorch name of an operation of NCCL. */
static const char *plain_op(const char *func)
{
	static const char *const names[][2] = {
		{"AllReduce", "all_reduce"},
		{"AllGather", "all_gather"},
		{"ReduceScatter", "reduce_scatter"},
		{"Broadcast", "broadcast"},
		{"Reduce", "reduce"},
		{"Send", "send"},
		{"Recv", "recv"},
		{"AlltoAll", "all_to_all"},
		{"AllToAll", "all_to_all"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(func, names[i][0]) == 0)
			return names[i][1];
	return func;
}

static int add_ring_call(struct collective_set *s, uint32_t rank, uint32_t group, const struct ncclring_call *c)
{
	struct collective_call *to = call_new(s);
	if (!to)
		return -ENOMEM;
	*to = (struct collective_call){
		.group = group,
		.rank = rank,
		.op = collective_text(s, plain_op(c->func)),
		.seq = c->seq,
		.is_p2p = c->is_p2p,
		.sends = c->sends,
		.peer_in_group = c->peer,
		.done = c->ended,
		.has_in = true,
		.has_out = true,
		.in_elements = c->count,
		.out_elements = c->count,
		.in_sizes = "",
		.out_sizes = "",
		.in_dtypes = collective_text(s, c->dtype),
		.where = "",
		.created_ns = c->enqueued_ns,
		.order = c->order,
	};
	to->out_dtypes = to->in_dtypes;
	return to->op && to->in_dtypes ? 0 : -ENOMEM;
}

int collective_add_ring(struct collective_set *s, int32_t rank, const struct ncclring *r)
{
	uint32_t at = collective_rank_at(s, rank);
	uint32_t *group = arena_alloc(&s->arena, MAX(r->n_comms, (size_t)1) * sizeof(*group));
	if (at == UINT32_MAX || !group)
		return -ENOMEM;
	s->ranks[at].sources |= COLLECTIVE_RING;
	s->ranks[at].is_wrapped |= r->n_made > r->n_calls;
	for (size_t i = 0; i < r->n_comms; i++) {
		char name[32], desc[64];
		TEXT_FORMAT(name, "0x%llx", (unsigned long long)r->comms[i].id);
		TEXT_FORMAT(desc, "%s", r->comms[i].name[0] ? r->comms[i].name : name);
		group[i] = collective_group_at(s, name, desc, NULL, 0);
		if (group[i] == UINT32_MAX ||
		    collective_member(s, group[i], rank, r->comms[i].rank, r->comms[i].n_ranks))
			return -ENOMEM;
		s->groups[group[i]].seq_per_op = true;
	}
	for (size_t i = 0; i < r->n_calls; i++) {
		int e = add_ring_call(s, at, group[r->calls[i].comm], &r->calls[i]);
		if (e)
			return e;
	}
	return 0;
}
