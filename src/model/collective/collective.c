#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "model/collective/collective_parts.h"

/* Hash table with open addressing. */
struct collective_table {
	struct slot {
		uint64_t hash;
		const char *text; /* key of a table of texts */
		uint32_t at; /* key of a table of ranks: index of the rank in the set */
	} * slots;
	size_t n, cap; /* cap is a power of two */
};

const char *collective_kind_name(enum collective_kind k)
{
	static const char *const names[COLLECTIVE_KINDS] = {
		[COLLECTIVE_NONE] = "none",	[COLLECTIVE_MISSING] = "missing", [COLLECTIVE_MISMATCH] = "mismatch",
		[COLLECTIVE_EQUAL] = "equal",	[COLLECTIVE_P2P] = "p2p",	  [COLLECTIVE_CYCLE] = "cycle",
		[COLLECTIVE_DEAD] = "dead",	[COLLECTIVE_INIT] = "init",	  [COLLECTIVE_UNEVEN] = "uneven",
		[COLLECTIVE_DEVICE] = "device",
	};
	return (size_t)k < ARRAY_SIZE(names) ? names[k] : "none";
}

struct collective_set *collective_new(void)
{
	struct collective_set *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->texts = arena_alloc(&s->arena, sizeof(*s->texts));
	s->rank_at = arena_alloc(&s->arena, sizeof(*s->rank_at));
	return s->texts && s->rank_at ? s : collective_free(s);
}

struct collective_set *collective_free(struct collective_set *s)
{
	if (s)
		arena_done(&s->arena);
	free(s);
	return NULL;
}

void *collective_more(struct collective_set *s, void *list, size_t *n, size_t *cap, size_t size)
{
	if (*n < *cap)
		return list;
	size_t more = MAX(*cap * 2, (size_t)16);
	void *grown = arena_grow(&s->arena, list, *n, more, size);
	if (grown)
		*cap = more;
	return grown;
}

static uint64_t hash_of(const void *p, size_t len)
{
	return hash_bytes(HASH_START, p, len) | 1; /* 0: an empty slot */
}

static bool table_grow(struct collective_set *s, struct collective_table *t)
{
	if (t->n * 2 < t->cap)
		return true;
	struct collective_table old = *t;
	size_t cap = MAX(old.cap * 2, (size_t)64);
	struct slot *slots = arena_alloc(&s->arena, cap * sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < old.cap; i++) {
		if (!old.slots[i].hash)
			continue;
		size_t at = old.slots[i].hash & (cap - 1);
		while (slots[at].hash)
			at = (at + 1) & (cap - 1);
		slots[at] = old.slots[i];
	}
	t->slots = slots;
	t->cap = cap;
	return true;
}

const char *collective_text(struct collective_set *s, const char *text)
{
	size_t len = strlen(text);
	uint64_t hash = hash_of(text, len);
	if (!table_grow(s, s->texts))
		return NULL;
	size_t mask = s->texts->cap - 1, at = hash & mask;
	for (; s->texts->slots[at].hash; at = (at + 1) & mask)
		if (s->texts->slots[at].hash == hash && strcmp(s->texts->slots[at].text, text) == 0)
			return s->texts->slots[at].text;
	const char *kept = arena_text(&s->arena, text, len);
	if (kept) {
		s->texts->slots[at] = (struct slot){.hash = hash, .text = kept};
		s->texts->n++;
	}
	return kept;
}

uint32_t collective_rank_at(struct collective_set *s, int32_t rank)
{
	uint64_t hash = hash_of(&rank, sizeof(rank));
	if (!table_grow(s, s->rank_at))
		return UINT32_MAX;
	size_t mask = s->rank_at->cap - 1, at = hash & mask;
	for (; s->rank_at->slots[at].hash; at = (at + 1) & mask)
		if (s->ranks[s->rank_at->slots[at].at].rank == rank)
			return s->rank_at->slots[at].at;
	struct collective_rank *ranks = collective_more(s, s->ranks, &s->n_ranks, &s->cap_ranks, sizeof(*s->ranks));
	if (!ranks)
		return UINT32_MAX;
	s->ranks = ranks;
	uint32_t i = (uint32_t)s->n_ranks++;
	ranks[i] = (struct collective_rank){.rank = rank, .head = COLLECTIVE_NO_WAIT};
	s->rank_at->slots[at] = (struct slot){.hash = hash, .at = i};
	s->rank_at->n++;
	return i;
}

