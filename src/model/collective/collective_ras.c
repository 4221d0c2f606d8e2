#include <string.h>

#include "base/buf.h"
#include "model/collective/collective_parts.h"

/* Maps processes and members of communicators to ranks of the job. */
struct where {
	const struct collective_place *places;
	size_t n_places;
	const struct ncclras_comm *largest; /* its ranks are taken as those of the job if no process is known */
};

static bool same_host(const char *a, const char *b)
{
	return a[0] == '\0' || b[0] == '\0' || strcmp(a, b) == 0;
}

/*
 * Finds a rank by (host, process), or by process alone if that is unique: RAS may report another address of the same
 * node.
 */
static bool collective_ras_rank_at(const struct where *w, const char *host, int64_t pid, int32_t *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < w->n_places; i++) {
		if (w->places[i].pid != pid)
			continue;
		if (same_host(w->places[i].host, host)) {
			*ret = w->places[i].rank;
			return true;
		}
		*ret = w->places[i].rank;
		n++;
	}
	return n == 1;
}

static bool collective_ras_rank(const struct where *w, const struct ncclras_comm *c, const struct ncclras_rank *r,
				int32_t *ret)
{
	if (collective_ras_rank_at(w, r->host, r->pid, ret))
		return true;
	if (!w->largest)
		return false;
	if (c == w->largest || c->size == w->largest->size) {
		*ret = r->rank;
		return true;
	}
	for (size_t i = 0; i < w->largest->n_ranks; i++) {
		const struct ncclras_rank *l = &w->largest->ranks[i];
		if (l->pid == r->pid && strcmp(l->host, r->host) == 0) {
			*ret = l->rank;
			return true;
		}
	}
	return false;
}

static enum collective_state state_of(const struct ncclras_rank *r)
{
	if (r->is_missing)
		return COLLECTIVE_ABSENT;
	if (!r->has_status)
		return COLLECTIVE_RUNNING;
	if (r->finalize || r->destroy)
		return COLLECTIVE_FINISHED;
	return r->init_state != 0 ? COLLECTIVE_STARTING : COLLECTIVE_RUNNING;
}

static int add_rank(struct collective_set *s, uint32_t group, int32_t rank, const struct ncclras_comm *comm,
		    const struct ncclras_rank *r)
{
	uint32_t at = collective_rank_at(s, rank);
	if (at == UINT32_MAX || collective_member(s, group, rank, r->rank, comm->size) != 0)
		return -ENOMEM;
	struct collective_count *c = collective_more(s, s->counts, &s->n_counts, &s->cap_counts, sizeof(*s->counts));
	if (!c)
		return -ENOMEM;
	s->counts = c;
	c = &s->counts[s->n_counts++];
	*c = (struct collective_count){group, at, state_of(r), r->has_counts, {0}};
	memcpy(c->n, r->counts, sizeof(c->n));
	if (!r->is_missing)
		s->ranks[at].sources |= COLLECTIVE_RAS;
	s->ranks[at].is_dead |= r->dead || r->unresponsive;
	return 0;
}

static int add_comm(struct collective_set *s, const struct where *w, const struct ncclras_comm *c)
{
	char name[64];
	TEXT_FORMAT(name, "%s%s", strncmp(c->hash, "0x", 2) == 0 ? "" : "0x", c->hash);
	uint32_t group = collective_group_at(s, name, name, NULL, 0);
	if (group == UINT32_MAX)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_ranks; i++) {
		int32_t rank;
		if (!collective_ras_rank(w, c, &c->ranks[i], &rank)) {
			s->n_dropped++;
			continue;
		}
		int e = add_rank(s, group, rank, c, &c->ranks[i]);
		if (e)
			return e;
	}
	return 0;
}

static const struct ncclras_comm *comm_of(const struct ncclras_report *r, const char *hash)
{
	for (size_t i = 0; i < r->n_comms; i++)
		if (strcmp(r->comms[i].hash, hash) == 0)
			return &r->comms[i];
	return NULL;
}

