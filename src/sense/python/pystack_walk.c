#include <string.h>

#include "sense/python/pystack_parts.h"

/* Maximum number of possibly running frames to try. */
#define RAN_TRIES 4
/* Frames of earlier stacks are copied for this many samples more, because loops come back to them. */
#define SPARE_ROUNDS 64
#define SPARES_MIN 64

/* CPython's enum _frameowner: 3 and 4 are frames of the interpreter itself (3.12 and later). */
enum { OWNER_THREAD = 0, OWNER_GENERATOR = 1, OWNER_NOT_PYTHON = 3 };

/* Code pointers of 3.14 carry tags in their low bits; objects are aligned to 16 bytes. */
#define CODE_MASK (~UINT64_C(7))

/* The state of a walk. Frames on the data stack lie in order of address, so a walk only goes down. */
struct walk {
	struct pystacks *s;
	struct plan *p;
	size_t chunk, loose;
	uint64_t chunk_addr; /* of the last frame in that chunk; 0: none yet */
	uint64_t earlier; /* Brent's cycle detection: an earlier address */
	size_t steps, next_earlier;
	bool early; /* the first copies are walked, and proved by the second ones */
	char bytes[FRAME_BYTES_MAX]; /* of a frame that was read alone */
};

/* 3.8 to 3.10: frames that have returned are kept for reuse, and their f_back is NULL, as that of the outermost. */
static bool frame_is_running(const struct pystacks *s, const char *f)
{
	if (s->rt->minor > 10)
		return true;
	int8_t state = (int8_t)f[s->rt->off.frame.instr + STATE_AFTER_LASTI];
	return s->rt->minor == 10 ? state == 0 || state == 2
				  : state == 1; /* FRAME_EXECUTING, _UNWINDING; f_executing */
}

/* The copies of a frame in the snapshot, each from frame_lo on; NULL: not copied. */
struct copies {
	const char *outer, *first, *second, *third;
	bool changed; /* it runs in one of them only */
};

/* f: the frame's bytes as if from its start. */
static bool is_shim(const struct pystacks *s, const char *f)
{
	return s->has_shims && (uint8_t)f[s->rt->off.frame.owner] >= OWNER_NOT_PYTHON;
}

static int in_chunks(struct walk *w, uint64_t addr, struct copies *ret)
{
	const struct pystacks *s = w->s;
	for (size_t i = w->chunk; i < w->p->n_chunks; i++) {
		const struct chunk *c = &w->p->chunks[i];
		uint64_t at = addr - c->addr;
		if (c->second == NOT_COPIED || at < CHUNK_HEAD_BYTES || at >= c->size_bytes)
			continue;
		if (at + s->frame_hi > c->copied_bytes) {
			plan_reach(s, w->p, i, (uint32_t)at);
			return WALK_TORN;
		}
		if (i == w->chunk && w->chunk_addr && addr >= w->chunk_addr)
			return WALK_TORN;
		w->chunk = i;
		w->chunk_addr = addr;
		at += s->frame_lo;
		ret->second = s->snapshot + c->second + at;
		if (c->first != NOT_COPIED && at >= c->first_from)
			ret->first = s->snapshot + c->first + (at - c->first_from);
		if (c->third != NOT_COPIED)
			ret->third = s->snapshot + c->third + at;
		if (c->outer != NOT_COPIED)
			ret->outer = s->snapshot + c->outer + at;
		return 0;
	}
	return WALK_UNKNOWN;
}

static int in_loose(struct walk *w, uint64_t addr, struct copies *ret)
{
	struct plan *p = w->p;
	const char *snapshot = w->s->snapshot;
	struct loose *l = w->loose < p->n_loose && p->loose[w->loose].addr == addr ? &p->loose[w->loose]
										   : plan_find_loose(p, addr);
	if (!l || l->second == NOT_COPIED)
		return WALK_UNKNOWN;
	if (l->walk == p->walk)
		return WALK_TORN;
	l->walk = p->walk;
	l->used_round = p->round;
	w->loose = (size_t)(l - p->loose) + 1;
	ret->second = snapshot + l->second;
	if (l->first != NOT_COPIED)
		ret->first = snapshot + l->first;
	if (l->third != NOT_COPIED)
		ret->third = snapshot + l->third;
	return 0;
}

