#include "sense/python/pystack.h"

#include <string.h>

#include "base/bisect.h"
#include "sense/python/pystack_parts.h"

/*
 * Snapshots for one sample: at least TRIES_LEAST, then more until TRIES_NS have passed. Giving up early would drop
 * moving stacks and so favour waiting ones.
 */
#define TRIES_LEAST 16
#define TRIES_MOST 250
#define TRIES_NS (1500 * NS_PER_US)
/* Each snapshot interrupts the thread. */
#define TRIES_BY_SOURCE 3
/* From this try on a stack that is proved only in its outer part is accepted as that of an earlier instant. */
#define TRIES_WHOLE 2
/*
 * After a stack that changed while it was read, this many samples copy the whole stack, and its innermost part three
 * times.
 */
#define HOT_ROUNDS 32

#define SLOW_NS (5 * NS_PER_US)

enum { STATUS_ACTIVE = 1 << 4 }; /* PyThreadState._status.active: attached, so running Python */

/* ---- making ---- */

struct range {
	uint64_t lo, hi;
	bool missing;
};

static void range_add(struct range *r, uint64_t offset, uint64_t len, bool needed)
{
	if (offset == PYOFF_NONE) {
		r->missing |= needed;
		return;
	}
	r->lo = MIN(r->lo, offset);
	r->hi = MAX(r->hi, add_cap(offset, len));
}

static bool range_fits(const struct range *r, uint64_t most, uint32_t *ret_lo, uint32_t *ret_hi)
{
	if (r->missing || r->hi > most)
		return false;
	*ret_lo = (uint32_t)r->lo;
	*ret_hi = (uint32_t)r->hi;
	return true;
}

/* Offsets come from the process in 3.13 and later: structures that are too large are refused here, once. */
static bool ranges_find(struct pystacks *s)
{
	const struct pyoffsets *o = &s->rt->off;
	struct range thread = {.lo = UINT64_MAX}, listed = {.lo = UINT64_MAX}, frame = {.lo = UINT64_MAX};
	range_add(&thread, o->thread.interp, 8, true);
	range_add(&thread, o->thread.thread_id, 8, true);
	range_add(&thread, s->has_cframe ? o->thread.cframe : o->thread.frame, 8, true);
	range_add(&thread, o->thread.datastack_chunk, 24, s->has_chunks);
	range_add(&thread, o->thread.base_frame, 8, false);
	range_add(&thread, o->thread.status, 4, false);
	range_add(&thread, o->thread.holds_gil, 4, false);
	range_add(&thread, o->thread.gil_requested, 4, false);
	range_add(&listed, o->thread.prev, 8, true);
	range_add(&listed, o->thread.next, 8, true);
	range_add(&listed, o->thread.interp, 8, true);
	range_add(&listed, o->thread.thread_id, 8, true);
	range_add(&listed, o->thread.native_thread_id, 8, false);
	range_add(&frame, o->frame.previous, 8, true);
	range_add(&frame, o->frame.code, 8, true);
	range_add(&frame, o->frame.instr, s->rt->minor <= 10 ? STATE_AFTER_LASTI + 1 : 8, true);
	range_add(&frame, o->frame.owner, 1, s->has_shims);
	range_add(&frame, o->frame.is_entry, 1, false);
	if (s->has_tlbc)
		range_add(&frame, o->frame.tlbc_index, 4, true);
	return range_fits(&thread, THREAD_BYTES_MAX, &s->thread_lo, &s->thread_hi) &&
	       range_fits(&listed, LISTED_BYTES_MAX, &s->listed_lo, &s->listed_hi) &&
	       range_fits(&frame, FRAME_BYTES_MAX, &s->frame_lo, &s->frame_hi);
}

/* 3.12 to 3.14: the GIL is a structure of its own, which the interpreter points to. */
static void gil_range_find(struct pystacks *s)
{
	const struct pyoffsets *o = &s->rt->off;
	struct range gil = {.lo = UINT64_MAX};
	range_add(&gil, o->gil.last_holder, 8, true);
	range_add(&gil, o->gil.locked, 4, true);
	if (s->rt->free_threaded || o->thread.holds_gil != PYOFF_NONE || s->rt->minor <= 11 || gil.missing ||
	    gil.hi - gil.lo > 256)
		return;
	s->gil_lo = (uint32_t)gil.lo;
	s->gil_bytes = (uint32_t)(gil.hi - gil.lo);
}

