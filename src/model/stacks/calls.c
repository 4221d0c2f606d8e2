#include "model/stacks/calls.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "sense/rank.h"

/* A hash table of indexes; a slot holds the index + 1, or 0 if it is empty. */
struct index {
	uint32_t *slot;
	size_t cap, n; /* cap: a power of two */
};

/* A function of the file being read, found by the addresses of its texts in that file. */
struct seen {
	const char *file, *name;
	int64_t line;
	uint32_t function, file_number;
};

/* Compared before the texts themselves. */
struct name {
	uint64_t hash;
	size_t file_len, name_len;
};

/* Addresses of a function's texts in the file being read. */
struct here {
	const char *file, *name;
	uint32_t file_number;
};

struct edge_key {
	uint32_t callee, place; /* the edge is functions[callee].edges[place] */
};

struct calls {
	struct call_function *functions;
	struct name *names;
	struct here *here;
	double *part_s; /* cumulative time in the part being read */
	uint32_t *touched; /* functions of the part being read */
	bool *is_touched;
	size_t n, cap, n_touched;
	struct index by_name;
	struct index by_edge;
	struct edge_key *edge_keys;
	size_t n_edge_keys, cap_edge_keys;
	struct seen *seen;
	size_t cap_seen, n_seen;
	uint32_t file_number;
	uint32_t current; /* the function whose callers are being read */
	size_t next_edge;
	uint32_t guess; /* the function most likely to be named next */
	uint32_t n_parts;
	uint64_t seed; /* differs in each table, so that no file can be prepared whose names all collide */
	bool sampled;
};

static uint64_t text_hash(uint64_t h, const char *p, size_t len)
{
	uint64_t word;
	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = hash_mix(h ^ word);
	}
	word = len;
	memcpy(&word, p, len);
	return hash_mix(h ^ word ^ (uint64_t)len << 56);
}

static uint64_t hash_name(const struct calls *c, struct span file, int32_t line, struct span name)
{
	return text_hash(text_hash(hash_mix(c->seed ^ (uint32_t)line), file.p, file.len), name.p, name.len);
}

struct calls *calls_new(void)
{
	struct calls *c = calloc(1, sizeof(*c));
	if (c)
		c->seed = hash_mix((uint64_t)(uintptr_t)c);
	return c;
}

struct calls *calls_free(struct calls *c)
{
	for (size_t i = 0; c && i < c->n; i++) {
		free(c->functions[i].file);
		free(c->functions[i].name);
		free(c->functions[i].edges);
	}
	if (c) {
		free(c->functions);
		free(c->names);
		free(c->here);
		free(c->part_s);
		free(c->touched);
		free(c->is_touched);
		free(c->by_name.slot);
		free(c->by_edge.slot);
		free(c->edge_keys);
		free(c->seen);
	}
	free(c);
	return NULL;
}

const struct call_function *calls_get(const struct calls *c, uint32_t i)
{
	return i < c->n ? &c->functions[i] : NULL;
}

size_t calls_len(const struct calls *c)
{
	return c->n;
}

uint32_t calls_parts(const struct calls *c)
{
	return c->n_parts;
}

void calls_set_sampled(struct calls *c)
{
	c->sampled = true;
}

bool calls_sampled(const struct calls *c)
{
	return c->sampled;
}