static bool inside_chunks(const struct plan *p, uint64_t addr)
{
	for (size_t i = 0; i < p->n_chunks; i++)
		if (addr - p->chunks[i].addr < p->chunks[i].size_bytes)
			return true;
	return false;
}

static int chain_add(struct pystacks *s, uint64_t addr)
{
	if (s->n_chain == PLAN_LOOSE_MAX)
		return WALK_TORN;
	s->chain[s->n_chain++] = addr;
	return 0;
}

/* Reads a frame that is not in the snapshot. Its code must be a code object, so that no garbage gets into the plan. */
static int frame_read(struct walk *w, uint64_t addr, const char **ret)
{
	struct pystacks *s = w->s;
	const struct pycode *code;
	int e = remote_read(s->r, addr + s->frame_lo, w->bytes, s->frame_hi - s->frame_lo);
	if (e)
		return e == REMOTE_FAULT ? WALK_TORN : e;
	*ret = w->bytes;
	const char *f = *ret - s->frame_lo;
	if (!is_shim(s, f)) {
		uint64_t at = load_u64(f + s->rt->off.frame.code) & CODE_MASK;
		e = pycodes_peek(s->codes, at) ? 0 : pycodes_get(s->codes, at, &code);
		if (e)
			return e == PYCODE_GARBAGE || e == REMOTE_FAULT ? WALK_TORN : e;
	}
	if (inside_chunks(w->p, addr)) {
		w->p->known = false; /* more of the chunk is used than expected */
		return 0;
	}
	return chain_add(s, addr);
}

/* Before 3.11 a frame has no caller once it has returned: then the copy in which it runs gives its caller. */
static void copies_choose(const struct walk *w, struct copies *c, const char **ret, const char **ret_other)
{
	const char *one = c->first && w->early ? c->first : c->second, *two = one == c->first ? c->second : c->first;
	if (two) {
		bool runs = frame_is_running(w->s, one - w->s->frame_lo);
		bool other = frame_is_running(w->s, two - w->s->frame_lo);
		c->changed = runs != other;
		if (!runs && other) {
			*ret = two;
			*ret_other = one;
			return;
		}
	}
	*ret = one;
	*ret_other = two;
}

/*
 * From 3.11 on, frames on the data stack belong to threads; generators' frames are in objects and the interpreter's own
 * are on the C stack. A frame that contradicts this is memory that was reused, or is not in use yet.
 */
static bool lies_well(const struct walk *w, uint64_t addr, const char *f)
{
	const uint64_t owner = w->s->rt->off.frame.owner;
	if (!w->s->has_chunks || owner == PYOFF_NONE)
		return true;
	if (inside_chunks(w->p, addr))
		return f[owner] == OWNER_THREAD;
	return f[owner] != OWNER_THREAD || w->p->more_chunks;
}

/* Finds the bytes of a frame, from frame_lo on. learn: reads the frame if it is not in the snapshot. */
static int frame_bytes(struct walk *w, uint64_t addr, bool learn, const char **ret, struct seen *seen)
{
	struct copies c = {};
	bool loose = false;
	int e = in_chunks(w, addr, &c);
	if (e == WALK_UNKNOWN) {
		e = in_loose(w, addr, &c);
		loose = e == 0;
	}
	if (e == WALK_UNKNOWN && learn)
		e = frame_read(w, addr, ret);
	else if (e == 0)
		copies_choose(w, &c, ret, &seen->other);
	if (e)
		return e;
	if (!lies_well(w, addr, *ret - w->s->frame_lo))
		return WALK_TORN;
	seen->third = c.third;
	seen->outer = c.outer;
	if (!inside_chunks(w->p, addr) && w->s->n_seen < w->s->innermost_loose)
		w->s->innermost_loose = w->s->n_seen;
	seen->changed = c.changed;
	return loose && learn ? chain_add(w->s, addr) : 0;
}

static uint64_t instr_of(const struct pystacks *s, const char *f)
{
	const char *at = f + s->rt->off.frame.instr;
	return s->rt->minor <= 10 ? (uint64_t)(int64_t)(int32_t)load_u32(at) : load_u64(at);
}