struct pystacks *pystacks_new(const struct world *w, const struct pyrt *rt, struct remote *r, struct pycodes *codes)
{
	cleanup(pystacks_freep) struct pystacks *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->world = w;
	s->rt = rt;
	s->r = r;
	s->codes = codes;
	s->tid_offset = -1;
	s->has_chunks = rt->minor >= 11;
	s->has_cframe = rt->minor == 11 || rt->minor == 12;
	s->has_shims = rt->minor >= 12;
	s->has_tlbc = rt->free_threaded && rt->off.frame.tlbc_index != PYOFF_NONE && rt->off.code.tlbc != PYOFF_NONE;
	s->usable = ranges_find(s);
	gil_range_find(s);
	s->seen = malloc(SEEN_MAX * sizeof(*s->seen));
	s->frames = malloc(PYSTACK_FRAMES * sizeof(*s->frames));
	s->chain = malloc(PLAN_LOOSE_MAX * sizeof(*s->chain));
	if (s->has_tlbc)
		s->tlbc = calloc(TLBC_SLOTS, sizeof(*s->tlbc));
	if (!s->seen || !s->frames || !s->chain || (s->has_tlbc && !s->tlbc))
		return NULL;
	return take(&s);
}

struct pystacks *pystacks_free(struct pystacks *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n_plans; i++)
		plan_free(s->plans[i]);
	free(s->plans);
	free(s->interps);
	free(s->threads);
	free(s->listed);
	free(s->snapshot);
	free(s->seen);
	free(s->frames);
	free(s->chain);
	free(s->tlbc);
	free(s);
	return NULL;
}

struct pystack_stats pystacks_stats(const struct pystacks *s)
{
	return s->stats;
}

void pystacks_program_id(struct pystacks *s, uint64_t addr, uint64_t value)
{
	s->program_id_addr = addr;
	s->program_id = value;
}

void pystacks_ask_program_id(struct pystacks *s)
{
	s->program_id_open = s->program_id_addr != 0;
}

bool pystacks_program_id_is_open(const struct pystacks *s)
{
	return s->program_id_open;
}

void pystacks_read_anew(struct pystacks *s)
{
	s->anew = true;
}

int pystacks_threads(struct pystacks *s, const struct pythread **ret, size_t *ret_n)
{
	if (!s->usable)
		return REMOTE_FAULT;
	if (!threads_same(s)) {
		int e = threads_list(s);
		if (e)
			return e;
	}
	*ret = s->threads;
	*ret_n = s->n_threads;
	return 0;
}

/* ---- one sample ---- */

/* Free-threaded: threads run their own copies of the bytecode; instructions are converted to the first copy. */
static int tlbc_base(struct pystacks *s, uint64_t code, uint32_t index, uint64_t *ret)
{
	struct tlbc *t = &s->tlbc[((code >> 4) + index) % TLBC_SLOTS];
	if (t->code != code || t->index != index) {
		uint64_t array, size, base;
		int e = remote_u64(s->r, code + s->rt->off.code.tlbc, &array);
		if (e == 0)
			e = remote_u64(s->r, array, &size);
		if (e == 0 && index >= size)
			e = REMOTE_FAULT;
		if (e == 0)
			e = remote_u64(s->r, array + 8 + (uint64_t)index * 8, &base);
		if (e)
			return e;
		*t = (struct tlbc){.code = code, .index = index, .base = base};
	}
	*ret = t->base;
	return 0;
}

/* True if the instruction lies in the code. Before the first one: not started yet. */
static bool instr_fits(const struct pyrt *rt, const struct pycode *code, uint64_t instr)
{
	if (rt->minor <= 10) {
		int64_t at = (int64_t)instr * (rt->instr_in_units && (int64_t)instr > 0 ? 2 : 1);
		return at >= -1 && (code->code_bytes == 0 || at < (int64_t)code->code_bytes);
	}
	return instr - code->code_start + 2 <= (uint64_t)code->code_bytes + 2;
}

