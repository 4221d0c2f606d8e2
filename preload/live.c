/*
 * The live samples: two arrays in the region, found by address. A slot is searched in a window behind the address's
 * hash, so that neither a full table nor one full of freed slots slows anything down: first among the table's first
 * slots, which most programs never fill. So few pages are touched, and they stay in caches.
 */
#include "preload/inside.h"

#define NEAR_SLOTS 4096u
#define NEAR_WINDOW 8u
#define WINDOW 48u

uint8_t heap_filter[FILTER_SIZE];

void filter_clear(void)
{
	__builtin_memset(heap_filter, 0, sizeof(heap_filter));
}

void filter_add(const void *p, unsigned n)
{
	uint8_t *c = &heap_filter[filter_index(p)], old = load_relaxed(c);
	uint8_t new;
	do
		new = old + n > UINT8_MAX ? UINT8_MAX : (uint8_t)(old + n);
	while (!__atomic_compare_exchange_n(c, &old, new, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* An entry that has reached 255 no longer has an exact count, so it stays. */
static void filter_subtract(const void *p)
{
	uint8_t *c = &heap_filter[filter_index(p)], old = load_relaxed(c);
	while (old != 0 && old != UINT8_MAX &&
	       !__atomic_compare_exchange_n(c, &old, (uint8_t)(old - 1), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static uint64_t *slots(struct heap_header *h)
{
	return (uint64_t *)((char *)h + h->table.live_ptr.at);
}

/* Candidate slot k for ptr; k below NEAR_WINDOW + WINDOW. */
INLINE static uint32_t live_slot(const struct heap_header *h, uint64_t ptr, uint32_t k)
{
	uint32_t hash = (uint32_t)((ptr >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40);
	return k < NEAR_WINDOW ? (hash + k) & (NEAR_SLOTS - 1)
			       : (hash + k - NEAR_WINDOW) & (h->table.live_ptr.n - 1);
}

static bool slot_claim(struct heap_header *h, uint64_t ptr, uint32_t *ret)
{
	uint64_t *p = slots(h);
	for (uint32_t k = 0; k < NEAR_WINDOW + WINDOW; k++) {
		uint32_t i = live_slot(h, ptr, k);
		if (!region_row(h, &h->table.live_ptr, i))
			return false;
		uint64_t old = load_relaxed(&p[i]);
		if ((old == HEAP_SLOT_EMPTY || old == HEAP_SLOT_FREED) &&
		    __atomic_compare_exchange_n(&p[i], &old, (uint64_t)HEAP_SLOT_WRITING, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

bool live_insert(struct heap_header *h, uint64_t ptr, const struct heap_live *row)
{
	uint32_t i;
	if (!slot_claim(h, ptr, &i))
		return false;
	struct heap_live *l = region_row(h, &h->table.live, i);
	if (!l) {
		store_release(&slots(h)[i], (uint64_t)HEAP_SLOT_FREED);
		return false;
	}
	*l = *row;
	filter_add((const void *)(uintptr_t)ptr, 1); // NOLINT(performance-no-int-to-ptr): only its bits
	store_release(&slots(h)[i], ptr);
	return true;
}

static struct heap_stack *stack_row(struct heap_header *h, uint32_t stack)
{
	/* this library wrote the rows, so they have this size */
	return (struct heap_stack *)((char *)h + h->table.stacks.at) + stack;
}

/* Counts a block freed at that time by its lifetime; sign UINT64_MAX: undoes it. */
static void lifetime_count(struct heap_stack *s, const struct heap_live *row, uint64_t at_ns, uint64_t sign)
{
	uint64_t lived_ns = at_ns > row->born_mono_ns ? at_ns - row->born_mono_ns : 0;
	unsigned k = 0;
	for (uint64_t ms = lived_ns / 1000000u; ms && k < HEAP_LIFETIMES - 1; ms >>= 2)
		k++;
	add_relaxed(&s->freed_bytes[k], sign * row->weight);
	if (lived_ns < (UINT64_C(500000) << 2 * k))
		add_relaxed(&s->freed_early_bytes[k], sign * row->weight);
	add_relaxed(&s->lived_kib_ms, sign * (uint64_t)((double)row->weight / 1024 * ((double)lived_ns / 1e6) + 0.5));
}

bool live_take(const void *ptr, struct taken *ret)
{
	struct heap_header *h = load_acquire(&heap_process.region);
	if (!h)
		return false;
	uint64_t *p = slots(h), want = (uintptr_t)ptr;
	for (uint32_t k = 0; k < NEAR_WINDOW + WINDOW; k++) {
		uint32_t i = live_slot(h, want, k);
		uint64_t at = load_acquire(&p[i]);
		/* Slots are filled in this order and never become empty again. */
		if (at == HEAP_SLOT_EMPTY)
			return false;
		if (at != want)
			continue;
		if (!process_mine() || h != heap_process.region)
			return false; /* a child sees the parent's region until it has its own */
		struct heap_live *l = (struct heap_live *)((char *)h + h->table.live.at) + i;
		*ret = (struct taken){.ptr = want, .row = *l, .at_ns = coarse_ns()};
		if (!__atomic_compare_exchange_n(&p[i], &at, (uint64_t)HEAP_SLOT_FREED, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			return false;
		filter_subtract(ptr);
		uint64_t now = ret->at_ns;
		peak_try(h, now); /* the sum before it falls */
		sum_subtract(&stack_row(h, ret->row.stack)->live, &ret->row);
		sum_subtract(&h->live, &ret->row);
		lifetime_count(stack_row(h, ret->row.stack), &ret->row, now, 1);
		add_relaxed(&h->frees, 1u);
		store_relaxed(&h->last_mono_ns, now);
		return true;
	}
	return false;
}

/* Makes it live again, in the sums too, and undoes what live_take() added to the freed blocks. */
static void live_again(const struct taken *t, uint64_t ptr, const struct heap_live *row)
{
	struct heap_header *h = heap_process.region;
	struct heap_stack *s = stack_row(h, row->stack);
	if (!live_insert(h, ptr, row)) {
		add_relaxed(&h->lost[region_full() ? HEAP_LOST_NO_SPACE : HEAP_LOST_LIVE_FULL], 1u);
		add_relaxed(&h->lost_bytes, row->weight);
		return;
	}
	sum_add(&s->live, row);
	sum_add(&h->live, row);
	lifetime_count(s, row, t->at_ns, UINT64_MAX);
	sub_relaxed(&h->frees, 1u);
}

void live_restore(const struct taken *t)
{
	live_again(t, t->ptr, &t->row);
}

void live_restore_part(const struct taken *t, uint64_t ptr, uint64_t size)
{
	struct heap_live row = t->row;
	row.weight = (uint64_t)((double)row.weight * (double)size / (double)row.size);
	row.size = size;
	live_again(t, ptr, &row);
}
