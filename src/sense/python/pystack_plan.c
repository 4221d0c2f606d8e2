#include <limits.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "sense/python/pystack_parts.h"

static void *remote_ptr(uint64_t addr)
{
	return (void *)(uintptr_t)addr; // NOLINT(performance-no-int-to-ptr): theirs, not ours
}

/* Bytes copied beyond the last known end, where the next calls put their frames. */
#define SLACK_BYTES 384
/* Of a larger stack only the innermost part is copied twice. */
#define TWICE_BYTES 2048
/*
 * Frames on the heap that are closer than this are copied as one range; another range costs as much as 4 KiB of bytes.
 */
#define GAP_BYTES 4095
#define RUN_BYTES_MAX 65536
/* Samples for which the peak use of a chunk is remembered. */
#define PEAK_ROUNDS 64

/* A thread may change the chunk of its data stack between two reads, but seldom this often. */
#define LIST_CHUNKS_TRIES 4
/* Bytes copied of a chunk whose use is unknown. */
#define JOIN_BYTES UINT32_C(4096)

enum range_kind { RANGE_CHUNK, RANGE_LOOSE, RANGE_CFRAME, RANGE_THREAD, RANGE_EXTRA, RANGE_PROGRAM_ID };

struct plan *plan_free(struct plan *p)
{
	if (!p)
		return NULL;
	still_done(&p->still);
	free(p->loose);
	free(p->slots);
	free(p->from);
	free(p->kinds);
	free(p->which);
	free(p);
	return NULL;
}

/* ---- loose frames ---- */

int plan_add_loose(struct plan *p, uint64_t addr)
{
	if (p->n_loose >= PLAN_LOOSE_MAX)
		return -E2BIG;
	if (vec_room(&p->loose, &p->cap_loose, p->n_loose + 1) < 0)
		return -ENOMEM;
	p->loose[p->n_loose++] = (struct loose){
		.addr = addr, .first = NOT_COPIED, .second = NOT_COPIED, .third = NOT_COPIED, .used_round = p->round};
	p->built = false;
	return 0;
}

static size_t loose_slot(const struct plan *p, uint64_t addr)
{
	return hash_slot(addr >> 4, p->n_slots - 1);
}

static int loose_index(struct plan *p)
{
	size_t want = 16;
	while (want < p->n_loose * 2)
		want *= 2;
	if (want > p->n_slots) {
		uint32_t *more = calloc(want, sizeof(*more));
		if (!more)
			return -ENOMEM;
		free(p->slots);
		p->slots = more;
		p->n_slots = want;
	} else {
		memset(p->slots, 0, p->n_slots * sizeof(*p->slots));
	}
	for (size_t i = 0; i < p->n_loose; i++) {
		size_t at = loose_slot(p, p->loose[i].addr);
		while (p->slots[at])
			at = (at + 1) & (p->n_slots - 1);
		p->slots[at] = (uint32_t)i + 1;
	}
	return 0;
}

struct loose *plan_find_loose(const struct plan *p, uint64_t addr)
{
	if (p->n_slots == 0)
		return NULL;
	for (size_t at = loose_slot(p, addr); p->slots[at]; at = (at + 1) & (p->n_slots - 1))
		if (p->loose[p->slots[at] - 1].addr == addr)
			return &p->loose[p->slots[at] - 1];
	return NULL;
}

/* ---- building ---- */

enum copy { OUTER, FIRST, SECOND, THIRD };

static int plan_range_add(struct plan *p, enum range_kind kind, uint32_t which, uint64_t addr, size_t len,
			  uint32_t *ret_at)
{
	if (p->n_from == p->cap_from) {
		size_t cap = p->cap_from ? p->cap_from * 2 : 32;
		struct iovec *from = realloc(p->from, cap * sizeof(*from));
		if (!from)
			return -ENOMEM;
		p->from = from;
		uint8_t *kinds = realloc(p->kinds, cap);
		if (!kinds)
			return -ENOMEM;
		p->kinds = kinds;
		uint32_t *whiches = realloc(p->which, cap * sizeof(*whiches));
		if (!whiches)
			return -ENOMEM;
		p->which = whiches;
		p->cap_from = cap;
	}
	p->from[p->n_from] = (struct iovec){remote_ptr(addr), len};
	p->kinds[p->n_from] = (uint8_t)kind;
	p->which[p->n_from++] = which;
	*ret_at = (uint32_t)p->bytes;
	p->bytes += len;
	return 0;
}

