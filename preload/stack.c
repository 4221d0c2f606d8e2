/*
 * The stack of a sample, and its row in the region.
 *
 * Native frames come from the compiler's unwinder, linked statically: its own registry of generated code is then empty,
 * so it has no lock to wait for; it finds modules by _dl_find_object(), which has none either. Why this unwinder:
 * decision 18.
 */
#include <unwind.h>

#include "preload/inside.h"

#define WINDOW 64u

extern HIDDEN const char __ehdr_start[], _end[]; /* bounds of this library, from the linker */

/*
 * The last stacks of a thread. The next stack usually has the same outer frames, and checking them is fifty times
 * cheaper than unwinding: after a frame with the same address at the same place, each return address must be found
 * where it was. If that is the caller of the allocation function itself, nothing is unwound at all. Only on machines
 * where calls push return addresses on the stack.
 */
#define MEMO_FRAMES 128u
#define MEMOS 64u
#define TRAILS 32u /* trails kept per thread, by the place where they begin */

struct trail {
	uint32_t n;
	/* The row with exactly these frames, in the region that began then and in that epoch. */
	uint32_t row, epoch, domain;
	uint64_t row_of; /* start of the region; 0: unknown */
	struct place places[MEMO_FRAMES];
};

static struct memo {
	uint32_t busy, tid; /* tid: plus one; 0: unused */
	uint8_t which[TRAILS], spare, last; /* of trails; spare: where the next one is written */
	struct trail trails[TRAILS + 1];
} memos[MEMOS];

struct walk {
	struct frames *f;
	const struct trail *last; /* NULL: none */
	struct place *seen;
	uint32_t n, at; /* at: position in the last trail */
	uint32_t from; /* frames of the last trail from here on end the stack; MEMO_FRAMES: none do */
	bool outside; /* the library's own frames are passed */
};

/* Of more frames than fit, the innermost stay, and the outermost are written in a ring. */
uint32_t frames_place(uint32_t n)
{
	return n < HEAP_FRAMES_MAX
		       ? n
		       : HEAP_FRAMES_INNER + (n - HEAP_FRAMES_INNER) % (HEAP_FRAMES_MAX - HEAP_FRAMES_INNER);
}

/* Rotates the oldest of them to the front. n: how many there were, more than fit. */
void frames_straighten(uint64_t *frames, uint32_t n)
{
	enum { OUTER = HEAP_FRAMES_MAX - HEAP_FRAMES_INNER };
	uint64_t copy[OUTER], *outer = frames + HEAP_FRAMES_INNER;
	uint32_t oldest = (n - HEAP_FRAMES_INNER) % OUTER;
	__builtin_memcpy(copy, outer, sizeof(copy));
	for (uint32_t i = 0; i < OUTER; i++)
		outer[i] = copy[(oldest + i) % OUTER];
}

static bool place_true(const struct place *p)
{
#if defined(__x86_64__)
	uint64_t word;
	__builtin_memcpy(&word, (const char *)(uintptr_t)p->sp - 8, 8); // NOLINT(performance-no-int-to-ptr): our stack
	return word == p->ip;
#else
	(void)p;
	return false;
#endif
}

/* True if a stack that begins with this frame still continues as this trail does. */
static bool trail_true(const struct trail *t, uint32_t at, const struct place *p)
{
	if (t->places[at].sp != p->sp || t->places[at].ip != p->ip)
		return false;
	for (uint32_t i = at + 1; i < t->n; i++)
		if (!place_true(&t->places[i]))
			return false;
	return true;
}

/* True if the memo knows how the stack continues from this frame. */
static bool memo_fits(struct walk *w, const struct place *p)
{
	const struct trail *t = w->last;
	while (w->at < t->n && t->places[w->at].sp < p->sp)
		w->at++;
	return w->at < t->n && trail_true(t, w->at, p);
}

static _Unwind_Reason_Code frame_seen(struct _Unwind_Context *c, void *arg)
{
	struct walk *w = arg;
	struct place p = {.sp = _Unwind_GetCFA(c), .ip = _Unwind_GetIP(c)};
	if (p.ip == 0 || w->n >= 4096)
		return _URC_END_OF_STACK;
	if (!w->outside && p.ip >= (uintptr_t)__ehdr_start && p.ip < (uintptr_t)_end)
		return _URC_NO_REASON;
	w->outside = true;
	if (w->last && w->n < MEMO_FRAMES)
		w->seen[w->n] = p;
	w->f->native[frames_place(w->n++)] = p.ip;
	if (w->last && memo_fits(w, &p)) {
		w->from = w->at + 1;
		return _URC_END_OF_STACK;
	}
	return _URC_NO_REASON;
}

static void memo_follow(struct walk *w)
{
	for (uint32_t i = w->from; w->last && i < w->last->n; i++) {
		if (w->n < MEMO_FRAMES)
			w->seen[w->n] = w->last->places[i];
		w->f->native[frames_place(w->n++)] = w->last->places[i].ip;
	}
}