/* still: the code has been running since the previous sample. */
static int frame_resolve(struct pystacks *s, const struct seen *seen, bool still, struct pyframe *ret)
{
	const struct pycode *known = still ? pycodes_still(s->codes, seen->code) : pycodes_peek(s->codes, seen->code);
	if (!known) {
		const struct pycode *before = pycodes_still(s->codes, seen->code);
		int e = pycodes_get(s->codes, seen->code, &known);
		if (e)
			return e == PYCODE_GARBAGE || e == REMOTE_FAULT ? WALK_TORN : e;
		/*
		 * Code that runs once is soon freed, and its memory reused. It is trusted if it was known before the
		 * snapshot was taken and is the same afterwards, so new code takes a second snapshot.
		 */
		if (known != before && !pycodes_peek(s->codes, seen->code))
			return WALK_TORN;
	}
	*ret = (struct pyframe){
		.addr = seen->addr, .code = seen->code, .instr = seen->instr, .known = known, .flags = seen->flags};
	if (seen->tlbc) {
		uint64_t base;
		int e = tlbc_base(s, seen->code, seen->tlbc, &base);
		if (e)
			return e == REMOTE_FAULT ? WALK_TORN : e;
		ret->instr = known->code_start + (seen->instr - base);
	}
	if (s->rt->minor <= 10 &&
	    (known->flags & (0x20 | 0x80 | 0x200))) /* CO_GENERATOR, _COROUTINE, _ASYNC_GENERATOR */
		ret->flags |= PYFRAME_GENERATOR;
	return instr_fits(s->rt, known, ret->instr) ? 0 : WALK_TORN;
}

static enum pygil gil_of_snapshot(const struct pystacks *s, const struct plan *p)
{
	const struct pyoffsets *o = &s->rt->off;
	const char *thread = s->snapshot + p->thread_at - s->thread_lo;
	if (s->rt->free_threaded) {
		if (o->thread.status == PYOFF_NONE)
			return PYGIL_UNKNOWN;
		return load_u32(thread + o->thread.status) & STATUS_ACTIVE ? PYGIL_FREE_THREADED_RUNS : PYGIL_NOT;
	}
	if (o->thread.holds_gil != PYOFF_NONE) {
		if (load_u32(thread + o->thread.holds_gil))
			return PYGIL_HOLDS;
		return o->thread.gil_requested != PYOFF_NONE && load_u32(thread + o->thread.gil_requested) ? PYGIL_WAITS
													   : PYGIL_NOT;
	}
	if (p->gil_at == NOT_COPIED)
		return PYGIL_UNKNOWN;
	const char *gil = s->snapshot + p->gil_at;
	if (s->rt->minor <= 11)
		return load_u64(gil) == p->tstate ? PYGIL_HOLDS : PYGIL_NOT;
	gil -= s->gil_lo;
	return load_u32(gil + o->gil.locked) != 0 && load_u64(gil + o->gil.last_holder) == p->tstate ? PYGIL_HOLDS
												     : PYGIL_NOT;
}

/* A frame gets its code first and its caller last: until it runs, its caller may be that of an earlier frame. */
static bool frame_began(const struct pystacks *s, const struct pyframe *f)
{
	return s->rt->minor <= 10 || (s->rt->minor <= 12 ? f->instr - f->known->code_start < f->known->code_bytes
							 : f->instr > f->known->code_start);
}

static void base_note(const struct pystacks *s, struct plan *p, uint64_t addr)
{
	uint64_t base = addr && plan_find_loose(p, addr) ? addr : 0;
	if (base == p->base || s->seen_cut)
		return;
	p->base = base;
	p->built = false;
}

static int stack_fill(struct pystacks *s, struct plan *p, size_t first, struct pystack *ret)
{
	size_t n = 0, last = s->n_seen;
	while (last > first && s->seen[last - 1].shim)
		last--;
	/* The script itself is the outermost frame of its thread, and stays that. */
	uint64_t outermost = last > first && !s->seen_cut ? s->seen[last - 1].code : 0;
	for (size_t i = first; i < last; i++) {
		const struct seen *seen = &s->seen[i];
		if (seen->shim) {
			if (n)
				s->frames[n - 1].flags |= PYFRAME_ENTRY;
			continue;
		}
		bool still = i + 1 == last && outermost && outermost == p->outermost;
		int e = frame_resolve(s, seen, still, &s->frames[n]);
		if (seen->fresh && (e == WALK_TORN || (e == 0 && !frame_began(s, &s->frames[n]))))
			continue;
		if (e)
			return e;
		n++;
	}
	if (n && last < s->n_seen)
		s->frames[n - 1].flags |= PYFRAME_ENTRY;
	p->outermost = outermost;
	/* The outermost frame of all is the interpreter's own; its address is kept for the next plan. */
	base_note(s, p, last < s->n_seen && last > 0 ? s->seen[s->n_seen - 1].addr : 0);
	*ret = (struct pystack){
		.frames = s->frames,
		.n = n,
		.cut = s->seen_cut,
		.bracketed = true,
		.gil = gil_of_snapshot(s, p),
		.collecting = p->collecting_at != NOT_COPIED && load_u32(s->snapshot + p->collecting_at) != 0,
	};
	if (ret->gil == PYGIL_HOLDS && !p->has_held) {
		p->has_held = true;
		p->built = false;
	}
	return 0;
}

