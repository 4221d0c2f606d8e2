#include "sense/go/goreach.h"

#include <string.h>

#include "base/bisect.h"
#include "sense/go/goown.h"

/* What is looked at in all, and of one object; more is too much. */
#define OBJECTS_MAX 131072
#define BYTES_MAX (64 * MIB)
#define SEEN_SLOTS (2 * OBJECTS_MAX)
#define CHUNK_WORDS 2048

struct target {
	uint64_t base; /* of the object that has what is waited for */
	uint32_t goroutine;
};

struct reach {
	struct goproc *p;
	struct goheap *heap; /* owned */
	const struct goroutines *s;
	bool *reached; /* borrowed */
	struct target *target; /* by base; owned */
	size_t n_targets;
	struct goown own; /* owned */
	uint64_t *seen; /* hash table of objects; owned */
	size_t n_seen;
	struct goobject *todo; /* owned */
	size_t n_todo, at;
	uint64_t bytes; /* looked at so far */
	bool *rooted; /* by goroutine: its stack has been searched; owned */
	bool cut;
};

static void reach_done(struct reach *k)
{
	free(k->heap);
	free(k->target);
	goown_done(&k->own);
	free(k->seen);
	free(k->todo);
	free(k->rooted);
}

static int by_base(const void *a, const void *b)
{
	const struct target *x = a, *y = b;
	return (x->base > y->base) - (x->base < y->base);
}

/* ---- objects ---- */

/* Marks who waits for something in this object. */
static void object_hits(struct reach *k, uint64_t base)
{
	size_t low = bisect(k->n_targets, mid, k->target[mid].base < base);
	for (; low < k->n_targets && k->target[low].base == base; low++)
		k->reached[k->target[low].goroutine] = true;
}