static uint32_t trail_which(const struct place *from)
{
	return (uint32_t)((from->sp >> 4 ^ from->ip) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % TRAILS;
}

/* A stack with a signal's frame in it, or one that switches between stacks, is not remembered. */
static struct trail *memo_write(struct memo *m, const struct walk *w)
{
	if (w->n == 0 || w->n > MEMO_FRAMES)
		return NULL;
	for (uint32_t i = 0; i < w->n; i++) {
		if (!place_true(&w->seen[i]) || (i > 0 && w->seen[i].sp <= w->seen[i - 1].sp))
			return NULL;
	}
	/* Two slots for each place: the last used one stays. */
	uint32_t which = trail_which(&w->seen[0]);
	if (m->last == which && m->trails[m->which[which]].n)
		which ^= 1;
	struct trail *t = &m->trails[m->spare];
	t->n = w->n;
	t->row_of = 0;
	uint8_t old = m->which[which];
	m->which[which] = m->spare;
	m->spare = old;
	m->last = (uint8_t)which;
	return t;
}

static struct memo *memo_take(uint32_t tid)
{
	struct memo *m = &memos[tid % MEMOS];
	uint32_t none = 0, mine = (uint32_t)heap_process.pid;
	if (!__atomic_compare_exchange_n(&m->busy, &none, mine, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) &&
	    (none == mine ||
	     !__atomic_compare_exchange_n(&m->busy, &none, mine, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)))
		return NULL; /* another thread is using it; another process's value is left over from before a fork */
	if (m->tid != tid + 1) {
		for (uint32_t i = 0; i <= TRAILS; i++)
			m->trails[i].n = 0;
		for (uint8_t i = 0; i < TRAILS; i++)
			m->which[i] = i;
		m->spare = TRAILS;
		m->last = 0;
		m->tid = tid + 1;
	}
	return m;
}

/* The stack that began there is unchanged: nothing to unwind. */
static struct trail *trail_again(struct memo *m, struct frames *f, const struct place *from)
{
	uint32_t which = trail_which(from);
	struct trail *t = &m->trails[m->which[which]];
	if (t->n == 0 || !trail_true(t, 0, from)) {
		which ^= 1;
		t = &m->trails[m->which[which]];
		if (t->n == 0 || !trail_true(t, 0, from))
			return NULL;
	}
	m->last = (uint8_t)which;
	for (uint32_t i = 0; i < t->n; i++)
		f->native[frames_place(i)] = t->places[i].ip;
	return t;
}

INLINE static struct trail *trail_walk(struct memo *m, struct frames *f, uint32_t *ret_n)
{
	struct walk w;
	w.f = f;
	w.last = m ? &m->trails[m->which[m->last]] : NULL;
	w.seen = m ? m->trails[m->spare].places : NULL;
	w.n = w.at = 0;
	w.from = MEMO_FRAMES;
	w.outside = false;
	_Unwind_Backtrace(frame_seen, &w);
	memo_follow(&w);
	*ret_n = w.n;
	return m ? memo_write(m, &w) : NULL;
}

/* from: as for stack_intern. Returns the trail with the frames, or NULL. */
INLINE static struct trail *native_frames(struct memo *m, struct frames *f, const struct place *from)
{
	uint32_t n;
	struct trail *t = m && from->sp ? trail_again(m, f, from) : NULL;
	if (t)
		n = t->n;
	else
		t = trail_walk(m, f, &n);
	if (n > HEAP_FRAMES_MAX) {
		frames_straighten(f->native, n);
		f->flags |= HEAP_CUT_NATIVE;
	}
	f->n_native = (uint16_t)(n < HEAP_FRAMES_MAX ? n : HEAP_FRAMES_MAX);
	return t;
}

static _Unwind_Reason_Code frame_first(struct _Unwind_Context *c, void *arg)
{
	(void)arg;
	uintptr_t ip = _Unwind_GetIP(c);
	return ip >= (uintptr_t)__ehdr_start && ip < (uintptr_t)_end ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/*
 * The first unwinding initialises things (register tables, the lookup of modules), which is better done now than in a
 * sample. Only our own frames are unwound: if the call was injected, its return address is no caller, and the memory
 * below is arbitrary.
 */
void unwind_prewarm(void)
{
	_Unwind_Backtrace(frame_first, NULL);
}

static uint64_t stack_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9fb21c651e98df25);
	return h ^ h >> 32;
}

static uint64_t frames_hash(const struct frames *f, unsigned domain, uint32_t epoch)
{
	uint64_t h = stack_mix(stack_mix(UINT64_C(0xcbf29ce484222325), domain), (uint64_t)epoch << 32 | f->flags);
	for (unsigned i = 0; i < f->n_native; i++)
		h = stack_mix(h, f->native[i]);
	h = stack_mix(h, f->n_native);
	for (unsigned i = 0; i < f->n_python; i++)
		h = stack_mix(h, f->python[i]);
	return h ? h : 1;
}