/* True if the chunk is in the snapshot. One that came after the plan was made is in the next one. */
static bool chunk_copied(const struct plan *p, uint64_t addr)
{
	for (size_t i = 0; i < p->n_chunks; i++) {
		if (p->chunks[i].addr == addr)
			return p->chunks[i].second != NOT_COPIED;
	}
	return false;
}

/* Walks the stack at the instant of the pins; where the second copy overwrote it, the first copy is used. */
static int proved_walk(struct pystacks *s, struct plan *p, const struct pins *pins, size_t *ret_first, bool *ret_short)
{
	int e = walk_snapshot(s, p, pins, false);
	if (e < 0 || (e == 0 && walk_prove(s, false, ret_first)))
		return e;
	/*
	 * Hot snapshots copy all frames twice. Learning only serves the order of loose frames, apart from the outermost
	 * shim.
	 */
	bool unproved = e == 0, in_order = s->innermost_loose >= s->n_seen - 1;
	int early = walk_snapshot(s, p, pins, true);
	if (early == 0 && walk_prove(s, true, ret_first))
		return 0;
	if (!s->has_chunks)
		p->hot_until = p->round + HOT_ROUNDS;
	if (!s->has_chunks && walk_ran(s, p, ret_first)) {
		*ret_short = true;
		return 0;
	}
	if (unproved) {
		p->hot_until = p->round + HOT_ROUNDS;
		if (p->n_chunks && pins->chunk != p->chunks[0].addr)
			p->known = false; /* the newest chunk, which is copied twice, is not in use */
	}
	return (unproved && !in_order) || e == WALK_UNKNOWN || early == WALK_UNKNOWN ? WALK_UNKNOWN : WALK_TORN;
}

/*
 * A snapshot that took much longer than usual was interrupted: data that is equal before and after may have been
 * different in between.
 */
static bool was_slow(struct plan *p, uint64_t took_ns)
{
	uint64_t ns = took_ns, usual = p->usual_ns;
	/* The first of its kind, or a stack that has become much deeper, which takes longer by itself. */
	if (usual == 0 || p->n_from > 2 * p->usual_ranges) {
		p->usual_ns = ns;
		p->usual_ranges = p->n_from;
		return false;
	}
	p->usual_ns = MAX((usual * 15 + MIN(ns, usual * 4)) / 16, UINT64_C(1));
	return ns > usual * 4 + SLOW_NS;
}

static void stood_note(struct plan *p, bool stood)
{
	uint32_t before = p->stood;
	p->stood = stood ? MIN(before + 1, (uint32_t)STOOD_ROUNDS) : 0;
	if ((before == STOOD_ROUNDS) != (p->stood == STOOD_ROUNDS))
		p->built = false;
}

/* One try. 0; WALK_TORN and SNAPSHOT_SHORT: try again. */
static int read_once(struct pystacks *s, struct plan *p, unsigned try, bool stopped, struct pystack *ret)
{
	struct pins pins;
	size_t first = 0;
	bool is_short = false;
	int e = 0;
	if (!p->known)
		e = plan_look_up(s, p);
	uint64_t start_ns = s->world->mono_ns();
	if (e == 0)
		e = plan_take(s, p, &pins);
	if (e)
		return e;
	if (was_slow(p, s->world->mono_ns() - start_ns) && !stopped)
		return WALK_TORN;
	if (pins.bad_cframe)
		return WALK_TORN;
	s->n_seen = s->n_shims = 0;
	s->seen_cut = false;
	if (pins.frame == 0)
		return stack_fill(s, p, 0, ret);
	if (s->has_chunks && !chunk_copied(p, pins.chunk))
		return WALK_TORN;
	/* The thread has gone back to an older chunk: for a while both are copied, then the newer one is dropped. */
	if (p->n_chunks && pins.chunk != p->chunks[0].addr && p->round % 8 == 0)
		p->known = false;
	e = stopped ? walk_snapshot(s, p, &pins, false) : proved_walk(s, p, &pins, &first, &is_short);
	if (e == WALK_UNKNOWN) {
		e = walk_learn(s, p, &pins);
		return e ? e : WALK_TORN;
	}
	if (e)
		return e;
	e = stack_fill(s, p, first, ret);
	if (e)
		return e;
	is_short |= ret->n + s->n_shims < s->n_seen;
	if (is_short)
		p->hot_until = p->round + HOT_ROUNDS;
	if (is_short && try < TRIES_WHOLE)
		return WALK_TORN;
	s->stats.shortened += is_short;
	stood_note(p, !is_short && first == 0);
	return 0;
}

