#include "sense/go/gonear.h"

#include <string.h>

#include "base/bisect.h"
#include "base/vec.h"
#include "sense/go/goown.h"

/* Objects that are looked at in all, from one goroutine, and of a timer; and bytes of one object and in all. */
#define ALL_MAX 200000
#define EACH_MAX 8192
#define TIMER_MAX 256
#define OBJECT_BYTES (256 * KIB)
#define ALL_BYTES (64 * MIB)
#define STEPS_MAX 12
#define LINKS_MAX 65536
/* A context's end: timer, function, context, channel; and those derived from it. */
#define TIMER_STEPS 7
#define SEEN_SLOTS 32768
#define CHUNK_WORDS 1024
#define STACK_BYTES (64 * KIB)
/* A pollDesc has its timers for the time limits of reading and writing within so much. */
#define POLL_BYTES 256
#define TIMERS_MAX 4096
#define BY_TIMER UINT32_MAX

struct target {
	uint64_t base;
	uint32_t goroutine;
};

struct near {
	struct goproc *p;
	const struct goroutines *s;
	struct goheap *heap; /* owned */
	struct goown own; /* owned */
	struct target *target; /* by base; owned */
	size_t n_targets;
	struct {
		uint64_t base;
		uint32_t turn; /* of the search that saw it */
	} seen[SEEN_SLOTS];
	uint32_t turn;
	struct goobject todo[EACH_MAX]; /* of one search */
	size_t n_todo;
	uint32_t by; /* whose search it is; BY_TIMER */
	uint16_t steps;
	size_t most; /* objects of this search */
	size_t n_all;
	uint64_t bytes;
	struct gonear *ret;
	int error;
};

void gonear_done(struct gonear *n)
{
	free(n->link);
	free(n->clock);
	*n = (struct gonear){.n = 0};
}

static void near_free(struct near **k)
{
	if (!*k)
		return;
	free((*k)->heap);
	free((*k)->target);
	goown_done(&(*k)->own);
	free(*k);
}

static int target_by_base(const void *a, const void *b)
{
	const struct target *x = a, *y = b;
	return (x->base > y->base) - (x->base < y->base);
}

/* ---- objects ---- */

static bool has_link(const struct near *k, uint32_t to)
{
	const struct gonear *n = k->ret;
	for (size_t i = n->n; i > 0 && n->link[i - 1].by == k->by; i--)
		if (n->link[i - 1].to == to)
			return true;
	return false;
}

/* Workers that wait for the same end nobody's wait of them. */
static bool waits_alike(const struct goroutine *a, const struct goroutine *b)
{
	return a->wait == b->wait && a->n_on == 1 && b->n_on == 1 && a->on[0] == b->on[0] &&
	       strcmp(a->reason, b->reason) == 0;
}

static void hit(struct near *k, uint32_t to)
{
	struct gonear *n = k->ret;
	if (k->by == BY_TIMER) {
		n->clock[to] = true;
		return;
	}
	if (to == k->by || waits_alike(&k->s->item[k->by], &k->s->item[to]) || has_link(k, to))
		return;
	if (n->n >= LINKS_MAX)
		n->cut = true;
	else if (vec_room(&n->link, &n->cap, n->n + 1) < 0)
		k->error = -ENOMEM;
	else
		n->link[n->n++] = (struct gonear_link){k->by, to, k->steps};
}

static void base_hits(struct near *k, uint64_t base)
{
	size_t low = bisect(k->n_targets, mid, k->target[mid].base < base);
	for (; low < k->n_targets && k->target[low].base == base; low++)
		hit(k, k->target[low].goroutine);
}

