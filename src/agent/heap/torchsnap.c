#include "agent/heap/torchsnap_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/foreign_path.h"
#include "base/units.h"

/* Snapshots with a long history have some hundred megabytes. */
#define FILE_MAX (2 * GIB)
#define DEVICES_MAX ARRAY_SIZE(((struct snap *)0)->process)
#define SEGMENTS_MAX ((size_t)10 * 1000 * 1000)

bool torchsnap_is(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	return len >= 2 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5;
}

static int process_of(struct snap *s, uint64_t device, uint32_t *ret)
{
	if (device >= DEVICES_MAX)
		device = DEVICES_MAX - 1;
	if (!s->process[device]) {
		struct heapset_process p = {.rank = NO_RANK, .device = (int32_t)device};
		uint32_t id;
		TEXT_FORMAT(p.name, "device %u", (unsigned)device);
		int r = heapset_process_add(s->set, &p, &id);
		if (r < 0)
			return r;
		s->process[device] = id + 1;
	}
	*ret = s->process[device] - 1;
	return 0;
}

static struct heap_amount exact(uint64_t bytes)
{
	return (struct heap_amount){.bytes = (double)bytes, .objects = 1, .samples = 1};
}

static bool in_use(const struct pickle_value *block)
{
	return snap_text_is(block, "state", "active_allocated") ||
	       snap_text_is(block, "state", "active_pending_free") ||
	       snap_text_is(block, "state", "active_awaiting_free");
}

/* Adds a block. One that is in the history is counted there, so only its live bytes are added. */
static int block_add(struct snap *s, uint32_t process, const struct pickle_value *block, bool in_history)
{
	struct heapset_process *p = heapset_process_at(s->set, process);
	uint64_t size = snap_number(block, "size");
	uint32_t ids[SNAP_FRAMES_MAX];
	size_t n = 0;
	s->blocks++;
	if (!in_use(block)) {
		p->largest_free_bytes = MAX(p->largest_free_bytes, size);
		p->free_blocks += size > 0;
		return 0;
	}
	int r = snap_frames(s, block, ids, &n);
	if (r < 0)
		return r;
	const struct heap_amount a = exact(size), none = {.bytes = 0};
	const struct heapset_figures f = {.live = a, .peak = in_history ? none : a, .total = in_history ? none : a};
	if (n == 1 && ids[0] == s->no_frames)
		s->without_frames_bytes = add_cap(s->without_frames_bytes, size);
	p->allocated_bytes = add_cap(p->allocated_bytes, size);
	heap_amount_add(&p->live, &a);
	heap_amount_add(&p->peak, &f.peak);
	heap_amount_add(&p->total, &f.total);
	return heapset_add(s->set, process, ids, n, &f);
}

static bool of_device(const struct pickle_value *segment, uint64_t device)
{
	return MIN(snap_number(segment, "device"), (uint64_t)DEVICES_MAX - 1) == device;
}

static int segment_add(struct snap *s, uint32_t process, const struct pickle_value *segment, const struct snap_trace *t)
{
	const struct pickle_value *blocks = pickle_get(segment, "blocks");
	struct heapset_process *p = heapset_process_at(s->set, process);
	/* Older releases do not give addresses of blocks, which lie one after the other. */
	uint64_t address = snap_number(segment, "address");
	int r = 0;
	p->segments++;
	p->reserved_bytes = add_cap(p->reserved_bytes, snap_number(segment, "total_size"));
	for (size_t k = 0; k < pickle_len(blocks) && r == 0; k++) {
		const struct pickle_value *block = pickle_at(blocks, k);
		uint64_t own = snap_number(block, "address"), size = snap_number(block, "size");
		r = block_add(s, process, block, snap_trace_has(t, own ? own : address));
		address = add_cap(address, size);
	}
	return r;
}

static uint64_t in_use_bytes(const struct pickle_value *segments, size_t n, uint64_t device)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		const struct pickle_value *blocks = pickle_get(pickle_at(segments, i), "blocks");
		for (size_t k = 0; of_device(pickle_at(segments, i), device) && k < pickle_len(blocks); k++)
			if (in_use(pickle_at(blocks, k)))
				sum = add_cap(sum, snap_number(pickle_at(blocks, k), "size"));
	}
	return sum;
}