static int loose_by_address(const void *a, const void *b)
{
	const struct loose *x = *(const struct loose *const *)a, *y = *(const struct loose *const *)b;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Before 3.11 all frames are loose. If the stack did not change in the last STOOD_ROUNDS samples, one is enough. */
static size_t first_loose(const struct pystacks *s, const struct plan *p)
{
	return !s->has_chunks && p->stood >= STOOD_ROUNDS ? 1 : 2;
}

/* Copies neighbours as one range. The gap is less than a page, so every page it touches holds part of a frame. */
static int loose_add(const struct pystacks *s, struct plan *p, struct loose **sorted, size_t n, enum copy copy)
{
	for (size_t i = 0; i < n;) {
		uint64_t start = sorted[i]->addr + s->frame_lo, end = sorted[i]->addr + s->frame_hi;
		size_t past = i + 1;
		for (; past < n; past++) {
			uint64_t lo = sorted[past]->addr + s->frame_lo, hi = sorted[past]->addr + s->frame_hi;
			if ((lo > end && lo - end > GAP_BYTES) || hi - start > RUN_BYTES_MAX)
				break;
			end = hi;
		}
		uint32_t at;
		int e = plan_range_add(p, RANGE_LOOSE, 0, start, end - start, &at);
		if (e)
			return e;
		for (; i < past; i++) {
			uint32_t here = at + (uint32_t)(sorted[i]->addr + s->frame_lo - start);
			*(copy == FIRST	   ? &sorted[i]->first
			  : copy == SECOND ? &sorted[i]->second
					   : &sorted[i]->third) = here;
		}
	}
	return 0;
}

/* The innermost frames are copied twice, in hot snapshots all. The outermost one has no caller and does not change. */
static bool loose_twice(const struct plan *p, size_t i, size_t n_first, bool hot)
{
	return hot || (i < n_first && p->loose[i].addr != p->base);
}

/*
 * Copies the loose frames that are copied twice, or the others. Frames already copied as part of another range are left
 * out.
 */
static int loose_group(const struct pystacks *s, struct plan *p, bool twice, bool hot, enum copy copy)
{
	size_t n = 0, n_first = first_loose(s, p);
	if (p->n_loose == 0)
		return 0;
	cleanup(freep) struct loose **sorted = malloc(p->n_loose * sizeof(struct loose *));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_loose; i++)
		if (loose_twice(p, i, n_first, hot) == twice &&
		    (twice || p->loose[i].addr != p->base || !p->base_with_cframe))
			sorted[n++] = &p->loose[i];
	if (n == 0)
		return 0;
	qsort(sorted, n, sizeof(struct loose *), loose_by_address);
	return loose_add(s, p, sorted, n, copy);
}

static uint32_t newest_bytes(const struct plan *p)
{
	const struct chunk *c = &p->chunks[0];
	uint32_t want = MAX(MAX(c->used_bytes, p->peak_bytes), p->peak_next_bytes) + SLACK_BYTES;
	return MIN((want + 63) & ~UINT32_C(63), c->size_bytes);
}

/* The newest chunk of the data stack and, while little of it is used, the one before. */
static size_t chunks_twice(const struct plan *p, bool hot)
{
	return p->n_chunks > 1 && (hot || p->chunks[0].used_bytes < TWICE_BYTES / 2) ? 2 : MIN(p->n_chunks, 1);
}

static int chunks_first(struct plan *p, bool hot)
{
	size_t n = chunks_twice(p, hot);
	for (size_t i = n; i-- > 0;) {
		struct chunk *c = &p->chunks[i];
		uint32_t len = c->copied_bytes;
		c->first_from = !hot && c->used_bytes > TWICE_BYTES ? (c->used_bytes - TWICE_BYTES) & ~UINT32_C(7) : 0;
		int e = plan_range_add(p, RANGE_CHUNK, (uint32_t)i, c->addr + c->first_from, len - c->first_from,
				       &c->first);
		if (e)
			return e;
	}
	return 0;
}

static int chunks_whole(struct plan *p, size_t from, size_t to, enum copy copy)
{
	for (size_t i = to; i-- > from;) {
		struct chunk *c = &p->chunks[i];
		uint32_t *at = copy == OUTER ? &c->outer : copy == SECOND ? &c->second : &c->third;
		int e = plan_range_add(p, RANGE_CHUNK, (uint32_t)i, c->addr, c->copied_bytes, at);
		if (e)
			return e;
	}
	return 0;
}

