#include "model/rules/cause.h"

#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/vec.h"

void cause_set_done(struct cause_set *s)
{
	free(s->groups);
	*s = (struct cause_set){.groups = NULL};
}

static bool in_number(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == 'x';
}

/* Hashes text with each number, decimal or hexadecimal, replaced by "#". */
static uint64_t cause_mix_text(uint64_t h, const char *text)
{
	for (size_t i = 0; text[i]; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			while (in_number(text[i + 1]))
				i++;
			h = hash_bytes(h, "#", 1);
		} else {
			h = hash_bytes(h, text + i, 1);
		}
	}
	return h;
}

/* The key of an entry. A rule that compares its matches with other lines has one entry for each set of extracts. */
static uint64_t key_of(const struct rule_match *m, enum rule_event event)
{
	const struct rule *u = m->rule;
	uint64_t h = hash_bytes(HASH_START, u->id, strlen(u->id) + 1);
	h = hash_bytes(h, m->whose == RULE_WHOSE_OTHERS ? "o" : m->whose == RULE_WHOSE_OURS ? "j" : "?", 1);
	if (u->n_clear == 0 && u->n_contrast == 0)
		return cause_mix_text(h, m->text);
	h = hash_bytes(h, event == RULE_CONTRAST ? "c" : "m", 1);
	for (size_t i = 0; i < RULE_EXTRACTS; i++)
		h = hash_bytes(h, m->value[i], strlen(m->value[i]) + 1);
	return h;
}

static struct cause_group *find(struct cause_set *s, uint64_t key)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->groups[i].key == key)
			return &s->groups[i];
	return NULL;
}

static void rank_add(struct cause_group *g, int32_t rank)
{
	for (size_t i = 0; i < g->n_ranks; i++)
		if (g->ranks[i] == rank)
			return;
	if (rank != NO_RANK && g->n_ranks < CAUSE_RANKS)
		g->ranks[g->n_ranks++] = rank;
}

static void cleared(struct cause_set *s, uint64_t key)
{
	struct cause_group *g = find(s, key);
	if (!g)
		return;
	/* Entries are ordered by their field `order`, so the last one may take the free place. */
	*g = s->groups[--s->n];
}

int cause_set_add(struct cause_set *s, const struct rule_match *m)
{
	uint64_t key = key_of(m, m->event);
	if (m->event == RULE_CLEARED) {
		cleared(s, key);
		return 0;
	}
	s->n_matches += m->event == RULE_MATCH;
	s->n_events++;
	struct cause_group *g = find(s, key);
	if (!g && s->n == CAUSE_GROUPS) {
		s->n_dropped++;
		return 0;
	}
	if (!g) {
		int r = vec_room(&s->groups, &s->cap, s->n + 1);
		if (r < 0)
			return r;
		g = &s->groups[s->n++];
		*g = (struct cause_group){.key = key, .order = s->n_events, .first = *m};
	}
	g->n++;
	rank_add(g, m->rank);
	if (m->has_time && g->first.has_time && m->time_unix_ms < g->first.time_unix_ms)
		g->first = *m;
	return 0;
}

int cause_set_join(struct cause_set *s, const struct cause_set *more)
{
	uint64_t behind = s->n_events;
	for (size_t i = 0; i < more->n; i++) {
		const struct cause_group *from = &more->groups[i];
		struct cause_group *g = find(s, from->key);
		if (!g && s->n == CAUSE_GROUPS) {
			s->n_dropped++;
			continue;
		}
		if (!g) {
			int r = vec_room(&s->groups, &s->cap, s->n + 1);
			if (r < 0)
				return r;
			g = &s->groups[s->n++];
			*g = *from;
			g->order += behind;
			continue;
		}
		g->n += from->n;
		for (size_t k = 0; k < from->n_ranks; k++)
			rank_add(g, from->ranks[k]);
	}
	s->n_matches += more->n_matches;
	s->n_events += more->n_events;
	s->n_dropped += more->n_dropped;
	return 0;
}

const struct cause_fact *cause_set_find_fact(const struct cause_set *s, const char *name)
{
	for (size_t i = 0; i < s->n_facts; i++)
		if (strcmp(s->facts[i].name, name) == 0)
			return &s->facts[i];
	return NULL;
}

bool cause_set_fact(struct cause_set *s, const char *name, const char *value)
{
	struct cause_fact *f = NULL;
	for (size_t i = 0; i < s->n_facts; i++)
		if (strcmp(s->facts[i].name, name) == 0)
			f = &s->facts[i];
	if (!f && s->n_facts == CAUSE_FACTS)
		return false;
	f = f ? f : &s->facts[s->n_facts++];
	TEXT_COPY(f->name, name);
	TEXT_COPY(f->value, value);
	return true;
}