static bool seen_add(struct near *k, uint64_t base)
{
	size_t slot = (size_t)((base >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SEEN_SLOTS;
	while (k->seen[slot].turn == k->turn && k->seen[slot].base != base)
		slot = (slot + 1) % SEEN_SLOTS;
	if (k->seen[slot].turn == k->turn)
		return false;
	k->seen[slot].base = base;
	k->seen[slot].turn = k->turn;
	return true;
}

static void near_word(struct near *k, uint64_t word)
{
	struct goobject o;
	/* What is seen is on the list as well, so it fits into its table. */
	if (k->n_todo >= k->most || !goheap_object(k->heap, word, &o) || goown_has(&k->own, o.base) ||
	    !seen_add(k, o.base))
		return;
	base_hits(k, o.base);
	k->todo[k->n_todo++] = o;
}

static int near_range(struct near *k, uint64_t from, uint64_t to)
{
	uint64_t words[CHUNK_WORDS];
	k->bytes += to - from;
	for (uint64_t at = (from + 7) & ~UINT64_C(7); at < to && k->error == 0; at += sizeof(words)) {
		size_t n = (size_t)MIN((to - at) / 8, (uint64_t)CHUNK_WORDS);
		int r = goproc_words(k->p, at, words, n);
		if (r)
			return r;
		/* A sudog begins with one of the runtime's objects. */
		if (n > 0 && at == from && goown_has(&k->own, words[0]))
			return 0;
		for (size_t i = 0; i < n; i++)
			near_word(k, words[i]);
	}
	return 0;
}

/* Follows what is on the list, a step at a time. */
static int near_follow(struct near *k, uint16_t most_steps)
{
	size_t at = 0;
	for (k->steps = 2; k->steps <= most_steps && at < k->n_todo; k->steps++)
		for (size_t end = k->n_todo; at < end; at++) {
			const struct goobject o = k->todo[at];
			if (++k->n_all > ALL_MAX || k->bytes > ALL_BYTES) {
				k->ret->cut = true;
				return 0;
			}
			int r = o.pointers ? near_range(k, o.base, o.base + MIN(o.bytes, (uint64_t)OBJECT_BYTES)) : 0;
			if (r || k->error)
				return r ? r : k->error;
		}
	return 0;
}

static void search_begin(struct near *k, uint32_t by, size_t most)
{
	k->turn++;
	k->n_todo = 0;
	k->steps = 1;
	k->by = by;
	k->most = most;
}

/* ---- where it begins ---- */

static int from_stack(struct near *k, uint32_t i)
{
	const struct goroutine *g = &k->s->item[i];
	uint64_t from = g->sp ? g->sp : g->stack_from;
	if (g->wait == GOWAIT_RUNTIME || g->stack_to <= from)
		return 0;
	search_begin(k, i, EACH_MAX);
	int r = near_range(k, from, from + MIN(g->stack_to - from, (uint64_t)STACK_BYTES));
	return r ? r : near_follow(k, STEPS_MAX);
}

/* A timer within a descriptor's own memory is its time limit; any other one may end the wait that it comes to. */
static int from_timer(struct near *k, uint64_t timer)
{
	for (size_t i = 0; i < k->s->n; i++) {
		uint64_t poll = k->s->item[i].poll;
		if (poll && timer > poll && timer - poll < POLL_BYTES)
			k->ret->clock[i] = true;
	}
	search_begin(k, BY_TIMER, TIMER_MAX);
	near_word(k, timer);
	return near_follow(k, TIMER_STEPS);
}

static int from_timers(struct near *k, uint64_t processor)
{
	uint64_t from = 0, to = 0, timer = 0;
	bool cut = false;
	bool read = goown_timers(k->p, processor, &from, &to, &cut);
	k->ret->cut |= cut || (to - from) / k->p->at.timer_bytes > TIMERS_MAX;
	if (!read || k->ret->cut)
		return 0;
	int r = 0;
	for (uint64_t at = from; at < to && r == 0; at += k->p->at.timer_bytes) {
		r = remote_u64(k->p->remote, at, &timer);
		if (r == 0 && timer)
			r = from_timer(k, timer);
	}
	return r == REMOTE_FAULT ? 0 : r;
}

/* What lies in no object is a variable, or in a stack: nobody is singled out by it. */
static void target_add(struct near *k, uint64_t addr, size_t i)
{
	struct goobject o;
	const struct goroutine *g = &k->s->item[i];
	if (addr && (addr < g->stack_from || addr >= g->stack_to) && goheap_object(k->heap, addr, &o))
		k->target[k->n_targets++] = (struct target){o.base, (uint32_t)i};
}

static void near_targets(struct near *k)
{
	for (size_t i = 0; i < k->s->n; i++) {
		const struct goroutine *g = &k->s->item[i];
		for (size_t n = 0; n < g->n_on; n++)
			target_add(k, g->on[n], i);
		target_add(k, g->file, i);
		k->ret->clock[i] = g->by_clock || g->wait == GOWAIT_SLEEP;
	}
	if (k->n_targets)
		qsort(k->target, k->n_targets, sizeof(*k->target), target_by_base);
}

static int near_all(struct near *k)
{
	int r = goheap_open(k->p, k->s->item[0].addr, &k->heap);
	if (r == 0)
		r = goown_read(k->p, k->heap, &k->own);
	if (r)
		return r;
	near_targets(k);
	k->ret->cut = k->own.cut;
	for (size_t i = 0; i < k->own.n_processors && r == 0; i++)
		r = from_timers(k, k->own.processor[i]);
	for (size_t i = 0; i < k->s->n && r == 0 && !k->ret->cut; i++)
		r = from_stack(k, (uint32_t)i);
	return r;
}

int gonear_find(struct goproc *p, const struct goroutines *s, struct gonear *ret)
{
	cleanup(gonear_done) struct gonear n = {.clock = calloc(s->n + 1, sizeof(*n.clock))};
	cleanup(near_free) struct near *k = calloc(1, sizeof(*k));
	if (!n.clock || !k)
		return -ENOMEM;
	k->p = p;
	k->s = s;
	k->ret = &n;
	k->target = calloc(s->n * (GOROUTINE_ON + 1) + 1, sizeof(*k->target));
	if (!k->target)
		return -ENOMEM;
	int r = s->n > 0 ? near_all(k) : 0;
	if (r && r != REMOTE_FAULT && r != GO_UNKNOWN)
		return r;
	n.cut |= r != 0;
	*ret = n;
	n = (struct gonear){.n = 0};
	return 0;
}