static bool same_ranks(const struct collective_group *g, const int32_t *ranks, size_t n)
{
	return !g->ranks || !ranks || (g->n_ranks == n && memcmp(g->ranks, ranks, n * sizeof(*ranks)) == 0);
}

/*
 * Two groups can have one name, as each rank of a job may number its own groups. They are distinguished by their
 * members.
 */
uint32_t collective_group_at(struct collective_set *s, const char *name, const char *desc, const int32_t *ranks,
			     size_t n_ranks)
{
	struct collective_group *g = NULL;
	for (size_t i = 0; i < s->n_groups && !g; i++)
		if (strcmp(s->groups[i].name, name) == 0 && same_ranks(&s->groups[i], ranks, n_ranks))
			g = &s->groups[i];
	if (!g) {
		g = collective_more(s, s->groups, &s->n_groups, &s->cap_groups, sizeof(*s->groups));
		if (!g)
			return UINT32_MAX;
		s->groups = g;
		g = &s->groups[s->n_groups++];
		*g = (struct collective_group){.name = collective_text(s, name)};
		g->desc = collective_text(s, desc[0] ? desc : name);
		if (!g->name || !g->desc)
			return UINT32_MAX;
	}
	if (ranks && !g->ranks) {
		g->ranks = arena_grow(&s->arena, ranks, n_ranks, n_ranks, sizeof(*ranks));
		if (!g->ranks)
			return UINT32_MAX;
		g->n_ranks = n_ranks;
	}
	return (uint32_t)(g - s->groups);
}

int collective_member(struct collective_set *s, uint32_t group, int32_t rank, int32_t in_group, int32_t n)
{
	struct collective_group *g = &s->groups[group];
	if (in_group < 0 || n <= 0 || n > FLIGHTREC_MEMBERS || in_group >= n)
		return 0;
	if (!g->ranks) {
		g->ranks = arena_alloc(&s->arena, (size_t)n * sizeof(*g->ranks));
		if (!g->ranks)
			return -ENOMEM;
		g->n_ranks = (size_t)n;
		for (int32_t i = 0; i < n; i++)
			g->ranks[i] = NO_RANK;
	}
	if ((size_t)in_group < g->n_ranks)
		g->ranks[in_group] = rank;
	return 0;
}

int collective_add_absent(struct collective_set *s, int32_t rank, const char *why)
{
	uint32_t at = collective_rank_at(s, rank);
	if (at == UINT32_MAX)
		return -ENOMEM;
	TEXT_COPY(s->ranks[at].why, why);
	return 0;
}

static size_t collective_words(const struct collective_set *s)
{
	return (s->n_ranks + 63) / 64;
}

collective_bits *collective_bits_new(struct collective_set *s)
{
	return arena_alloc(&s->arena, MAX(collective_words(s), (size_t)1) * sizeof(collective_bits));
}

void collective_set_bit(collective_bits *b, size_t i)
{
	b[i / 64] |= UINT64_C(1) << (i % 64);
}

bool collective_has(const collective_bits *b, size_t i)
{
	return b && (b[i / 64] >> (i % 64) & 1);
}

size_t collective_count_bits(const struct collective_set *s, const collective_bits *b)
{
	size_t n = 0;
	for (size_t i = 0; b && i < collective_words(s); i++)
		n += (size_t)__builtin_popcountll(b[i]);
	return n;
}

struct collective_wait *collective_wait_new(struct collective_set *s, uint32_t group, enum collective_source source)
{
	struct collective_wait *w = collective_more(s, s->waits, &s->n_waits, &s->cap_waits, sizeof(*s->waits));
	if (!w)
		return NULL;
	s->waits = w;
	w = &s->waits[s->n_waits];
	*w = (struct collective_wait){.group = group, .op = "", .source = source};
	w->waiting = collective_bits_new(s);
	w->missing = collective_bits_new(s);
	w->unknown = collective_bits_new(s);
	w->ended = collective_bits_new(s);
	if (!w->waiting || !w->missing || !w->unknown || !w->ended)
		return NULL;
	s->n_waits++;
	return w;
}

void collective_stands(struct collective_set *s, struct collective_wait *w, uint32_t rank, uint64_t order)
{
	struct collective_rank *r = &s->ranks[rank];
	collective_set_bit(w->waiting, rank);
	if (r->head == COLLECTIVE_NO_WAIT || order < r->head_order) {
		r->head = (uint32_t)(w - s->waits);
		r->head_order = order;
	}
}