static bool is_new(struct reach *k, uint64_t base)
{
	size_t slot = (size_t)((base >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SEEN_SLOTS;
	while (k->seen[slot] && k->seen[slot] != base)
		slot = (slot + 1) % SEEN_SLOTS;
	if (k->seen[slot])
		return false;
	k->seen[slot] = base;
	k->n_seen++;
	return true;
}

static void word_look(struct reach *k, uint64_t word)
{
	struct goobject o;
	if (k->cut || !goheap_object(k->heap, word, &o) || !is_new(k, o.base))
		return;
	k->bytes += o.pointers ? o.bytes : 0;
	k->cut = k->n_seen >= OBJECTS_MAX || k->bytes > BYTES_MAX;
	if (goown_has(&k->own, o.base) || k->cut)
		return;
	object_hits(k, o.base);
	if (o.pointers)
		k->todo[k->n_todo++] = o;
}

static int range_look(struct reach *k, uint64_t from, uint64_t to)
{
	uint64_t words[CHUNK_WORDS];
	for (uint64_t at = (from + 7) & ~UINT64_C(7); at < to && !k->cut; at += sizeof(words)) {
		size_t n = (size_t)MIN((to - at) / 8, (uint64_t)CHUNK_WORDS);
		int r = goproc_words(k->p, at, words, n);
		if (r)
			return r;
		for (size_t i = 0; i < n; i++)
			word_look(k, words[i]);
	}
	return 0;
}

/* A sudog, and the lists of goroutines and processors, begin with one of the runtime's objects. */
static int object_look(struct reach *k, const struct goobject *o)
{
	uint64_t first = 0;
	int r = remote_u64(k->p->remote, o->base, &first);
	if (r || goown_has(&k->own, first))
		return r == REMOTE_FAULT ? 0 : r;
	return range_look(k, o->base, o->base + o->bytes);
}

static int todo_work(struct reach *k)
{
	int r = 0;
	while (k->at < k->n_todo && !k->cut && r == 0) {
		struct goobject o = k->todo[k->at++];
		r = object_look(k, &o);
	}
	return r;
}

/* ---- where the search begins ---- */

/* The part of the stack that is in use; of one that runs all of it. */
static int stack_look(struct reach *k, const struct goroutine *g)
{
	uint64_t from = g->sp ? g->sp : g->stack_from;
	if (g->stack_to <= from)
		return 0;
	k->bytes += g->stack_to - from;
	k->cut |= k->bytes > BYTES_MAX;
	return range_look(k, from, g->stack_to);
}

/* The timers of a processor: they will call functions of the program, or send to its channels. */
static int timers_look(struct reach *k, uint64_t processor)
{
	uint64_t from = 0, to = 0;
	bool cut = false;
	if (!goown_timers(k->p, processor, &from, &to, &cut)) {
		k->cut |= cut;
		return 0;
	}
	return range_look(k, from, to);
}

static int runtime_list(struct reach *k)
{
	int r = goown_read(k->p, k->heap, &k->own);
	if (r)
		return r;
	k->cut |= k->own.cut;
	for (size_t i = 0; i < k->own.n_processors && r == 0; i++)
		r = timers_look(k, k->own.processor[i]);
	return r;
}

/* ---- all of it ---- */

/*
 * What lies in no object is a variable, which all can come to, or is not understood. What lies in the stack of the
 * goroutine itself nobody else can point to.
 */
static void targets_make(struct reach *k)
{
	struct goobject o;
	for (size_t i = 0; i < k->s->n; i++) {
		const struct goroutine *g = &k->s->item[i];
		for (size_t n = 0; n < g->n_on; n++) {
			if (g->on[n] >= g->stack_from && g->on[n] < g->stack_to)
				continue;
			if (goheap_object(k->heap, g->on[n], &o))
				k->target[k->n_targets++] = (struct target){o.base, (uint32_t)i};
			else
				k->reached[i] = true;
		}
	}
	qsort(k->target, k->n_targets, sizeof(*k->target), by_base);
}

static int stacks_spread(struct reach *k)
{
	int r = todo_work(k);
	for (bool more = true; more && r == 0 && !k->cut;) {
		more = false;
		for (size_t i = 0; i < k->s->n && r == 0; i++) {
			if (!k->reached[i] || k->rooted[i])
				continue;
			k->rooted[i] = more = true;
			r = stack_look(k, &k->s->item[i]);
			if (r == 0)
				r = todo_work(k);
		}
	}
	return r;
}

static int reach_spread(struct reach *k)
{
	const struct goproc *p = k->p;
	bool any = false;
	for (size_t i = 0; i < k->s->n; i++)
		any |= k->reached[i];
	targets_make(k);
	int r = runtime_list(k);
	/* Variables do nothing by themselves: without a goroutine or a timer nobody comes to them. */
	if (r == 0 && !any && k->n_seen == 0 && !k->cut)
		memset(k->reached, 0, k->s->n * sizeof(*k->reached));
	if (r || (!any && k->n_seen == 0))
		return r;
	r = range_look(k, p->data, p->edata);
	if (r == 0)
		r = range_look(k, p->bss, p->ebss);
	return r ? r : stacks_spread(k);
}

int goreach_spread(struct goproc *p, const struct goroutines *s, bool *reached, bool *ret_cut)
{
	cleanup(reach_done) struct reach k = {.p = p, .s = s, .reached = reached};
	*ret_cut = true;
	if (s->n == 0 || s->n_all > s->n || p->enoptrbss - p->noptrdata > BYTES_MAX)
		return 0;
	int r = goheap_open(p, s->item[0].addr, &k.heap);
	if (r)
		return r == GO_UNKNOWN ? 0 : r;
	k.target = calloc(s->n * GOROUTINE_ON, sizeof(*k.target));
	k.seen = calloc(SEEN_SLOTS, sizeof(*k.seen));
	k.todo = calloc(OBJECTS_MAX, sizeof(*k.todo));
	k.rooted = calloc(s->n, sizeof(*k.rooted));
	if (!k.target || !k.seen || !k.todo || !k.rooted)
		return -ENOMEM;
	r = reach_spread(&k);
	*ret_cut = k.cut;
	return r == REMOTE_FAULT ? 0 : r;
}
