/*
 * One sample: its weight, its stack, its entry among the live ones. Called about once per half MiB; code that is called
 * more often is in inside.h and hooks.c.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/inside.h"

/*
 * Copying costs a few ns per stack: this limits it to a thousandth of the time that the region has been there for, and
 * so much more. Each copy is of at least 5 % more than the last, so there are a few hundred of them at most.
 */
#define PEAK_NS_PER_STACK 6000u
#define PEAK_CREDIT_NS UINT64_C(1000000000)

__thread struct thread heap_thread __attribute__((tls_model("initial-exec")));

uint64_t coarse_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* libm is not part of libc: computes 1 - exp(-x) with a relative error of 1e-12, for x >= 0. */
static double one_minus_exp(double x)
{
	unsigned halvings = 0;
	if (x > 40)
		return 1;
	for (; x > 0.25; x /= 2)
		halvings++;
	double term = x, sum = 0;
	for (int k = 2; k < 14; k++) {
		sum += term;
		term *= -x / k;
	}
	/* 1 - e^-2x = p (2 - p) */
	for (; halvings > 0; halvings--)
		sum *= 2 - sum;
	return sum;
}

/* -log((bits + 1) / 2^53) of 53 random bits. */
static double minus_log(uint64_t bits)
{
	double v = (double)(bits + 1);
	uint64_t raw;
	__builtin_memcpy(&raw, &v, sizeof(raw));
	int exponent = (int)(raw >> 52) - 1023 - 53;
	raw = (raw & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
	__builtin_memcpy(&v, &raw, sizeof(v));
	if (v > 1.4142135623730951) {
		v /= 2;
		exponent++;
	}
	double s = (v - 1) / (v + 1), square = s * s, term = s, sum = 0;
	for (int k = 1; k < 20; k += 2) {
		sum += term / k;
		term *= square;
	}
	return -(2 * sum + exponent * 0.69314718055994530942);
}

uint64_t sample_weight(uint64_t size, uint32_t rate)
{
	return (uint64_t)((double)size / one_minus_exp((double)size / rate) + 0.5);
}

static uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* At least 1, because an allocation of 0 bytes uses nothing up. */
uint64_t sample_gap(uint64_t *random, uint32_t rate)
{
	if (rate == 0)
		return DORMANT_STEP_BYTES;
	return 1 + (uint64_t)(minus_log(random_next(random) >> 11) * rate);
}

static void sum_change(struct heap_sum *s, const struct heap_live *row, uint64_t sign)
{
	uint64_t w = row->weight, z = row->size ? row->size : 1;
	uint64_t variance = w > z ? (uint64_t)((double)w * (double)(w - z) / 1024) : 0;
	add_relaxed(&s->bytes, sign * w);
	add_relaxed(&s->count_256, sign * (uint64_t)((double)w * 256 / (double)z + 0.5));
	add_relaxed(&s->variance, sign * variance);
	add_relaxed(&s->samples, sign);
}

void sum_add(struct heap_sum *s, const struct heap_live *row)
{
	sum_change(s, row, 1);
}

void sum_subtract(struct heap_sum *s, const struct heap_live *row)
{
	sum_change(s, row, UINT64_MAX);
}

static void thread_begin(struct thread *t)
{
	struct timespec now;
	t->tid = (int32_t)syscall(SYS_gettid);
	t->pid = heap_process.pid;
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t seed = (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(uintptr_t)t ^
			(uint64_t)t->tid * UINT64_C(0xbf58476d1ce4e5b9) ^ (uint64_t)now.tv_sec << 32;
	if (heap_process.seed)
		seed = (heap_process.seed + 1) * UINT64_C(0x9e3779b97f4a7c15) +
		       add_relaxed(&heap_process.n_threads, 1u) * UINT64_C(0xbf58476d1ce4e5b9);
	t->random = seed ? seed : 1;
	for (int i = 0; i < 4; i++)
		random_next(&t->random);
}

static void gap_begin(struct thread *t, uint32_t rate)
{
	t->rate = rate;
	t->gap = t->left = sample_gap(&t->random, rate) - 1;
}

static void peak_copy(struct heap_header *h, uint64_t now, uint64_t live)
{
	uint64_t which = 1 - h->peak_which, used = load_relaxed(&h->table.stacks.used);
	uint64_t n = used < h->table.stacks.n ? used : h->table.stacks.n;
	struct heap_stack *stacks = (struct heap_stack *)((char *)h + h->table.stacks.at);
	for (uint64_t i = 0; i < n; i++) {
		struct heap_sum *to = &stacks[i].peak[which];
		const struct heap_sum *from = &stacks[i].live;
		if (load_acquire(&stacks[i].state) != HEAP_ROW_READY || (from->samples == 0 && to->samples == 0))
			continue;
		*to = (struct heap_sum){.bytes = load_relaxed(&from->bytes),
					.count_256 = load_relaxed(&from->count_256),
					.variance = load_relaxed(&from->variance),
					.samples = load_relaxed(&from->samples)};
	}
	h->peak_rows += n;
	h->peak_bytes[which] = live;
	h->peak_mono_ns[which] = now;
	h->peak_requested_bytes[which] = load_relaxed(&h->requested_bytes);
	store_release(&h->peak_which, which);
}

/* One thread at a time, the others go on: a peak that is missed now is taken by the next sample. */
void peak_try(struct heap_header *h, uint64_t now)
{
	static uint32_t copying; /* pid of the copying process; another pid is left over from before a fork */
	uint64_t which = h->peak_which & 1, live = load_relaxed(&h->live.bytes), last = h->peak_bytes[which];
	if (live > INT64_MAX || live < last + last / 20 || live < last + HEAP_RATE_MIN ||
	    now - h->begun_mono_ns + PEAK_CREDIT_NS < h->peak_rows * PEAK_NS_PER_STACK)
		return;
	uint32_t mine = (uint32_t)heap_process.pid, old = load_relaxed(&copying);
	if (old == mine ||
	    !__atomic_compare_exchange_n(&copying, &old, mine, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	peak_copy(h, now, live);
	store_release(&copying, 0u);
}

/* Keeps the most live bytes. A sample that is freed at this moment may be in them or not, as at any moment. */
static void highest_keep(struct heap_header *h, uint64_t live, uint64_t now)
{
	uint64_t old = load_relaxed(&h->highest.bytes);
	do {
		if (live <= old || live > INT64_MAX)
			return;
	} while (!__atomic_compare_exchange_n(&h->highest.bytes, &old, live, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	store_relaxed(&h->highest.count_256, load_relaxed(&h->live.count_256));
	store_relaxed(&h->highest.variance, load_relaxed(&h->live.variance));
	store_relaxed(&h->highest.samples, load_relaxed(&h->live.samples));
	store_relaxed(&h->highest_mono_ns, now);
}

static void lost_add(struct heap_header *h, unsigned reason, uint64_t bytes)
{
	add_relaxed(&h->lost[reason], 1u);
	add_relaxed(&h->lost_bytes, bytes);
}

INLINE static void sample_take(struct heap_header *h, struct thread *t, void *p, size_t n, unsigned domain,
			       const struct place *from)
{
	unsigned lost = 0;
	uint64_t now = coarse_ns();
	struct heap_live row = {
		.size = n, .weight = sample_weight(n, t->rate), .born_mono_ns = now, .tid = (uint32_t)t->tid};
	row.stack = stack_intern(h, domain, row.tid, from, &lost);
	struct heap_stack *s = region_row(h, &h->table.stacks, row.stack);
	if (!s) {
		lost_add(h, HEAP_LOST_NO_SPACE, row.weight);
		return;
	}
	if (lost)
		add_relaxed(&h->lost[lost - 1], 1u);
	sum_add(&s->total, &row);
	sum_add(&h->total, &row);
	add_relaxed(&h->samples, 1u);
	/* Added before the slot is visible: no other thread knows this address yet, so none can free it. */
	sum_add(&s->live, &row);
	sum_add(&h->live, &row);
	if (!live_insert(h, (uintptr_t)p, &row)) {
		sum_subtract(&s->live, &row);
		sum_subtract(&h->live, &row);
		lost_add(h, region_full() ? HEAP_LOST_NO_SPACE : HEAP_LOST_LIVE_FULL, row.weight);
	} else {
		highest_keep(h, load_relaxed(&h->live.bytes), now);
	}
	store_relaxed(&h->last_mono_ns, now);
	peak_try(h, now);
}

/* There is no region, now or ever. A new gap is as good as the old one, so only this sample is lost. */
COLD static void missed(struct thread *t, uint64_t used, size_t n)
{
	struct process *p = &heap_process;
	if (t->rate) {
		add_relaxed(&p->missed_weight, sample_weight(n, t->rate));
		add_relaxed(&p->missed_samples, 1u);
	}
	add_relaxed(&p->missed_bytes, used);
	gap_begin(t, t->rate);
	if (p->off)
		t->left = t->gap = NEVER;
}

COLD static void missed_take(struct heap_header *h)
{
	struct process *p = &heap_process;
	add_relaxed(&h->requested_bytes, __atomic_exchange_n(&p->missed_bytes, 0, __ATOMIC_RELAXED));
	add_relaxed(&h->lost_bytes, __atomic_exchange_n(&p->missed_weight, 0, __ATOMIC_RELAXED));
	add_relaxed(&h->lost[HEAP_LOST_AT_BEGIN], __atomic_exchange_n(&p->missed_samples, 0, __ATOMIC_RELAXED));
}

INLINE static void sample_inside(struct thread *t, void *p, size_t n, unsigned domain, const struct place *from)
{
	uint64_t used = t->gap - t->left + n;
	bool new = t->random == 0, mine = process_mine();
	if (!heap_process.begun) { /* the program's libraries are still being initialised */
		t->left = t->gap = heap_process.off ? NEVER : 0;
		return;
	}
	if (!mine) {
		if (heap_process.off)
			t->left = t->gap = NEVER;
		return;
	}
	if (new || t->pid != heap_process.pid) {
		thread_begin(t);
		struct heap_header *there = load_acquire(&heap_process.region);
		if (new) {
			gap_begin(t, there ? (uint32_t)load_relaxed(&there->rate_bytes) : heap_process.env_rate);
			if (n <= t->left) {
				t->left -= n;
				return;
			}
			used = n;
		}
	}
	struct heap_header *h = region_get();
	if (!h) {
		missed(t, used, n);
		return;
	}
	if (unlikely(load_relaxed(&heap_process.missed_bytes) != 0))
		missed_take(h);
	if (t->counted_pid != heap_process.pid) {
		t->counted_pid = heap_process.pid;
		add_relaxed(&h->threads, 1u);
	}
	add_relaxed(&h->requested_bytes, used);
	if (t->rate != 0 && p)
		sample_take(h, t, p, n, domain, from);
	patch_sampled();
	uint64_t rate = load_relaxed(&h->rate_bytes);
	gap_begin(t, rate > HEAP_RATE_MAX	    ? HEAP_RATE_MAX
		     : rate && rate < HEAP_RATE_MIN ? HEAP_RATE_MIN
						    : (uint32_t)rate);
}

/*
 * An allocation in a signal handler that interrupts this thread in here is passed on unsampled. A handler that leaves
 * by longjmp leaves busy_at set; once the stack has been unwound beyond that address, the thread is no longer in here.
 */
void sample_slow(void *p, size_t n, unsigned domain, struct place from)
{
	struct thread *t = &heap_thread;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct heap_header *h;
	if (t->busy_at != 0 && here < t->busy_at) {
		h = load_relaxed(&heap_process.region);
		if (h && !heap_process.off)
			lost_add(h, HEAP_LOST_NESTED, n);
		return;
	}
	int error = errno;
	t->busy_at = here;
	sample_inside(t, p, n, domain, &from);
	t->busy_at = 0;
	errno = error;
}