static bool frames_same(struct heap_header *h, const struct heap_stack *s, const struct frames *f)
{
	const uint64_t *at = (const uint64_t *)((const char *)h + h->table.frames.at) + s->frames_at;
	if (s->n_native != f->n_native || s->n_python != f->n_python)
		return false;
	return __builtin_memcmp(at, f->native, f->n_native * sizeof(*at)) == 0 &&
	       __builtin_memcmp(at + f->n_native, f->python, f->n_python * sizeof(*at)) == 0;
}

static bool stack_write(struct heap_header *h, const struct frames *f, unsigned domain, uint32_t epoch, uint64_t hash,
			uint32_t tid, uint32_t *ret)
{
	uint64_t at = 0, number;
	if (!region_take(h, &h->table.frames, (uint64_t)f->n_native + f->n_python, &at) ||
	    !region_take(h, &h->table.stacks, 1, &number))
		return false;
	uint64_t *to = (uint64_t *)((char *)h + h->table.frames.at) + at;
	__builtin_memcpy(to, f->native, f->n_native * sizeof(*to));
	__builtin_memcpy(to + f->n_native, f->python, f->n_python * sizeof(*to));
	struct heap_stack *s = (struct heap_stack *)((char *)h + h->table.stacks.at) + number;
	s->frames_at = (uint32_t)at;
	s->n_native = f->n_native;
	s->n_python = f->n_python;
	s->domain = (uint8_t)domain;
	s->flags = f->flags;
	s->hash = hash;
	s->module_epoch = epoch;
	s->tid = tid;
	store_release(&s->state, (uint32_t)HEAP_ROW_READY);
	*ret = (uint32_t)number;
	return true;
}

/* Marks an entry of the index as taken while the row is written. */
#define INDEX_WRITING UINT32_MAX

static bool stack_find(struct heap_header *h, const struct frames *f, unsigned domain, uint32_t epoch, uint64_t hash,
		       uint32_t tid, uint32_t *ret)
{
	const struct heap_table *t = &h->table.stack_index;
	struct heap_stack *stacks = (struct heap_stack *)((char *)h + h->table.stacks.at);
	uint32_t mask = t->n - 1, i = (uint32_t)(hash >> 20) & mask;
	for (uint32_t k = 0; k < WINDOW; k++, i = (i + 1) & mask) {
		uint32_t *entry = region_row(h, t, i);
		if (!entry)
			return false;
		uint32_t v = load_acquire(entry);
		if (v == 0 &&
		    __atomic_compare_exchange_n(entry, &v, INDEX_WRITING, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
			bool fine = stack_write(h, f, domain, epoch, hash, tid, ret);
			store_release(entry, fine ? *ret + 1 : 0);
			return fine;
		}
		/*
		 * An entry that is being written may have these frames: then there will be two rows with the same
		 * frames.
		 */
		if (v == 0 || v == INDEX_WRITING)
			continue;
		const struct heap_stack *s = &stacks[v - 1];
		if (s->hash == hash && s->domain == domain && s->module_epoch == epoch && frames_same(h, s, f)) {
			*ret = v - 1;
			return true;
		}
	}
	return false;
}

static uint32_t row_of_frames(struct heap_header *h, unsigned domain, uint32_t tid, const struct frames *f,
			      struct trail *t, unsigned *ret_lost)
{
	uint32_t number = domain;
	bool known;
	if (t && f->n_python == 0 && t->row_of == h->begun_mono_ns && t->domain == domain && modules_same(h, t->epoch))
		return t->row;
	uint32_t epoch = modules_epoch(h, f, &known);
	uint64_t hash = frames_hash(f, domain, epoch);
	if (!stack_find(h, f, domain, epoch, hash, tid, &number)) {
		*ret_lost = HEAP_LOST_STACK_FULL + 1;
		return domain;
	}
	if (t && known && f->n_python == 0) {
		t->row = number;
		t->epoch = epoch;
		t->domain = domain;
		t->row_of = h->begun_mono_ns;
	}
	return number;
}

uint32_t stack_intern(struct heap_header *h, unsigned domain, uint32_t tid, const struct place *from,
		      unsigned *ret_lost)
{
	struct frames f;
	f.n_native = f.n_python = f.flags = 0;
	struct memo *m = memo_take(tid);
	/* An address of ours: the allocation function was not reached by a jump. */
	bool theirs = from->ip < (uintptr_t)__ehdr_start || from->ip >= (uintptr_t)_end;
	struct trail *t = native_frames(m, &f, theirs ? from : &(struct place){});
	python_frames(h, &f);
	uint32_t number = row_of_frames(h, domain, tid, &f, t, ret_lost);
	if (m)
		store_release(&m->busy, 0u);
	return number;
}