/* f: the frame's bytes as if from its start. */
static void frame_decode(const struct pystacks *s, uint64_t addr, const char *f, struct seen *ret)
{
	const struct pyoffsets *o = &s->rt->off;
	ret->addr = addr;
	ret->tlbc = 0;
	ret->flags = 0;
	ret->previous = load_u64(f + o->frame.previous);
	ret->code = load_u64(f + o->frame.code) & CODE_MASK;
	ret->instr = instr_of(s, f);
	if (s->rt->minor <= 10)
		ret->flags |= PYFRAME_ENTRY;
	else if (o->frame.is_entry != PYOFF_NONE && f[o->frame.is_entry])
		ret->flags |= PYFRAME_ENTRY;
	if (o->frame.owner != PYOFF_NONE && f[o->frame.owner] == OWNER_GENERATOR)
		ret->flags |= PYFRAME_GENERATOR;
	if (s->has_tlbc)
		ret->tlbc = load_u32(f + o->frame.tlbc_index);
}

static bool circle(struct walk *w, uint64_t addr)
{
	if (addr == w->earlier)
		return true;
	if (w->steps++ == w->next_earlier) {
		w->earlier = addr;
		w->next_earlier = w->next_earlier * 2 + 1;
	}
	return w->steps > PYSTACK_FRAMES + PLAN_LOOSE_MAX;
}

/* A suspended generator has no caller either, so the chain must end where only outermost frames are. */
static bool end_fits(const struct pystacks *s, const struct plan *p, const struct pins *pins, uint64_t addr)
{
	const struct seen *last = s->n_seen ? &s->seen[s->n_seen - 1] : NULL;
	if (pins->base_frame)
		return addr == pins->base_frame;
	if (s->has_shims)
		return !last || last->shim;
	if (!last || !s->has_chunks)
		return true;
	/* 3.11: the first frame of the first chunk. */
	const struct chunk *oldest = p->n_chunks ? &p->chunks[p->n_chunks - 1] : NULL;
	return oldest && oldest->previous == 0 && last->addr - oldest->addr <= CHUNK_HEAD_BYTES + 8;
}

/*
 * Walks down within one chunk of the data stack while the frames are simple; walk_frames() handles the rest. Nearly all
 * frames are handled here, so offsets are in locals: the compiler must assume that a store to s->seen changes any other
 * memory.
 */
static uint64_t chunk_run(struct walk *w, uint64_t addr)
{
	struct pystacks *s = w->s;
	const struct pyoffsets *o = &s->rt->off;
	const struct chunk *c = &w->p->chunks[w->chunk];
	if (w->chunk >= w->p->n_chunks || c->second == NOT_COPIED || c->copied_bytes < s->frame_hi + CHUNK_HEAD_BYTES ||
	    (w->early && c->first_from > 0) || s->has_tlbc)
		return addr;
	const size_t previous = o->frame.previous, code = o->frame.code, instr = o->frame.instr, owner = o->frame.owner;
	const size_t entry = o->frame.is_entry, room = c->copied_bytes - s->frame_hi - CHUNK_HEAD_BYTES;
	const bool owned = owner != PYOFF_NONE, has_first = c->first != NOT_COPIED, has_third = c->third != NOT_COPIED;
	const bool swap = w->early && has_first;
	const char *second = s->snapshot + c->second, *first = s->snapshot + c->first;
	const char *third = has_third ? s->snapshot + c->third : NULL;
	const char *outer = c->outer != NOT_COPIED ? s->snapshot + c->outer : NULL;
	const uint64_t base = c->addr, first_from = has_first ? c->first_from : UINT64_MAX, lo = s->frame_lo;
	uint64_t below = w->chunk_addr ? w->chunk_addr : UINT64_MAX;
	struct seen *seen = &s->seen[s->n_seen], *end = s->seen + PYSTACK_FRAMES + s->n_shims;
	while (seen < end && addr < below && addr - base - CHUNK_HEAD_BYTES <= room) {
		const uint64_t at = addr - base;
		const char *f = swap ? first + at : second + at;
		const uint64_t object = load_u64(f + code) & CODE_MASK;
		if (object == 0 || (owned && f[owner] != OWNER_THREAD))
			break;
		const char *other = at + lo < first_from ? NULL
				    : swap		 ? second + at + lo
							 : first + at + lo - first_from;
		uint8_t flags = entry != PYOFF_NONE && f[entry] ? PYFRAME_ENTRY : 0;
		*seen++ = (struct seen){.addr = addr,
					.previous = load_u64(f + previous),
					.code = object,
					.instr = load_u64(f + instr),
					.other = other,
					.third = third ? third + at + lo : NULL,
					.outer = outer ? outer + at + lo : NULL,
					.flags = flags};
		below = addr;
		addr = load_u64(f + previous);
	}
	if (below != UINT64_MAX)
		w->chunk_addr = below;
	s->n_seen = (size_t)(seen - s->seen);
	return addr;
}

