#include "sense/rules/literalset.h"

#include <string.h>

#include "sense/rules/hyperscan.h"

/*
 * The own engine is the automaton of Aho and Corasick with every transition filled in. Its input are lower-case bytes
 * grouped into classes; bytes that no literal contains have class 0.
 */
#define LONGEST 16
#define NONE UINT32_MAX

struct output {
	uint32_t id, next;
};

struct literalset {
	struct hyperscan *hyper; /* NULL: the fields below are used */
	uint8_t class_of[256];
	uint32_t n_classes;
	uint32_t *next; /* [state * n_classes + class]: state * n_classes; the top bit: it has outputs */
	uint32_t *fail;
	uint32_t *first; /* [state]: index of its first output; NONE */
	struct output *outputs;
	uint32_t n_states, n_outputs;
};

#define HAS_OUTPUT (1U << 31)

static uint8_t literalset_lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

static void classes_fill(struct literalset *s, const struct literal *l, size_t n)
{
	s->n_classes = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; l[i].text[k] && k < LONGEST; k++) {
			uint8_t c = literalset_lower((uint8_t)l[i].text[k]);
			if (s->class_of[c] == 0)
				s->class_of[c] = (uint8_t)s->n_classes++;
		}
	for (int c = 'A'; c <= 'Z'; c++)
		s->class_of[c] = s->class_of[literalset_lower((uint8_t)c)];
}

static void insert(struct literalset *s, const char *text, uint32_t id)
{
	uint32_t at = 0;
	for (size_t k = 0; text[k] && k < LONGEST; k++) {
		uint32_t *to = &s->next[at * s->n_classes + s->class_of[(uint8_t)text[k]]];
		if (*to == NONE)
			*to = s->n_states++;
		at = *to;
	}
	s->outputs[s->n_outputs] = (struct output){.id = id, .next = s->first[at]};
	s->first[at] = s->n_outputs++;
}

/* Fills missing transitions, breadth first, with those of the state of the longest proper suffix. */
static int transitions_fill(struct literalset *s)
{
	cleanup(freep) uint32_t *queue = calloc(s->n_states, sizeof(*queue));
	uint32_t head = 0, tail = 0;
	if (!queue)
		return -ENOMEM;
	queue[tail++] = 0;
	while (head < tail) {
		uint32_t state = queue[head++];
		for (uint32_t c = 0; c < s->n_classes; c++) {
			uint32_t *to = &s->next[state * s->n_classes + c];
			uint32_t suffix = state == 0 ? 0 : s->next[s->fail[state] * s->n_classes + c];
			if (*to == NONE) {
				*to = suffix;
				continue;
			}
			s->fail[*to] = suffix;
			queue[tail++] = *to;
		}
	}
	return 0;
}

static bool outputs_anywhere(const struct literalset *s, uint32_t state)
{
	for (; state != 0; state = s->fail[state])
		if (s->first[state] != NONE)
			return true;
	return false;
}

/* Replaces state numbers by offsets into next, with a bit that says whether a literal ends in the state. */
static int transitions_pack(struct literalset *s)
{
	cleanup(freep) bool *ends = calloc(s->n_states, sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_states; i++)
		ends[i] = outputs_anywhere(s, i);
	for (size_t i = 0; i < (size_t)s->n_states * s->n_classes; i++)
		s->next[i] = s->next[i] * s->n_classes | (ends[s->next[i]] ? HAS_OUTPUT : 0);
	return 0;
}

static int own_build(struct literalset *s, const struct literal *l, size_t n)
{
	size_t most = 1;
	for (size_t i = 0; i < n; i++)
		most += MIN(strlen(l[i].text), (size_t)LONGEST);
	classes_fill(s, l, n);
	if (most * s->n_classes >= HAS_OUTPUT)
		return -E2BIG;
	s->next = malloc(most * s->n_classes * sizeof(*s->next));
	s->fail = calloc(most, sizeof(*s->fail));
	s->first = malloc(most * sizeof(*s->first));
	s->outputs = calloc(MAX(n, (size_t)1), sizeof(*s->outputs));
	if (!s->next || !s->fail || !s->first || !s->outputs)
		return -ENOMEM;
	memset(s->next, 0xff, most * s->n_classes * sizeof(*s->next));
	memset(s->first, 0xff, most * sizeof(*s->first));
	s->n_states = 1;
	for (size_t i = 0; i < n; i++)
		insert(s, l[i].text, (uint32_t)i);
	int r = transitions_fill(s);
	return r < 0 ? r : transitions_pack(s);
}

static void outputs_report(const struct literalset *s, uint32_t at, size_t end, literal_found *found, void *data)
{
	for (uint32_t state = at / s->n_classes; state != 0; state = s->fail[state])
		for (uint32_t o = s->first[state]; o != NONE; o = s->outputs[o].next)
			found(data, s->outputs[o].id, end);
}

static void own_scan(const struct literalset *s, struct span text, literal_found *found, void *data)
{
	uint32_t at = 0;
	for (size_t i = 0; i < text.len; i++) {
		uint32_t to = s->next[at + s->class_of[(uint8_t)text.p[i]]];
		at = to & ~HAS_OUTPUT;
		if (to & HAS_OUTPUT)
			outputs_report(s, at, i + 1, found, data);
	}
}

int literalset_new(const struct literal *l, size_t n, enum literal_engine engine, struct literalset **ret)
{
	struct literalset *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	int r = engine == LITERAL_OWN || n == 0 ? LITERAL_ABSENT : hyperscan_new(l, n, &s->hyper);
	if (r == LITERAL_ABSENT && engine != LITERAL_HYPERSCAN)
		r = own_build(s, l, n);
	if (r != 0) {
		literalset_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

struct literalset *literalset_free(struct literalset *s)
{
	if (!s)
		return NULL;
	hyperscan_free(s->hyper);
	free(s->next);
	free(s->fail);
	free(s->first);
	free(s->outputs);
	free(s);
	return NULL;
}

int literalset_scan(struct literalset *s, struct span text, literal_found *found, void *data)
{
	if (s->hyper)
		return hyperscan_scan(s->hyper, text, found, data);
	own_scan(s, text, found, data);
	return 0;
}