static int plan_make(struct pystacks *s, uint64_t tstate, size_t at, struct plan **ret)
{
	size_t i = 0;
	while (i < s->n_threads && s->threads[i].tstate != tstate)
		i++;
	if (i == s->n_threads)
		return PYSTACK_STALE;
	struct plan *p = calloc(1, sizeof(*p));
	struct plan **more = realloc(s->plans, (s->n_plans + 1) * sizeof(struct plan *));
	if (more)
		s->plans = more;
	if (!p || !more) {
		free(p);
		return -ENOMEM;
	}
	p->still.fd = -1;
	p->tstate = tstate;
	p->interp = s->interps[s->listed[i].interp].addr;
	p->thread_id = s->listed[i].thread_id;
	p->known = !s->has_chunks;
	memmove(&s->plans[at + 1], &s->plans[at], (s->n_plans - at) * sizeof(struct plan *));
	s->plans[at] = p;
	s->n_plans++;
	*ret = p;
	return 0;
}

static int plan_of(struct pystacks *s, uint64_t tstate, struct plan **ret)
{
	size_t lo = bisect(s->n_plans, mid, s->plans[mid]->tstate < tstate);
	if (lo < s->n_plans && s->plans[lo]->tstate == tstate) {
		*ret = s->plans[lo];
		return 0;
	}
	return plan_make(s, tstate, lo, ret);
}

static int plan_begin(struct pystacks *s, const struct pythread *t, struct plan **ret)
{
	int e = s->usable ? plan_of(s, t->tstate, ret) : REMOTE_FAULT;
	if (e == 0)
		(*ret)->round++;
	return e;
}

int pystacks_read(struct pystacks *s, const struct pythread *t, bool stopped, struct pystack *ret)
{
	struct plan *p;
	int e = plan_begin(s, t, &p);
	if (e)
		return e;
	if (!stopped && still_same(s, p, t, ret)) {
		s->stats.samples++;
		s->stats.still++;
		return 0;
	}
	bool began = !stopped && still_begin(s, p, t);
	uint64_t end_ns = 0, shortened = s->stats.shortened;
	for (unsigned try = 0; try < TRIES_MOST; try++) {
		/* A stopped thread does not change between snapshots, once the plan is right. */
		if (try >= TRIES_LEAST && (stopped || s->world->mono_ns() > end_ns))
			break;
		e = read_once(s, p, try, stopped, ret);
		if (e == 0) {
			s->stats.samples++;
			still_end(p, began, s->stats.shortened == shortened, ret);
			return 0;
		}
		if (e != WALK_TORN && e != WALK_UNKNOWN && e != SNAPSHOT_SHORT)
			return e;
		s->stats.retries++;
		stood_note(p, false);
		if (try == 0)
			end_ns = s->world->mono_ns() + TRIES_NS;
	}
	s->stats.samples++;
	s->stats.dropped++;
	return PYSTACK_TORN;
}

bool pyframe_is(const struct pyframe *f, const char *name, const char *file)
{
	if (!f->known || !strstr(f->known->file, file))
		return false;
	const char *dot = strrchr(f->known->name, '.');
	return strcmp(dot ? dot + 1 : f->known->name, name) == 0;
}

int pystacks_read_by(struct pystacks *s, const struct pythread *t, const struct pystack_source *by, struct pystack *ret)
{
	struct plan *p;
	int e = plan_begin(s, t, &p);
	if (e)
		return e;
	s->source = by;
	for (unsigned try = 0; e == 0 && try < TRIES_BY_SOURCE; try++) {
		e = read_once(s, p, TRIES_WHOLE, true, ret);
		if (e == 0)
			break;
		stood_note(p, false);
		if (e == WALK_TORN || e == WALK_UNKNOWN || e == SNAPSHOT_SHORT)
			e = try + 1 < TRIES_BY_SOURCE ? 0 : PYSTACK_TORN;
	}
	s->source = NULL;
	if (e)
		return e;
	s->stats.samples++;
	still_end(p, false, true, ret);
	return 0;
}
