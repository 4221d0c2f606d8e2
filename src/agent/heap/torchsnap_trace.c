#include <stdlib.h>
#include <string.h>

#include "agent/heap/torchsnap_parts.h"
#include "base/buf.h"
#include "base/units.h"

/* Longest history that is read; older entries are left out. */
#define ENTRIES_MAX ((size_t)1000 * 1000)
#define OOMS_SHOWN 3
#define BRIEF_US 1024000u /* as the sampler's class of blocks that live less than a second */

enum action { OTHER, ALLOC, FREED, SEGMENT_NEW, SEGMENT_GONE, OOM };

struct snap_block {
	uint64_t address, size;
	size_t entry; /* index in entries, which have the frames */
	int64_t from_us, to_us; /* to: of the free, else of the last entry */
	bool freed, at_peak;
};

/* One entry that changes what is in use. */
struct turn {
	uint64_t address, size;
	size_t entry;
	int64_t time_us;
	bool comes;
};

struct replay {
	struct turn *turn; /* owned; sorted by address, then by time */
	size_t n;
	size_t peak_entry; /* index of the entry before which most was in use */
};

static void replay_done(struct replay *r)
{
	free(r->turn);
}

/*
 * Kind of an entry. A block stays in use until its streams have caught up, at free_completed; the states of blocks in
 * the snapshot say the same.
 */