static int walk_frames(struct pystacks *s, struct plan *p, const struct pins *pins, bool learn, bool early)
{
	struct walk w = {.s = s, .p = p, .early = early};
	uint64_t addr = pins->frame;
	p->walk++;
	s->n_seen = s->n_shims = 0;
	s->innermost_loose = SIZE_MAX;
	s->seen_cut = false;
	while (addr != 0 && addr != pins->base_frame) {
		const char *f;
		size_t before = s->n_seen;
		if (s->has_chunks)
			addr = chunk_run(&w, addr);
		if (s->n_seen > before)
			continue;
		if (circle(&w, addr))
			return WALK_TORN;
		if (s->n_seen - s->n_shims == PYSTACK_FRAMES || s->n_seen == SEEN_MAX) {
			s->seen_cut = true;
			return 0;
		}
		struct seen *seen = &s->seen[s->n_seen];
		*seen = (struct seen){};
		int e = frame_bytes(&w, addr, learn, &f, seen);
		if (e)
			return e;
		f -= s->frame_lo;
		frame_decode(s, addr, f, seen);
		seen->shim = is_shim(s, f);
		s->n_shims += seen->shim;
		/* The newest frame may be about to begin or have just returned. */
		if (!seen->shim &&
		    (seen->code == 0 || (!frame_is_running(s, f) && (s->n_seen > 0 || seen->previous == 0))))
			return WALK_TORN;
		s->n_seen++;
		addr = seen->previous;
	}
	return end_fits(s, p, pins, addr) ? 0 : WALK_TORN;
}

int walk_snapshot(struct pystacks *s, struct plan *p, const struct pins *pins, bool early)
{
	return walk_frames(s, p, pins, false, early);
}

/*
 * The frame that was running between the copies of this one: itself, if its instruction changed; the one below it, if
 * this frame came or went. 0: unknown.
 */
static uint64_t ran_between(const struct pystacks *s, const struct loose *l)
{
	struct seen first, second;
	if (l->first == NOT_COPIED || l->second == NOT_COPIED)
		return 0;
	const char *f = s->snapshot + l->first - s->frame_lo, *g = s->snapshot + l->second - s->frame_lo;
	bool runs = frame_is_running(s, f), runs_then = frame_is_running(s, g);
	frame_decode(s, l->addr, f, &first);
	frame_decode(s, l->addr, g, &second);
	if (runs != runs_then)
		return runs ? first.previous : second.previous;
	return runs && first.code == second.code && first.previous == second.previous && first.instr != second.instr
		       ? l->addr
		       : 0;
}

/* The chain's frames become the list of loose frames; recently used ones follow as spares. */
static int loose_renew(struct pystacks *s, struct plan *p, bool whole)
{
	struct loose *old = p->loose;
	size_t n_old = p->n_loose, spares = whole ? MAX(s->n_chain, (size_t)SPARES_MIN) : n_old;
	p->loose = NULL;
	p->n_loose = p->cap_loose = 0;
	int e = 0;
	for (size_t i = 0; i < s->n_chain && e == 0; i++)
		e = plan_add_loose(p, s->chain[i]);
	for (size_t i = 0; i < n_old && e == 0 && spares > 0; i++) {
		if (old[i].walk == p->walk || p->round - old[i].used_round > SPARE_ROUNDS)
			continue;
		e = plan_add_loose(p, old[i].addr);
		if (e == 0)
			p->loose[p->n_loose - 1].used_round = old[i].used_round;
		spares--;
	}
	free(old);
	p->built = false;
	return e == -E2BIG ? 0 : e;
}