static int device_add(struct snap *s, const struct pickle_value *segments, const struct pickle_value *history,
		      uint64_t device)
{
	size_t n = MIN(pickle_len(segments), SEGMENTS_MAX), mine = 0;
	cleanup(snap_trace_done) struct snap_trace t = {.block = NULL};
	uint32_t process;
	for (size_t i = 0; i < n; i++)
		mine += of_device(pickle_at(segments, i), device);
	if (mine == 0 && pickle_len(history) == 0)
		return 0;
	int r = process_of(s, device, &process);
	if (r == 0)
		r = snap_trace_read(history, in_use_bytes(segments, n, device), &t);
	for (size_t i = 0; i < n && r == 0; i++)
		if (of_device(pickle_at(segments, i), device))
			r = segment_add(s, process, pickle_at(segments, i), &t);
	return r == 0 && t.sum.valid ? snap_trace_add(s, process, history, &t) : r;
}

static int devices_add(struct snap *s, const struct pickle_value *segments, const struct pickle_value *histories)
{
	int r = 0;
	/* a set takes the sites of one process after the other */
	for (uint64_t device = 0; device < DEVICES_MAX && r == 0; device++)
		r = device_add(s, segments, pickle_at(histories, device), device);
	return r;
}

static void no_frames_note(const struct snap *s)
{
	char size[16];
	if (s->without_frames_bytes > 0 && *s->n_remarks < s->cap_remarks)
		text_format(s->remarks[(*s->n_remarks)++], 300,
			    "%s are in blocks without frames: call torch.cuda.memory._record_memory_history() before "
			    "they are "
			    "allocated",
			    size_format(s->without_frames_bytes, size));
}

static void snap_done(struct snap *s)
{
	heapset_free(s->set);
}

int torchsnap_parse(const struct pickle *p, struct heapset **ret, char remarks[][300], size_t cap, size_t *ret_n,
		    struct fault *f)
{
	cleanup(snap_done) struct snap s = {
		.set = heapset_new(HEAPSET_TORCH), .remarks = remarks, .cap_remarks = cap, .n_remarks = ret_n};
	const struct frame note = {.kind = FRAME_NOTE, .name = "[no frames recorded]", .file = "", .module = ""};
	const struct pickle_value *root = pickle_root(p), *segments = pickle_get(root, "segments");
	if (!s.set || frametab_intern(heapset_frames(s.set), &note, &s.no_frames) < 0)
		return -ENOMEM;
	/* memory_snapshot() returns the list alone */
	if (!segments && root->kind == PICKLE_LIST && pickle_get(pickle_at(root, 0), "blocks"))
		segments = root;
	if (!segments)
		return fault_set(f, -EBADMSG,
				 "the pickle has no 'segments': expected a memory snapshot, as "
				 "torch.cuda.memory._dump_snapshot writes it");
	int r = devices_add(&s, segments, pickle_get(root, "device_traces"));
	if (r < 0)
		return r;
	no_frames_note(&s);
	*ret = take(&s.set);
	return 0;
}

/* Marks all processes as cut. False: nothing came before the cut. */
static bool cut_mark(struct heapset *set)
{
	size_t n, n_sites;
	(void)heapset_processes(set, &n);
	(void)heapset_sites(set, &n_sites);
	for (size_t i = 0; i < n; i++)
		heapset_process_at(set, (uint32_t)i)->cut = true;
	return n_sites > 0;
}

int torchsnap_read(const char *path, struct heapset **ret, char remarks[][300], size_t cap, size_t *ret_n,
		   struct fault *f)
{
	cleanup(freep) char *bytes = NULL;
	cleanup(pickle_freep) struct pickle *p = NULL;
	size_t len = 0;
	struct fault why = {.text = ""};
	int r = foreign_path_slurp(path, FILE_MAX, &bytes, &len);
	if (r != 0)
		return fault_set(f, r < 0 ? r : -EINVAL, "%s cannot be read: %s", path, foreign_path_why(r));
	int e = pickle_parse((struct span){bytes, len}, NULL, &p, &why);
	if (e < 0)
		return e;
	if (e == PICKLE_FOREIGN)
		return fault_set(f, -EBADMSG, "%s: %s", path, why.text);
	const struct fault cut = why;
	cleanup(heapset_freep) struct heapset *set = NULL;
	r = torchsnap_parse(p, &set, remarks, cap, ret_n, &why);
	if (r < 0 && r != -EBADMSG)
		return r;
	if (e && (r < 0 || !cut_mark(set)))
		return fault_set(f, -EBADMSG, "%s is cut off before anything that is in use: %s", path, cut.text);
	if (r < 0)
		return fault_set(f, r, "%s: %s", path, why.text);
	*ret = take(&set);
	if (e && *ret_n < cap)
		text_format(remarks[(*ret_n)++], 300, "the snapshot is not whole: %.200s; what came before is shown",
			    cut.text);
	return 0;
}