static enum action action_of(const struct pickle_value *e)
{
	static const struct {
		const char *name;
		enum action action;
	} names[] = {
		{"alloc", ALLOC},		{"free_completed", FREED},	{"segment_alloc", SEGMENT_NEW},
		{"segment_map", SEGMENT_NEW},	{"segment_free", SEGMENT_GONE}, {"segment_unmap", SEGMENT_GONE},
		{"oom", OOM},
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (snap_text_is(e, "action", names[i].name))
			return names[i].action;
	return OTHER;
}

static int torchsnap_by_address(const void *x, const void *y)
{
	const struct turn *a = x, *b = y;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->entry < b->entry ? -1 : a->entry > b->entry;
}

static int by_number(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return a < b ? -1 : a > b;
}

static int by_entry(const void *x, const void *y)
{
	const struct snap_block *a = x, *b = y;
	return a->entry < b->entry ? -1 : a->entry > b->entry;
}

static void torchsnap_count(struct heapset_trace *sum, enum action a)
{
	sum->allocations += a == ALLOC;
	sum->frees += a == FREED;
	sum->segments_new += a == SEGMENT_NEW;
	sum->segments_gone += a == SEGMENT_GONE;
	sum->ooms += a == OOM;
}

/* Reads the entries that change what is in use, and finds the peak. */
static int turns_read(const struct pickle_value *entries, size_t first, uint64_t in_use_bytes, struct replay *r,
		      struct snap_trace *t)
{
	size_t n = pickle_len(entries);
	int64_t begun = 0, last = 0;
	r->turn = calloc(n - first + 1, sizeof(*r->turn));
	if (!r->turn)
		return -ENOMEM;
	for (size_t i = first; i < n; i++) {
		const struct pickle_value *e = pickle_at(entries, i);
		enum action a = action_of(e);
		int64_t time_us = (int64_t)MIN(snap_number(e, "time_us"), (uint64_t)INT64_MAX);
		begun = begun ? begun : time_us;
		last = time_us > last ? time_us : last;
		torchsnap_count(&t->sum, a);
		if (a == ALLOC || a == FREED)
			r->turn[r->n++] = (struct turn){.address = snap_number(e, "addr"),
							.size = snap_number(e, "size"),
							.entry = i,
							.time_us = time_us,
							.comes = a == ALLOC};
	}
	t->sum.seconds = begun && last > begun ? (double)(last - begun) / 1e6 : 0;
	/* Backwards, since the amount is known at the end. */
	uint64_t now = in_use_bytes;
	t->sum.peak_bytes = now;
	r->peak_entry = n;
	for (size_t i = r->n; i-- > 0;) {
		now = r->turn[i].comes ? sub_floor(now, r->turn[i].size) : add_cap(now, r->turn[i].size);
		if (now > t->sum.peak_bytes) {
			t->sum.peak_bytes = now;
			r->peak_entry = r->turn[i].entry; /* before this entry */
		}
	}
	return 0;
}

/* Pairs each allocation with the next free at its address. Other frees are of blocks from before the history. */
static int blocks_pair(struct replay *r, int64_t end_us, struct snap_trace *t)
{
	if (r->n > 0)
		qsort(r->turn, r->n, sizeof(*r->turn), torchsnap_by_address);
	t->block = calloc(r->n + 1, sizeof(*t->block));
	t->alive = calloc(r->n + 1, sizeof(*t->alive));
	if (!t->block || !t->alive)
		return -ENOMEM;
	for (size_t i = 0; i < r->n; i++) {
		const struct turn *a = &r->turn[i], *next = i + 1 < r->n ? a + 1 : NULL;
		if (!a->comes)
			continue;
		bool same = next && next->address == a->address, freed = same && !next->comes;
		size_t until = same ? next->entry : SIZE_MAX;
		t->block[t->n++] = (struct snap_block){.address = a->address,
						       .size = a->size,
						       .entry = a->entry,
						       .from_us = a->time_us,
						       .to_us = freed ? next->time_us : end_us,
						       .freed = freed,
						       .at_peak = a->entry < r->peak_entry && until >= r->peak_entry};
		if (!same)
			t->alive[t->n_alive++] = a->address;
	}
	if (t->n_alive > 0)
		qsort(t->alive, t->n_alive, sizeof(*t->alive), by_number);
	if (t->n > 0)
		qsort(t->block, t->n, sizeof(*t->block), by_entry);
	return 0;
}

int snap_trace_read(const struct pickle_value *entries, uint64_t in_use_bytes, struct snap_trace *ret)
{
	cleanup(replay_done) struct replay replay = {.turn = NULL};
	cleanup(snap_trace_done) struct snap_trace t = {.block = NULL};
	size_t n = pickle_len(entries), first = n > ENTRIES_MAX ? n - ENTRIES_MAX : 0;
	int64_t end_us = 0;
	t.skipped = first;
	int r = turns_read(entries, first, in_use_bytes, &replay, &t);
	for (size_t i = 0; i < replay.n; i++)
		end_us = replay.turn[i].time_us > end_us ? replay.turn[i].time_us : end_us;
	if (r == 0)
		r = blocks_pair(&replay, end_us, &t);
	if (r < 0)
		return r;
	t.sum.valid = n > 0;
	uint64_t known = 0;
	for (size_t i = 0; i < t.n; i++)
		known = t.block[i].at_peak ? add_cap(known, t.block[i].size) : known;
	t.sum.unknown_bytes = sub_floor(t.sum.peak_bytes, known);
	*ret = t;
	t = (struct snap_trace){.block = NULL};
	return 0;
}

void snap_trace_done(struct snap_trace *t)
{
	free(t->block);
	free(t->alive);
}

bool snap_trace_has(const struct snap_trace *t, uint64_t address)
{
	return t->n_alive > 0 && bsearch(&address, t->alive, t->n_alive, sizeof(*t->alive), by_number) != NULL;
}

/* ---- adding to the set ---- */

static struct heapset_figures figures_of(const struct snap_block *b)
{
	const struct heap_amount a = {.bytes = (double)b->size, .objects = 1, .samples = 1};
	uint64_t lived_us = b->to_us > b->from_us ? (uint64_t)(b->to_us - b->from_us) : 0;
	double lived_s = (double)lived_us / 1e6;
	struct heapset_figures f = {.total = a};
	size_t class = heap_life_class(lived_s);
	f.held = a;
	f.held.bytes = a.bytes * lived_s;
	if (b->at_peak)
		f.peak = a;
	if (b->freed) {
		f.temporary_share = lived_us < BRIEF_US ? 1 : 0;
		f.lives.freed_bytes[class] = a.bytes;
		f.lives.freed_byte_s = f.held.bytes;
		f.lifetime_bytes[class / 2] = a.bytes;
	} else {
		f.lives.alive_bytes[class] = a.bytes;
		f.lives.alive_byte_s = f.held.bytes;
		f.lives.oldest_s = lived_s;
	}
	return f;
}

static void oom_say(struct snap *s, const struct heapset_process *p, const struct pickle_value *e)
{
	char wanted[16], left[16], where[200] = "an unknown place";
	uint32_t ids[SNAP_FRAMES_MAX];
	size_t n = 0;
	if (*s->n_remarks == s->cap_remarks || snap_frames(s, e, ids, &n) < 0)
		return;
	/* The innermost line of the program itself, if it has one. */
	for (size_t i = 0; i < n; i++) {
		const struct frame *f = frametab_at(heapset_frames(s->set), ids[i]);
		if (f->kind != FRAME_PYTHON)
			continue;
		frame_label(f, where, sizeof(where));
		break;
	}
	/* An "oom" entry has the free bytes of the device in place of an address; newer releases name them. */
	uint64_t free_bytes = snap_number(e, pickle_get(e, "device_free") ? "device_free" : "addr");
	text_format(s->remarks[(*s->n_remarks)++], 300,
		    "device %d ran out of memory: %s were asked for by %s, %s of the device were free", p->device,
		    size_format(snap_number(e, "size"), wanted), where, size_format(free_bytes, left));
}

/* Remarks on the last failures, which caused the snapshot. */
static void ooms_say(struct snap *s, uint32_t process, const struct pickle_value *entries)
{
	size_t shown = 0;
	for (size_t i = pickle_len(entries); i-- > 0 && shown < OOMS_SHOWN;)
		if (action_of(pickle_at(entries, i)) == OOM) {
			oom_say(s, heapset_process_at(s->set, process), pickle_at(entries, i));
			shown++;
		}
}

/* Adds what was in use at the peak but was allocated before the history and freed in it. */
static int missing_add(struct snap *s, uint32_t process, uint64_t peak_bytes)
{
	struct heapset_process *p = heapset_process_at(s->set, process);
	const struct frame note = {
		.kind = FRAME_NOTE, .name = "[asked for before the history, freed in it]", .file = "", .module = ""};
	const struct heap_amount rest = {.bytes = (double)peak_bytes - p->peak.bytes, .samples = 1};
	const struct heapset_figures f = {.peak = rest};
	uint32_t id;
	if (!(rest.bytes >= 1))
		return 0;
	heap_amount_add(&p->peak, &rest);
	int r = frametab_intern(heapset_frames(s->set), &note, &id);
	return r < 0 ? r : heapset_add(s->set, process, &id, 1, &f);
}

int snap_trace_add(struct snap *s, uint32_t process, const struct pickle_value *entries, const struct snap_trace *t)
{
	uint32_t ids[SNAP_FRAMES_MAX];
	size_t n = 0;
	struct heapset_process *p = heapset_process_at(s->set, process);
	p->trace = t->sum;
	p->seconds = t->sum.seconds;
	for (size_t i = 0; i < t->n; i++) {
		const struct heapset_figures f = figures_of(&t->block[i]);
		int r = snap_frames(s, pickle_at(entries, t->block[i].entry), ids, &n);
		if (r == 0)
			r = heapset_add(s->set, process, ids, n, &f);
		if (r < 0)
			return r;
		p = heapset_process_at(s->set, process);
		heap_amount_add(&p->total, &f.total);
		heap_amount_add(&p->peak, &f.peak);
	}
	int r = missing_add(s, process, t->sum.peak_bytes);
	if (r < 0)
		return r;
	ooms_say(s, process, entries);
	if (t->skipped > 0 && *s->n_remarks < s->cap_remarks)
		text_format(s->remarks[(*s->n_remarks)++], 300,
			    "device %d: the %llu oldest entries of its history are left out", p->device,
			    (unsigned long long)t->skipped);
	return 0;
}