/* True if no counter changed between two reports. Communicators or ranks that came or went count as a change. */
static bool same_counters(const struct ncclras_report *a, const struct ncclras_report *b)
{
	if (a->n_comms != b->n_comms)
		return false;
	for (size_t i = 0; i < a->n_comms; i++) {
		const struct ncclras_comm *one = &a->comms[i], *two = comm_of(b, one->hash);
		if (!two || one->n_ranks != two->n_ranks)
			return false;
		for (size_t j = 0; j < one->n_ranks; j++)
			if (one->ranks[j].rank != two->ranks[j].rank ||
			    memcmp(one->ranks[j].counts, two->ranks[j].counts, sizeof(one->ranks[j].counts)) != 0)
				return false;
	}
	return true;
}

int collective_add_ras(struct collective_set *s, const struct ncclras_report *now, const struct ncclras_report *before,
		       const struct collective_place *places, size_t n_places)
{
	struct where w = {.places = places, .n_places = n_places};
	for (size_t i = 0; i < now->n_comms; i++)
		if (!w.largest || now->comms[i].size > w.largest->size)
			w.largest = &now->comms[i];
	if (before) {
		s->has_frozen = true;
		s->frozen = same_counters(now, before);
	}
	TEXT_FORMAT(s->ras_source, "NCCL RAS%s%s", now->version[0] ? ", NCCL " : "", now->version);
	for (size_t i = 0; i < now->n_comms; i++) {
		int e = add_comm(s, &w, &now->comms[i]);
		if (e)
			return e;
	}
	for (size_t i = 0; i < now->n_processes; i++) {
		int32_t rank;
		if (!now->processes[i].dead ||
		    !collective_ras_rank_at(&w, now->processes[i].host, now->processes[i].pid, &rank))
			continue;
		uint32_t at = collective_rank_at(s, rank);
		if (at == UINT32_MAX)
			return -ENOMEM;
		s->ranks[at].is_dead = true;
	}
	return 0;
}

static int mark(struct collective_set *s, collective_bits **bits, uint32_t rank)
{
	if (!*bits)
		*bits = collective_bits_new(s);
	if (!*bits)
		return -ENOMEM;
	collective_set_bit(*bits, rank);
	return 0;
}

static int mark_state(struct collective_set *s, const struct collective_count *c)
{
	struct collective_group *g = &s->groups[c->group];
	switch (c->state) {
	case COLLECTIVE_FINISHED:
		return mark(s, &g->finished, c->rank);
	case COLLECTIVE_STARTING:
		return mark(s, &g->starting, c->rank);
	case COLLECTIVE_ABSENT:
		return mark(s, &g->absent, c->rank);
	case COLLECTIVE_RUNNING:
		return mark(s, &g->running, c->rank);
	}
	return 0;
}

/* Adds the wait for one operation of a communicator with members [first, first + n), if some counted fewer calls. */
static int wait_by_count(struct collective_set *s, size_t first, size_t n, size_t op)
{
	static const char *const names[NCCLRAS_OPS] = {"broadcast", "reduce", "all_gather", "reduce_scatter",
						       "all_reduce"};
	const struct collective_count *c = &s->counts[first];
	uint64_t most = 0, least = UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		if (!c[i].has_counts)
			continue;
		most = MAX(most, c[i].n[op]);
		least = MIN(least, c[i].n[op]);
	}
	if (least >= most)
		return 0;
	struct collective_wait *w = collective_wait_new(s, c->group, COLLECTIVE_RAS);
	if (!w)
		return -ENOMEM;
	w->op = names[op];
	w->seq = most;
	w->by_count = true;
	for (size_t i = 0; i < n; i++) {
		if (!c[i].has_counts)
			collective_set_bit(w->unknown, c[i].rank);
		else if (c[i].n[op] == most)
			collective_stands(s, w, c[i].rank, UINT64_MAX - 1);
		else
			collective_set_bit(w->missing, c[i].rank);
	}
	return 0;
}

int collective_seal_counts(struct collective_set *s)
{
	int e = 0;
	for (size_t i = 0; i < s->n_counts && e == 0; i++)
		e = mark_state(s, &s->counts[i]);
	for (size_t first = 0, n; first < s->n_counts && e == 0; first += n) {
		for (n = 1; first + n < s->n_counts && s->counts[first + n].group == s->counts[first].group;)
			n++;
		for (size_t op = 0; op < NCCLRAS_OPS && e == 0; op++)
			e = wait_by_count(s, first, n, op);
	}
	return e;
}