/* Drops C frames that the thread has not used for PEAK_ROUNDS samples. */
static void cframes_keep(struct plan *p)
{
	size_t kept = 0;
	for (size_t i = 0; i < p->n_cframes; i++) {
		if (i > 0 && p->round - p->cframe_rounds[i] > PEAK_ROUNDS)
			continue;
		p->cframes[kept] = p->cframes[i];
		p->cframe_rounds[kept++] = p->cframe_rounds[i];
	}
	p->n_cframes = kept;
}

/* The only C frame of a thread lies right below the outermost frame, in the same function's part of the stack. */
static bool base_with_cframe(const struct pystacks *s, const struct plan *p, bool hot)
{
	const struct loose *base = hot || p->n_cframes != 1 ? NULL : plan_find_loose(p, p->base);
	return base && p->base + s->frame_lo - (p->cframes[0] + s->rt->off.thread.cframe_current) <= GAP_BYTES;
}

/* The C frames lie on one stack, a few hundred bytes apart: neighbours are one range. */
static int cframes_add(const struct pystacks *s, struct plan *p)
{
	const uint64_t offset = s->rt->off.thread.cframe_current;
	size_t n = p->n_cframes, order[PLAN_CFRAMES];
	for (size_t i = 0; i < n; i++) {
		size_t at = i;
		for (; at > 0 && p->cframes[order[at - 1]] > p->cframes[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (size_t i = 0; i < n;) {
		uint64_t start = p->cframes[order[i]] + offset, end = start + 8;
		size_t past = i + 1;
		for (; past < n && p->cframes[order[past]] + offset - end <= GAP_BYTES; past++)
			end = p->cframes[order[past]] + offset + 8;
		if (p->base_with_cframe)
			end = p->base + s->frame_hi;
		uint32_t at;
		int e = plan_range_add(p, RANGE_CFRAME, (uint32_t)order[i], start, end - start, &at);
		if (e)
			return e;
		for (; i < past; i++)
			p->cframe_at[order[i]] = at + (uint32_t)(p->cframes[order[i]] + offset - start);
		if (p->base_with_cframe)
			plan_find_loose(p, p->base)->second = at + (uint32_t)(p->base + s->frame_lo - start);
	}
	return 0;
}

static int pins_add(const struct pystacks *s, struct plan *p)
{
	int e = s->has_cframe ? cframes_add(s, p) : 0;
	if (e)
		return e;
	return plan_range_add(p, RANGE_THREAD, 0, p->tstate + s->thread_lo, s->thread_hi - s->thread_lo, &p->thread_at);
}

/*
 * Adds the holder of the GIL and whether garbage is collected. They are optional, so they come last, where a fault
 * costs only them.
 */
static int extra_add(const struct pystacks *s, struct plan *p, uint64_t gil)
{
	const struct pyoffsets *o = &s->rt->off;
	uint64_t one = 0, two = 0, one_bytes = 8;
	p->gil_at = p->collecting_at = NOT_COPIED;
	if (p->no_extra)
		return 0;
	if (o->runtime.gilstate_current != PYOFF_NONE && s->rt->minor <= 11)
		one = s->rt->runtime + o->runtime.gilstate_current;
	else if (gil && s->gil_bytes) {
		one = gil + s->gil_lo;
		one_bytes = s->gil_bytes;
	}
	if (o->runtime.gc_collecting != PYOFF_NONE)
		two = s->rt->runtime + o->runtime.gc_collecting;
	else if (o->interp.gc_collecting != PYOFF_NONE)
		two = p->interp + o->interp.gc_collecting;
	/* Often both are in one structure: then they are one range. */
	uint64_t start = MIN(one, two), end = MAX(one + one_bytes, two + 4);
	uint32_t at;
	if (one && two && end - start <= GAP_BYTES) {
		int e = plan_range_add(p, RANGE_EXTRA, 0, start, end - start, &at);
		p->gil_at = at + (uint32_t)(one - start);
		p->collecting_at = at + (uint32_t)(two - start);
		return e;
	}
	int e = one ? plan_range_add(p, RANGE_EXTRA, 0, one, one_bytes, &p->gil_at) : 0;
	/* Only the holder of the GIL collects garbage, so a thread that never held it is not asked. */
	bool asked = one == 0 || p->has_held;
	return e == 0 && two && asked ? plan_range_add(p, RANGE_EXTRA, 0, two, 4, &p->collecting_at) : e;
}

static uint64_t gil_of(const struct pystacks *s, const struct plan *p)
{
	for (size_t i = 0; i < s->n_interps; i++)
		if (s->interps[i].addr == p->interp)
			return s->interps[i].gil;
	return 0;
}

static int plan_build(struct pystacks *s, struct plan *p, bool hot)
{
	p->n_from = 0;
	p->bytes = 0;
	for (size_t i = 0; i < p->n_loose; i++)
		p->loose[i].first = p->loose[i].second = p->loose[i].third = NOT_COPIED;
	for (size_t i = 0; i < p->n_chunks; i++) {
		p->chunks[i].outer = p->chunks[i].first = p->chunks[i].second = p->chunks[i].third = NOT_COPIED;
		p->chunks[i].copied_bytes = i == 0 ? newest_bytes(p) : p->chunks[i].used_bytes;
	}
	size_t n_twice = chunks_twice(p, hot);
	int e = loose_index(p);
	cframes_keep(p);
	p->base_with_cframe = e == 0 && s->has_cframe && base_with_cframe(s, p, hot);
	if (e == 0 && hot && p->n_loose)
		e = chunks_whole(p, 0, n_twice, OUTER);
	if (e == 0)
		e = loose_group(s, p, true, hot, FIRST);
	if (e == 0)
		e = chunks_first(p, hot);
	if (e == 0)
		e = chunks_whole(p, n_twice, p->n_chunks, SECOND);
	if (e == 0)
		e = loose_group(s, p, false, hot, SECOND);
	if (e == 0)
		e = pins_add(s, p);
	if (e == 0)
		e = chunks_whole(p, 0, n_twice, SECOND);
	if (e == 0)
		e = loose_group(s, p, true, hot, SECOND);
	if (e == 0 && hot)
		e = s->has_chunks ? chunks_whole(p, 0, n_twice, THIRD) : loose_group(s, p, true, hot, THIRD);
	if (e == 0)
		e = extra_add(s, p, gil_of(s, p));
	/* Last of all, so that snapshots that do not need it can leave it out. */
	if (e == 0 && s->program_id_addr)
		e = plan_range_add(p, RANGE_PROGRAM_ID, 0, s->program_id_addr, sizeof(s->program_id),
				   &p->program_id_at);
	if (e)
		return e;
	p->built = true;
	p->built_hot = hot;
	return 0;
}

/* ---- taking ---- */

static int pins_of_thread(const struct pystacks *s, const struct plan *p, const char *thread, struct pins *ret)
{
	const struct pyoffsets *o = &s->rt->off;
	const char *t = thread - s->thread_lo;
	*ret = (struct pins){};
	if (load_u64(t + o->thread.interp) != p->interp || load_u64(t + o->thread.thread_id) != p->thread_id)
		return PYSTACK_STALE;
	if (s->has_chunks) {
		ret->chunk = load_u64(t + o->thread.datastack_chunk);
		ret->chunk_top = load_u64(t + o->thread.datastack_chunk + 8);
	}
	if (o->thread.base_frame != PYOFF_NONE)
		ret->base_frame = load_u64(t + o->thread.base_frame);
	if (!s->has_cframe)
		ret->frame = load_u64(t + o->thread.frame);
	return 0;
}

/* Finds the C frame that the thread state points to; a new one is added to the plan. */
static bool cframe_known(struct plan *p, uint64_t cframe, size_t *ret_index)
{
	for (size_t i = 0; i < p->n_cframes; i++) {
		if (p->cframes[i] == cframe) {
			p->cframe_rounds[i] = p->round;
			*ret_index = i;
			return true;
		}
	}
	size_t n = MIN(p->n_cframes, (size_t)PLAN_CFRAMES - 1);
	memmove(&p->cframes[1], &p->cframes[0], n * sizeof(p->cframes[0]));
	memmove(&p->cframe_rounds[1], &p->cframe_rounds[0], n * sizeof(p->cframe_rounds[0]));
	p->cframes[0] = cframe;
	p->cframe_rounds[0] = p->round;
	p->n_cframes = n + 1;
	p->built = false;
	return false;
}

/* A range is not mapped: removes it from the plan. */
static int plan_correct(const struct pystacks *s, struct plan *p, size_t got)
{
	size_t i = 0;
	for (; i + 1 < p->n_from && got >= p->from[i].iov_len; i++)
		got -= p->from[i].iov_len;
	uint64_t start = (uint64_t)(uintptr_t)p->from[i].iov_base, end = start + p->from[i].iov_len;
	size_t kept = 0;
	p->built = false;
	switch ((enum range_kind)p->kinds[i]) {
	case RANGE_CHUNK:
		if (p->which[i] > 0 || p->n_chunks == 1) {
			p->known = false;
			break;
		}
		/* The newest chunk comes and goes when a thread calls and returns at the end of a chunk. */
		p->left_chunk = p->chunks[0];
		p->left_below_bytes = p->chunks[1].used_bytes;
		p->n_chunks--;
		memmove(&p->chunks[0], &p->chunks[1], p->n_chunks * sizeof(p->chunks[0]));
		break;
	case RANGE_LOOSE:
		for (size_t k = 0; k < p->n_loose; k++)
			if (p->loose[k].addr + s->frame_lo < start || p->loose[k].addr + s->frame_lo >= end)
				p->loose[kept++] = p->loose[k];
		p->n_loose = kept;
		break;
	case RANGE_CFRAME:
		p->n_cframes = 0;
		break;
	case RANGE_THREAD:
		return PYSTACK_STALE;
	case RANGE_EXTRA:
		p->no_extra = true;
		break;
	case RANGE_PROGRAM_ID:
		return PYSTACK_OTHER;
	}
	return SNAPSHOT_SHORT;
}

static size_t snapshot_bytes(const struct plan *p, size_t n_from)
{
	size_t sum = 0;
	for (size_t i = 0; i < n_from; i++)
		sum += p->from[i].iov_len;
	return sum;
}

static int ranges_read(struct pystacks *s, struct plan *p)
{
	if (p->bytes > s->snapshot_cap) {
		size_t cap = p->bytes + p->bytes / 2;
		char *more = realloc(s->snapshot, cap);
		if (!more)
			return -ENOMEM;
		s->snapshot = more;
		s->snapshot_cap = cap;
	}
	size_t done = 0, n_from = p->n_from - (s->program_id_addr && !s->program_id_open);
	if (s->source) {
		int e = s->source->copy(s->source->ctx, p->from, n_from, s->snapshot, &done);
		return e || done == snapshot_bytes(p, n_from) ? e : plan_correct(s, p, done);
	}
	for (size_t i = 0; i < n_from;) {
		size_t n = MIN(n_from - i, (size_t)IOV_MAX), want = 0, got = 0;
		for (size_t k = 0; k < n; k++)
			want += p->from[i + k].iov_len;
		struct iovec into = {s->snapshot + done, want};
		int e = remote_readv(s->r, &into, 1, &p->from[i], n, &got);
		if (e)
			return e;
		done += got;
		if (got < want)
			return plan_correct(s, p, done);
		i += n;
	}
	return 0;
}

static void chunk_put(struct plan *p, size_t at, const struct chunk *c)
{
	memmove(&p->chunks[at + 1], &p->chunks[at], (p->n_chunks - at) * sizeof(*c));
	p->chunks[at] = *c;
	p->n_chunks++;
}

/* The thread has gone on to a new chunk of its data stack. One that it had before is assumed to be unchanged. */
static void newest_follow(struct plan *p, const struct pins *pins)
{
	for (size_t i = 0; i < p->n_chunks; i++) {
		if (p->chunks[i].addr == pins->chunk)
			return;
	}
	p->built = false;
	if (p->left_chunk.addr != pins->chunk || p->n_chunks == 0 || p->n_chunks == PLAN_CHUNKS ||
	    p->left_chunk.previous != p->chunks[0].addr) {
		p->known = false;
		p->wanted = pins->chunk;
		return;
	}
	p->chunks[0].used_bytes = p->left_below_bytes;
	chunk_put(p, 0, &p->left_chunk);
	p->chunks[0].outer = p->chunks[0].first = p->chunks[0].second = p->chunks[0].third = NOT_COPIED;
}

/* Notes how far the newest chunk of the data stack is used. */
static void peaks_note(struct plan *p, const struct pins *pins)
{
	struct chunk *c = &p->chunks[0];
	if (p->n_chunks == 0 || pins->chunk != c->addr || pins->chunk_top < c->addr)
		return;
	uint64_t used = pins->chunk_top - c->addr;
	if (used > c->size_bytes)
		return;
	uint32_t before = newest_bytes(p);
	if (p->round % PEAK_ROUNDS == 0) {
		p->peak_bytes = p->peak_next_bytes;
		p->peak_next_bytes = 0;
	}
	c->used_bytes = (uint32_t)used;
	p->peak_next_bytes = MAX(p->peak_next_bytes, c->used_bytes);
	/* The plan is rebuilt when the use has grown, or has shrunk so far that copying costs more. */
	uint32_t want = newest_bytes(p);
	if (want > before || want + 2048 < before)
		p->built = false;
}

void plan_reach(const struct pystacks *s, struct plan *p, size_t chunk, uint32_t at)
{
	uint32_t need = (uint32_t)MIN((uint64_t)at + s->frame_hi, (uint64_t)p->chunks[chunk].size_bytes);
	if (chunk > 0)
		p->chunks[chunk].used_bytes = MAX(p->chunks[chunk].used_bytes, need);
	else
		p->peak_next_bytes = MAX(p->peak_next_bytes, need);
	p->built = false;
}

int plan_take(struct pystacks *s, struct plan *p, struct pins *ret)
{
	bool hot = p->round < p->hot_until;
	if (!p->built || p->built_hot != hot) {
		int e = plan_build(s, p, hot);
		if (e)
			return e;
	}
	int e = ranges_read(s, p);
	if (e)
		return e;
	if (s->program_id_open && load_u64(s->snapshot + p->program_id_at) != s->program_id)
		return PYSTACK_OTHER;
	s->program_id_open = false;
	const char *thread = s->snapshot + p->thread_at;
	e = pins_of_thread(s, p, thread, ret);
	if (e)
		return e;
	if (s->has_cframe) {
		uint64_t cframe = load_u64(thread + s->rt->off.thread.cframe - s->thread_lo);
		size_t i = 0;
		if (cframe == 0)
			ret->frame = 0;
		else if (cframe_known(p, cframe, &i))
			ret->frame = load_u64(s->snapshot + p->cframe_at[i]);
		else
			ret->bad_cframe = true;
	}
	if (s->has_chunks && ret->frame)
		newest_follow(p, ret);
	peaks_note(p, ret);
	return 0;
}

/* ---- looking up ---- */

/*
 * *ret_top: the bytes in use as the chunk itself states them, valid for older chunks; the thread state has it for the
 * newest.
 */
static bool chunk_read(struct pystacks *s, uint64_t addr, struct chunk *ret, uint64_t *ret_top, int *ret_error)
{
	char head[CHUNK_HEAD_BYTES];
	*ret_error = remote_read(s->r, addr, head, sizeof(head));
	if (*ret_error)
		return false;
	uint64_t size = load_u64(head + 8);
	if (size <= CHUNK_HEAD_BYTES || size > GIB)
		return false;
	*ret = (struct chunk){.addr = addr,
			      .previous = load_u64(head),
			      .size_bytes = (uint32_t)size,
			      .outer = NOT_COPIED,
			      .first = NOT_COPIED,
			      .second = NOT_COPIED,
			      .third = NOT_COPIED};
	*ret_top = load_u64(head + 16);
	return true;
}

static int chunks_list(struct pystacks *s, struct plan *p, const struct pins *pins)
{
	uint64_t addr = pins->chunk;
	size_t total = 0;
	p->n_chunks = 0;
	p->more_chunks = false;
	while (addr) {
		struct chunk c;
		uint64_t top, used;
		int e;
		if (!chunk_read(s, addr, &c, &top, &e))
			return e == WORLD_GONE || e == WORLD_DENIED || e < 0 ? e : 0;
		if (p->n_chunks == 0)
			used = sub_floor(pins->chunk_top, addr);
		else
			used = top < c.size_bytes ? CHUNK_HEAD_BYTES + top * 8 : c.size_bytes;
		if (used < CHUNK_HEAD_BYTES || used > c.size_bytes)
			used = MIN(c.size_bytes, UINT32_C(16384));
		if (p->n_chunks == PLAN_CHUNKS || total + used > PLAN_BYTES_MAX / 2) {
			p->more_chunks = true;
			break;
		}
		c.used_bytes = (uint32_t)used;
		total += used;
		p->chunks[p->n_chunks++] = c;
		addr = c.previous;
	}
	return 0;
}

/* The address of the thread's newest chunk now. */
static int chunk_now(struct pystacks *s, const struct plan *p, uint64_t *ret)
{
	int e = remote_u64(s->r, p->tstate + s->rt->off.thread.datastack_chunk, ret);
	return e == REMOTE_FAULT ? PYSTACK_STALE : e;
}

/* Keeps the newest chunk that the plan had until now: a thread that has left it soon comes back. */
static void left_chunk_keep(struct plan *p, const struct chunk *before, size_t n_before)
{
	if (n_before > 1 && p->n_chunks && before[0].addr != p->chunks[0].addr && before[1].addr == p->chunks[0].addr) {
		p->left_chunk = before[0];
		p->left_below_bytes = before[1].used_bytes;
	} else if (p->n_chunks == 0 || p->left_chunk.previous != p->chunks[0].addr) {
		p->left_chunk = (struct chunk){};
	}
}

/*
 * Adds the chunk that the last snapshot led to when the list lacks it: the thread moves between chunks, and since
 * CPython 3.14 a chunk that was left is put aside with no previous one. Otherwise only the oldest chunk has no previous
 * one although there was a chunk above it.
 */
static void chunk_join(struct pystacks *s, struct plan *p)
{
	struct chunk c;
	uint64_t addr = p->wanted, top;
	int e;
	p->wanted = 0;
	for (size_t i = 0; i < p->n_chunks; i++) {
		if (p->chunks[i].addr == addr)
			return;
	}
	if (addr == 0 || p->n_chunks == 0 || p->n_chunks == PLAN_CHUNKS || !chunk_read(s, addr, &c, &top, &e))
		return;
	c.used_bytes = MIN(c.size_bytes, JOIN_BYTES);
	if (c.previous == p->chunks[0].addr || (c.previous == 0 && top == 0)) {
		c.previous = p->chunks[0].addr;
		chunk_put(p, 0, &c);
	} else if (c.previous == 0 && p->n_chunks == 1 && p->chunks[0].previous == 0) {
		p->chunks[0].previous = addr;
		if (top < c.size_bytes / 8)
			c.used_bytes = MIN(c.size_bytes, (uint32_t)(CHUNK_HEAD_BYTES + top * 8));
		chunk_put(p, 1, &c);
	}
}

/*
 * A chunk that was left while it was read may have no previous one, like the oldest chunk: then the list is read again.
 */
static int chunks_look_up(struct pystacks *s, struct plan *p, const struct pins *pins)
{
	struct chunk before[2] = {p->chunks[0], p->chunks[1]};
	size_t n_before = p->n_chunks;
	struct pins now = *pins;
	for (int try = 0; try < LIST_CHUNKS_TRIES; try++) {
		int e = chunks_list(s, p, &now);
		uint64_t chunk;
		if (e == 0)
			e = chunk_now(s, p, &chunk);
		if (e)
			return e;
		if (chunk == now.chunk)
			break;
		now = (struct pins){.chunk = chunk};
	}
	chunk_join(s, p);
	left_chunk_keep(p, before, n_before);
	return 0;
}

int plan_look_up(struct pystacks *s, struct plan *p)
{
	char thread[THREAD_BYTES_MAX];
	struct pins pins;
	int e = remote_read(s->r, p->tstate + s->thread_lo, thread, s->thread_hi - s->thread_lo);
	if (e)
		return e == REMOTE_FAULT ? PYSTACK_STALE : e;
	e = pins_of_thread(s, p, thread, &pins);
	if (e)
		return e;
	if (s->has_cframe) {
		uint64_t cframe = load_u64(thread + s->rt->off.thread.cframe - s->thread_lo);
		size_t i;
		if (cframe)
			cframe_known(p, cframe, &i);
	}
	p->built = false;
	if (s->has_chunks) {
		uint64_t newest = p->n_chunks ? p->chunks[0].addr : 0;
		e = chunks_look_up(s, p, &pins);
		if (e)
			return e;
		/* The used depth is not read at one instant. */
		if (p->n_chunks == 0 || p->chunks[0].addr != newest)
			p->peak_bytes = p->peak_next_bytes = 0;
	}
	p->known = true;
	return 0;
}