int walk_learn(struct pystacks *s, struct plan *p, const struct pins *pins)
{
	s->stats.walks++;
	s->n_chain = 0;
	int e = walk_frames(s, p, pins, true, false);
	if (e < 0 || e == WORLD_GONE || e == WORLD_DENIED)
		return e;
	/* A walk that ended early has still learnt its innermost part. */
	int renewed = loose_renew(s, p, e == 0);
	return renewed ? renewed : e;
}

/* True if the frame in a copy is the one that was seen. *ret_ran: its instruction has changed. */
static bool same_frame(const struct pystacks *s, const struct seen *seen, const char *copy, bool *ret_ran)
{
	const struct pyoffsets *o = &s->rt->off;
	const char *f = copy - s->frame_lo;
	*ret_ran = instr_of(s, f) != seen->instr;
	if (seen->shim) {
		/* Its instruction is a tag that the interpreter changes now and then. */
		*ret_ran = false;
		return is_shim(s, f) && load_u64(f + o->frame.previous) == seen->previous;
	}
	if (is_shim(s, f))
		return false;
	return (load_u64(f + o->frame.code) & CODE_MASK) == seen->code &&
	       load_u64(f + o->frame.previous) == seen->previous;
}

/*
 * Frame i differs between the copies, but the one below it does not: that one was running in between. If it is also the
 * same in the third copies, in the same call, then it was there before and after frame i was read in the second ones,
 * and frame i, which the pins led through, is the frame that it called.
 */
static size_t first_after_change(struct pystacks *s, size_t i, bool early)
{
	struct seen *seen = &s->seen[i], *below = &s->seen[i + 1];
	bool ran = true;
	/* A generator's memory is soon reused, with its old links still in it. */
	if (early || seen->changed || seen->shim || (seen->flags & PYFRAME_GENERATOR) || !seen->third || !below->third)
		return i + 1;
	if (!same_frame(s, below, below->third, &ran) || ran)
		return i + 1;
	if (s->has_chunks && !same_frame(s, seen, seen->third, &ran))
		return i + 1;
	seen->fresh = true;
	return i;
}

/* True if the frame was there, at one instruction, while all frames above it were copied. */
static bool stood(const struct pystacks *s, const struct seen *seen)
{
	bool ran = false;
	if (seen->outer && (!same_frame(s, seen, seen->outer, &ran) || ran))
		return false;
	return !seen->outer || !seen->third || (same_frame(s, seen, seen->third, &ran) && !ran);
}

bool walk_prove(struct pystacks *s, bool early, size_t *ret_first)
{
	size_t innermost = s->n_seen; /* innermost frame that was there all along */
	for (size_t i = s->n_seen; i-- > 0;) {
		const struct seen *seen = &s->seen[i];
		bool ran;
		if (!seen->other)
			continue;
		if (seen->changed || !same_frame(s, seen, seen->other, &ran)) {
			if (innermost != i + 1 || i + 1 == s->n_seen)
				return false;
			*ret_first = first_after_change(s, i, early);
			return true;
		}
		innermost = i;
		if (i > 0 && (ran || (i > s->innermost_loose && !stood(s, seen)))) {
			*ret_first = i; /* it was running itself */
			return true;
		}
	}
	*ret_first = 0;
	return innermost == 0 && s->n_seen > 0;
}

bool walk_ran(struct pystacks *s, struct plan *p, size_t *ret_first)
{
	unsigned tries = 0;
	for (size_t i = 0; i < p->n_loose && tries < RAN_TRIES; i++) {
		struct pins pins = {.frame = ran_between(s, &p->loose[i])};
		if (pins.frame == 0)
			continue;
		tries++;
		if (walk_frames(s, p, &pins, false, false) == 0 && s->n_seen && !s->seen[0].changed &&
		    walk_prove(s, false, ret_first))
			return true;
	}
	return false;
}
