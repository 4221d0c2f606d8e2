#include "agent/torchsnap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/units.h"

/* Snapshots with a long history of allocations have some hundred megabytes; only the segments are used. */
#define FILE_MAX (2 * GIB)
#define FRAMES_MAX 256
#define DEVICES_MAX 64
#define SEGMENTS_MAX ((size_t)10 * 1000 * 1000)

struct snap {
	struct heapset *set;
	uint32_t process[DEVICES_MAX]; /* + 1 */
	uint64_t blocks;
	uint64_t without_frames_bytes;
	uint32_t no_frames; /* id of the note */
};

bool torchsnap_is(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	return len >= 2 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5;
}

static uint64_t number(const struct pickle_value *dict, const char *key)
{
	int64_t v = 0;
	return pickle_i64(pickle_get(dict, key), &v) && v > 0 ? (uint64_t)v : 0;
}

static void text_of(const struct pickle_value *dict, const char *key, char *dst, size_t cap)
{
	struct span s = {"", 0};
	(void)pickle_text(pickle_get(dict, key), &s);
	span_copy(s, dst, cap);
}

static bool text_is(const struct pickle_value *dict, const char *key, const char *text)
{
	struct span s;
	return pickle_text(pickle_get(dict, key), &s) && span_eq(s, text);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);
	return n > k && strcmp(text + n - k, end) == 0;
}

/* {"name": "forward", "filename": "/app/model.py", "line": 12}; C++ frames name a source file or "??". */
static int frame_of(struct snap *s, const struct pickle_value *v, uint32_t *ret)
{
	char name[1024], file[1024];
	text_of(v, "name", name, sizeof(name));
	text_of(v, "filename", file, sizeof(file));
	bool python = ends_with(file, ".py") || file[0] == '<';
	if (strcmp(file, "??") == 0)
		file[0] = '\0';
	const struct frame f = {.kind = python ? FRAME_PYTHON : FRAME_NATIVE,
				.name = name[0] ? name : "[unknown]",
				.file = file,
				.module = "",
				.line = (int32_t)MIN(number(v, "line"), (uint64_t)INT32_MAX)};
	return frametab_intern(heapset_frames(s->set), &f, ret);
}

static int frames_of(struct snap *s, const struct pickle_value *block, uint32_t ids[static FRAMES_MAX], size_t *ret_n)
{
	const struct pickle_value *frames = pickle_get(block, "frames");
	size_t n = MIN(pickle_len(frames), (size_t)FRAMES_MAX);
	/* 2.0 kept them in a list of what the block was used for */
	if (n == 0) {
		const struct pickle_value *history = pickle_get(block, "history");
		frames = pickle_get(pickle_at(history, 0), "frames");
		n = MIN(pickle_len(frames), (size_t)FRAMES_MAX);
	}
	for (size_t i = 0; i < n; i++) {
		int r = frame_of(s, pickle_at(frames, i), &ids[i]);
		if (r < 0)
			return r;
	}
	if (n == 0)
		ids[n++] = s->no_frames;
	*ret_n = n;
	return 0;
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

static int block_add(struct snap *s, uint32_t process, const struct pickle_value *block)
{
	struct heapset_process *p = heapset_process_at(s->set, process);
	uint64_t size = number(block, "size");
	bool pending =
		text_is(block, "state", "active_pending_free") || text_is(block, "state", "active_awaiting_free");
	bool used = pending || text_is(block, "state", "active_allocated");
	uint32_t ids[FRAMES_MAX];
	size_t n = 0;
	s->blocks++;
	if (!used) {
		p->largest_free_bytes = MAX(p->largest_free_bytes, size);
		p->free_blocks += size > 0;
		return 0;
	}
	int r = frames_of(s, block, ids, &n);
	if (r < 0)
		return r;
	const struct heap_amount a = exact(size);
	const struct heapset_figures f = {.live = a, .peak = a, .total = a};
	if (n == 1 && ids[0] == s->no_frames)
		s->without_frames_bytes = add_cap(s->without_frames_bytes, size);
	p->allocated_bytes = add_cap(p->allocated_bytes, size);
	heap_amount_add(&p->live, &a);
	heap_amount_add(&p->peak, &a);
	heap_amount_add(&p->total, &a);
	return heapset_add(s->set, process, ids, n, &f);
}

static int segments_add(struct snap *s, const struct pickle_value *segments)
{
	size_t n = MIN(pickle_len(segments), SEGMENTS_MAX);
	/* one device after the other, as a set wants its processes */
	for (uint64_t device = 0; device < DEVICES_MAX; device++) {
		for (size_t i = 0; i < n; i++) {
			const struct pickle_value *segment = pickle_at(segments, i),
						  *blocks = pickle_get(segment, "blocks");
			uint32_t process;
			if (MIN(number(segment, "device"), (uint64_t)DEVICES_MAX - 1) != device)
				continue;
			int r = process_of(s, device, &process);
			if (r < 0)
				return r;
			struct heapset_process *p = heapset_process_at(s->set, process);
			p->segments++;
			p->reserved_bytes = add_cap(p->reserved_bytes, number(segment, "total_size"));
			for (size_t k = 0; k < pickle_len(blocks) && r == 0; k++)
				r = block_add(s, process, pickle_at(blocks, k));
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static void no_frames_note(const struct snap *s, char remarks[][300], size_t cap, size_t *n)
{
	char size[16];
	if (s->without_frames_bytes > 0 && *n < cap)
		text_format(remarks[(*n)++], 300,
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
	cleanup(snap_done) struct snap s = {.set = heapset_new(HEAPSET_TORCH)};
	const struct frame note = {.kind = FRAME_NOTE, .name = "[no frames recorded]", .file = "", .module = ""};
	const struct pickle_value *root = pickle_root(p), *segments = pickle_get(root, "segments");
	if (!s.set || frametab_intern(heapset_frames(s.set), &note, &s.no_frames) < 0)
		return -ENOMEM;
	/* memory_snapshot() itself gives the list alone */
	if (!segments && root->kind == PICKLE_LIST && pickle_get(pickle_at(root, 0), "blocks"))
		segments = root;
	if (!segments)
		return fault_set(f, -EBADMSG,
				 "the pickle has no 'segments': expected a memory snapshot, as "
				 "torch.cuda.memory._dump_snapshot writes it");
	int r = segments_add(&s, segments);
	if (r < 0)
		return r;
	no_frames_note(&s, remarks, cap, ret_n);
	*ret = take(&s.set);
	return 0;
}

/* False: nothing came before the cut. */
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
	int r = file_slurp(AT_FDCWD, path, FILE_MAX, &bytes, &len);
	if (r < 0)
		return fault_set(f, r, "%s cannot be read: %s", path, strerror(-r));
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