/* Replaces the table by an empty one of twice the size; the caller inserts all entries again. */
static int index_grow(struct index *x)
{
	size_t cap = x->cap ? x->cap * 2 : 256;
	uint32_t *slot = calloc(cap, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(x->slot);
	*x = (struct index){.slot = slot, .cap = cap};
	return 0;
}

static void index_put(struct index *x, uint64_t hash, uint32_t number)
{
	size_t i = (size_t)hash & (x->cap - 1);
	while (x->slot[i])
		i = (i + 1) & (x->cap - 1);
	x->slot[i] = number + 1;
	x->n++;
}

static bool index_is_full(const struct index *x)
{
	return x->n * 2 >= x->cap;
}

static int grow_array(void *array, size_t cap, size_t size)
{
	void **p = array;
	void *grown = reallocarray(*p, cap, size);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	return 0;
}

static int functions_reserve(struct calls *c)
{
	if (c->n < c->cap)
		return 0;
	size_t cap = c->cap ? c->cap * 2 : 256;
	if (cap > UINT32_MAX / 2 || grow_array(&c->functions, cap, sizeof(*c->functions)) < 0 ||
	    grow_array(&c->here, cap, sizeof(*c->here)) < 0 || grow_array(&c->names, cap, sizeof(*c->names)) < 0 ||
	    grow_array(&c->part_s, cap, sizeof(*c->part_s)) < 0 ||
	    grow_array(&c->touched, cap, sizeof(*c->touched)) < 0 ||
	    grow_array(&c->is_touched, cap, sizeof(*c->is_touched)) < 0)
		return -ENOMEM;
	c->cap = cap;
	return 0;
}

static int names_reserve(struct calls *c)
{
	if (c->by_name.cap && !index_is_full(&c->by_name))
		return 0;
	int r = index_grow(&c->by_name);
	for (size_t i = 0; r == 0 && i < c->n; i++)
		index_put(&c->by_name, c->names[i].hash, (uint32_t)i);
	return r;
}

static char *text_of(struct span s)
{
	char *text = malloc(s.len + 1);
	if (text) {
		memcpy(text, s.p, s.len);
		text[s.len] = '\0';
	}
	return text;
}

static int function_add(struct calls *c, struct span file, int32_t line, struct span name, uint64_t hash, uint32_t *ret)
{
	int r = functions_reserve(c);
	if (r < 0)
		return r;
	struct call_function f = {.file = text_of(file), .name = text_of(name), .line = line, .max_rank = NO_RANK};
	if (!f.file || !f.name) {
		free(f.file);
		free(f.name);
		return -ENOMEM;
	}
	c->functions[c->n] = f;
	c->names[c->n] = (struct name){hash, file.len, name.len};
	c->here[c->n] = (struct here){.file_number = 0};
	c->part_s[c->n] = 0;
	c->is_touched[c->n] = false;
	*ret = (uint32_t)c->n++;
	index_put(&c->by_name, hash, *ret);
	return 0;
}

static bool is_named(const struct calls *c, uint32_t i, struct span file, int32_t line, struct span name)
{
	const struct call_function *f = &c->functions[i];
	const struct name *l = &c->names[i];
	return f->line == line && l->name_len == name.len && l->file_len == file.len &&
	       memcmp(f->name, name.p, name.len) == 0 && memcmp(f->file, file.p, file.len) == 0;
}

static int function_of(struct calls *c, struct span file, int32_t line, struct span name, uint32_t *ret)
{
	/* profiles of one program name the functions mostly in the same order */
	if (c->guess < c->n && is_named(c, c->guess, file, line, name)) {
		*ret = c->guess++;
		return 0;
	}
	uint64_t hash = hash_name(c, file, line, name);
	int r = names_reserve(c);
	if (r < 0)
		return r;
	for (size_t i = (size_t)hash & (c->by_name.cap - 1); c->by_name.slot[i]; i = (i + 1) & (c->by_name.cap - 1)) {
		uint32_t n = c->by_name.slot[i] - 1;
		if (c->names[n].hash == hash && is_named(c, n, file, line, name)) {
			*ret = n;
			c->guess = n + 1;
			return 0;
		}
	}
	return function_add(c, file, line, name, hash, ret);
}

int calls_function(struct calls *c, const char *file, int32_t line, const char *name, uint32_t *ret)
{
	return function_of(c, span_of(file), line, span_of(name), ret);
}

static uint64_t hash_edge(const struct calls *c, uint32_t callee, uint32_t caller)
{
	return hash_mix(c->seed ^ ((uint64_t)callee << 32 | caller));
}

static int edges_reserve(struct calls *c, struct call_function *f)
{
	if (f->n_edges == f->cap_edges) {
		size_t cap = f->cap_edges ? f->cap_edges * 2 : 4;
		if (grow_array(&f->edges, cap, sizeof(*f->edges)) < 0)
			return -ENOMEM;
		f->cap_edges = cap;
	}
	if (c->n_edge_keys >= UINT32_MAX / 2 || vec_room(&c->edge_keys, &c->cap_edge_keys, c->n_edge_keys + 1) < 0)
		return -ENOMEM;
	if (c->by_edge.cap && !index_is_full(&c->by_edge))
		return 0;
	int r = index_grow(&c->by_edge);
	for (size_t i = 0; r == 0 && i < c->n_edge_keys; i++) {
		const struct edge_key *k = &c->edge_keys[i];
		index_put(&c->by_edge, hash_edge(c, k->callee, c->functions[k->callee].edges[k->place].caller),
			  (uint32_t)i);
	}
	return r;
}

/* The edge's index in the callee's list; the edge is added if it is new. */
static int edge_place(struct calls *c, uint32_t callee, uint32_t caller, size_t *ret)
{
	struct call_function *f = &c->functions[callee];
	int r = edges_reserve(c, f);
	if (r < 0)
		return r;
	uint64_t hash = hash_edge(c, callee, caller);
	for (size_t i = (size_t)hash & (c->by_edge.cap - 1); c->by_edge.slot[i]; i = (i + 1) & (c->by_edge.cap - 1)) {
		const struct edge_key *k = &c->edge_keys[c->by_edge.slot[i] - 1];
		if (k->callee == callee && f->edges[k->place].caller == caller) {
			*ret = k->place;
			return 0;
		}
	}
	*ret = f->n_edges++;
	f->edges[*ret] = (struct call_edge){.caller = caller};
	c->edge_keys[c->n_edge_keys] = (struct edge_key){callee, (uint32_t)*ret};
	index_put(&c->by_edge, hash, (uint32_t)c->n_edge_keys++);
	return 0;
}

static void edge_add(struct call_edge *e, uint64_t n_calls, uint64_t n_primitive, double own_s, double cumulative_s)
{
	e->n_calls = add_cap(e->n_calls, n_calls);
	e->n_primitive = add_cap(e->n_primitive, n_primitive);
	e->own_s += own_s;
	e->cumulative_s += cumulative_s;
}

int calls_edge(struct calls *c, uint32_t callee, const struct call_edge *add)
{
	size_t place;
	if (callee >= c->n || add->caller >= c->n)
		return -EINVAL;
	int r = edge_place(c, callee, add->caller, &place);
	if (r == 0)
		edge_add(&c->functions[callee].edges[place], add->n_calls, add->n_primitive, add->own_s,
			 add->cumulative_s);
	return r;
}

void calls_count(struct calls *c, uint32_t i, const struct pstats_number *n)
{
	struct call_function *f = &c->functions[i];
	f->n_calls = add_cap(f->n_calls, n->n_calls);
	f->n_primitive = add_cap(f->n_primitive, n->n_primitive);
	f->own_s += n->own_s;
	f->cumulative_s += n->cumulative_s;
	c->part_s[i] += n->cumulative_s;
	if (!c->is_touched[i]) {
		c->is_touched[i] = true;
		c->touched[c->n_touched++] = i;
	}
}

static size_t seen_slot(const struct calls *c, const struct pstats_key *k)
{
	uint64_t h = hash_mix((uint64_t)(uintptr_t)k->name.p ^ (uint64_t)k->line << 40);
	h = hash_mix((uint64_t)(uintptr_t)k->file.p ^ h);
	return (size_t)h & (c->cap_seen - 1);
}

static bool seen_fits(const struct seen *s, const struct pstats_key *k)
{
	return s->file == k->file.p && s->name == k->name.p && s->line == k->line;
}

static void seen_put(struct calls *c, struct seen s)
{
	const struct pstats_key k = {.file.p = s.file, .name.p = s.name, .line = s.line};
	size_t i = seen_slot(c, &k);
	while (c->seen[i].file_number == c->file_number)
		i = (i + 1) & (c->cap_seen - 1);
	c->seen[i] = s;
	c->n_seen++;
}

static int seen_grow(struct calls *c)
{
	size_t old_cap = c->cap_seen, cap = old_cap ? old_cap * 2 : 1024;
	struct seen *old = c->seen, *grown = calloc(cap, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->seen = grown;
	c->cap_seen = cap;
	c->n_seen = 0;
	for (size_t i = 0; i < old_cap; i++)
		if (old[i].file_number == c->file_number)
			seen_put(c, old[i]);
	free(old);
	return 0;
}

/* Replaces NULs in a text by '?', because a NUL would cut it. *ret_copy: the changed copy, to be freed. */
static int without_nul(struct span *s, char **ret_copy)
{
	if (!memchr(s->p, '\0', s->len))
		return 0;
	char *copy = text_of(*s);
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < s->len; i++)
		if (!copy[i])
			copy[i] = '?';
	s->p = *ret_copy = copy;
	return 0;
}

static int function_named(struct calls *c, const struct pstats_key *k, uint32_t *ret)
{
	cleanup(freep) char *file_copy = NULL;
	cleanup(freep) char *name_copy = NULL;
	struct span file = k->file, name = k->name;
	int32_t line = (int32_t)MAX(MIN(k->line, (int64_t)INT32_MAX), (int64_t)INT32_MIN);
	int r = without_nul(&file, &file_copy);
	if (r == 0)
		r = without_nul(&name, &name_copy);
	return r < 0 ? r : function_of(c, file, line, name, ret);
}

/*
 * A name occurs once as a function and again with each function that it calls. All occurrences share the same bytes of
 * the file, so the address finds the function without comparing texts.
 */
static int function_seen(struct calls *c, const struct pstats_key *k, uint32_t *ret)
{
	if (c->n_seen * 2 >= c->cap_seen && seen_grow(c) < 0)
		return -ENOMEM;
	for (size_t i = seen_slot(c, k); c->seen[i].file_number == c->file_number; i = (i + 1) & (c->cap_seen - 1)) {
		if (seen_fits(&c->seen[i], k)) {
			*ret = c->seen[i].function;
			return 0;
		}
	}
	int r = function_named(c, k, ret);
	if (r == 0)
		seen_put(c, (struct seen){k->file.p, k->name.p, k->line, *ret, c->file_number});
	return r;
}

/* True if the key is function i, by its addresses in this file. */
static bool is_here(const struct calls *c, uint32_t i, const struct pstats_key *k)
{
	const struct here *h = &c->here[i];
	return h->name == k->name.p && h->file == k->file.p && h->file_number == c->file_number &&
	       c->functions[i].line == k->line;
}

static int function_find(struct calls *c, const struct pstats_key *k, uint32_t *ret)
{
	int r = function_seen(c, k, ret);
	if (r == 0)
		c->here[*ret] = (struct here){k->file.p, k->name.p, c->file_number};
	return r;
}

static int sink_function(void *ctx, const struct pstats_key *key, const struct pstats_number *n)
{
	struct calls *c = ctx;
	uint32_t next = c->current + 1;
	int r = 0;
	if (next < c->n && is_here(c, next, key))
		c->current = next;
	else
		r = function_find(c, key, &c->current);
	if (r == 0)
		calls_count(c, c->current, n);
	c->next_edge = 0;
	return r;
}

static int sink_edge(void *ctx, const struct pstats_key *caller, const struct pstats_number *n)
{
	struct calls *c = ctx;
	uint32_t i;
	/* profiles of one program name the callers mostly in the same order */
	const struct call_function *f = &c->functions[c->current];
	size_t place = c->next_edge;
	if (place >= f->n_edges || !is_here(c, f->edges[place].caller, caller)) {
		int r = function_find(c, caller, &i);
		f = &c->functions[c->current]; /* the array may have moved */
		if (r == 0 && (place >= f->n_edges || f->edges[place].caller != i))
			r = edge_place(c, c->current, i, &place);
		if (r < 0)
			return r;
	}
	edge_add(&c->functions[c->current].edges[place], n->n_calls, n->n_primitive, n->own_s, n->cumulative_s);
	c->next_edge = place + 1;
	return 0;
}

static void sink_sampled(void *ctx)
{
	calls_set_sampled(ctx);
}

struct pstats_sink calls_sink(struct calls *c)
{
	c->file_number++; /* addresses in the previous file are no longer valid */
	c->n_seen = 0;
	c->next_edge = 0;
	return (struct pstats_sink){.ctx = c, .function = sink_function, .edge = sink_edge, .sampled = sink_sampled};
}

void calls_part_end(struct calls *c, int32_t rank)
{
	for (size_t t = 0; t < c->n_touched; t++) {
		uint32_t i = c->touched[t];
		struct call_function *f = &c->functions[i];
		double s = c->part_s[i];
		if (f->n_parts == 0 || s < f->cumulative_min_s)
			f->cumulative_min_s = s;
		if (f->n_parts == 0 || s > f->cumulative_max_s) {
			f->cumulative_max_s = s;
			f->max_rank = rank;
		}
		f->cumulative_sum_s += s;
		f->cumulative_sum2_s += s * s;
		f->n_parts++;
		c->part_s[i] = 0;
		c->is_touched[i] = false;
	}
	c->n_touched = 0;
	c->n_parts++;
}

struct calls_sum calls_total(const struct calls *c)
{
	struct calls_sum sum = {.n_calls = 0};
	for (size_t i = 0; i < c->n; i++) {
		sum.n_calls = add_cap(sum.n_calls, c->functions[i].n_calls);
		sum.n_primitive = add_cap(sum.n_primitive, c->functions[i].n_primitive);
		sum.own_s += c->functions[i].own_s;
	}
	return sum;
}

struct call_spread calls_spread(const struct calls *c, const struct call_function *f)
{
	if (f->has_told)
		return f->told;
	bool everywhere = f->n_parts >= c->n_parts;
	double n = MAX(c->n_parts, 1);
	struct call_spread s = {.mean_s = f->cumulative_sum_s / n, .max_rank = f->max_rank};
	double variance = f->cumulative_sum2_s / n - s.mean_s * s.mean_s;
	s.min_s = everywhere || f->cumulative_min_s < 0 ? f->cumulative_min_s : 0;
	s.max_s = f->cumulative_max_s;
	s.stddev_s = variance > 0 ? sqrt(variance) : 0;
	return s;
}

void calls_told_parts(struct calls *c, uint32_t n_parts)
{
	c->n_parts = MAX(n_parts, 1U);
}

void calls_told_spread(struct calls *c, uint32_t i, uint32_t n_parts, const struct call_spread *told)
{
	struct call_function *f = &c->functions[i];
	f->n_parts = MAX(n_parts, 1U);
	f->has_told = true;
	f->told = *told;
}

struct sort_row {
	const struct call_function *f;
	uint32_t i;
};

static int by_text(const struct call_function *a, const struct call_function *b)
{
	int d = strcmp(a->file, b->file);
	if (d == 0)
		d = a->line < b->line ? -1 : a->line > b->line;
	return d ? d : strcmp(a->name, b->name);
}

static int by_tottime(const void *a, const void *b)
{
	const struct call_function *x = ((const struct sort_row *)a)->f, *y = ((const struct sort_row *)b)->f;
	return x->own_s > y->own_s ? -1 : x->own_s < y->own_s ? 1 : by_text(x, y);
}

static int by_cumtime(const void *a, const void *b)
{
	const struct call_function *x = ((const struct sort_row *)a)->f, *y = ((const struct sort_row *)b)->f;
	return x->cumulative_s > y->cumulative_s ? -1 : x->cumulative_s < y->cumulative_s ? 1 : by_text(x, y);
}

static int by_ncalls(const void *a, const void *b)
{
	const struct call_function *x = ((const struct sort_row *)a)->f, *y = ((const struct sort_row *)b)->f;
	return x->n_calls > y->n_calls ? -1 : x->n_calls < y->n_calls ? 1 : by_text(x, y);
}

int calls_sorted(const struct calls *c, enum calls_sort by, uint32_t **ret)
{
	static int (*const order[])(const void *, const void *) = {by_tottime, by_cumtime, by_ncalls};
	cleanup(freep) struct sort_row *rows = calloc(c->n ? c->n : 1, sizeof(*rows));
	uint32_t *sorted = calloc(c->n ? c->n : 1, sizeof(*sorted));
	if (!rows || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < c->n; i++)
		rows[i] = (struct sort_row){&c->functions[i], (uint32_t)i};
	qsort(rows, c->n, sizeof(*rows), order[by]);
	for (size_t i = 0; i < c->n; i++)
		sorted[i] = rows[i].i;
	*ret = sorted;
	return 0;
}
