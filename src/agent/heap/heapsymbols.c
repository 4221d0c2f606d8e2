#include "agent/heap/heapsymbols.h"

#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "model/stacks/stackmerge.h"
#include "sense/proc/maps.h"
#include "sense/proc/procfile.h"
#include "sense/python/pycode.h"

#define TEXT_MAX 4096

/* One address in a file, named once. */
struct place {
	uint64_t inode, offset;
	uint64_t path_hash;
	uint32_t frame; /* id + 1; 0: the slot is empty */
	bool loop, trampoline;
};

/* One code object, parsed. */
struct code {
	bool tried;
	struct pycode_line *lines; /* owned */
	size_t n_lines;
	char *name, *file; /* owned */
};

struct heapsymbols {
	const struct world *world;
	struct frametab *frames;
	struct offline *offline;
	struct place *places;
	size_t n_places, cap_places;
	uint32_t cut, broken, nowhere; /* ids of the notes */
	/* The current profile. */
	const struct heapregion *r;
	struct foreign_user user; /* whose it is: what it names is looked up with these rights */
	pid_t pid; /* of that user; 0: it does not run */
	struct maps maps; /* of the process, if it runs; read when a place is in no mapping that the profile knows */
	bool has_maps;
	uint8_t minor;
	struct code *codes;
	size_t n_codes;
};

static int note(struct heapsymbols *n, enum frame_kind kind, const char *text, uint32_t *ret)
{
	const struct frame f = {.kind = kind, .name = text, .file = "", .module = ""};
	return frametab_intern(n->frames, &f, ret);
}

struct heapsymbols *heapsymbols_new(const struct world *w, struct frametab *frames)
{
	struct heapsymbols *n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->world = w;
	n->frames = frames;
	n->offline = offline_new(w);
	if (!n->offline || note(n, FRAME_NOTE, "[frames left out]", &n->cut) < 0 ||
	    note(n, FRAME_NOTE, "[not readable further]", &n->broken) < 0 ||
	    note(n, FRAME_NATIVE, "[code of no file]", &n->nowhere) < 0)
		return heapsymbols_free(n);
	return n;
}

static void codes_done(struct heapsymbols *n)
{
	for (size_t i = 0; i < n->n_codes; i++) {
		free(n->codes[i].lines);
		free(n->codes[i].name);
		free(n->codes[i].file);
	}
	free(n->codes);
	n->codes = NULL;
	n->n_codes = 0;
}

struct heapsymbols *heapsymbols_free(struct heapsymbols *n)
{
	if (!n)
		return NULL;
	codes_done(n);
	maps_done(&n->maps);
	offline_free(n->offline);
	free(n->places);
	free(n);
	return NULL;
}

/*
 * The profile says itself of which process it is. A process of its owner's is believed, and one of a profile of root's
 * that has become another user since.
 */
static void whose(struct heapsymbols *n, const struct heapregion *r, pid_t pid)
{
	struct foreign_user running;
	n->user = r->owner;
	n->pid = 0;
	if (pid == 0 || procfile_user(n->world, pid, &running) != 0 ||
	    (running.uid != r->owner.uid && r->owner.uid != geteuid()))
		return;
	n->user = running;
	n->pid = pid;
}

int heapsymbols_begin(struct heapsymbols *n, const struct heapregion *r, pid_t pid)
{
	codes_done(n);
	maps_done(&n->maps);
	n->maps = (struct maps){.n = 0};
	n->has_maps = false;
	n->codes = calloc(r->n_codes + 1, sizeof(*n->codes));
	if (!n->codes)
		return -ENOMEM;
	n->n_codes = r->n_codes;
	n->r = r;
	whose(n, r, pid);
	n->minor = (uint8_t)(r->header.python_version >> 16);
	return 0;
}

size_t heapsymbols_missing(const struct heapsymbols *n, const char **ret_first)
{
	*ret_first = offline_missing_first(n->offline);
	return offline_missing(n->offline);
}

/* ---- native frames ---- */

static size_t place_slot(const struct place *p, size_t cap)
{
	return hash_slot(hash_mix(p->inode) ^ p->offset ^ p->path_hash, cap - 1);
}

static int places_grow(struct heapsymbols *n)
{
	size_t cap = n->cap_places ? n->cap_places * 2 : 4096;
	struct place *places = calloc(cap, sizeof(*places));
	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < n->cap_places; i++) {
		if (!n->places[i].frame)
			continue;
		size_t at = place_slot(&n->places[i], cap);
		while (places[at].frame)
			at = (at + 1) & (cap - 1);
		places[at] = n->places[i];
	}
	free(n->places);
	n->places = places;
	n->cap_places = cap;
	return 0;
}

/* Python packages are shown with their folder, other libraries by their name. */
static const char *module_text(const char *path, const char *module)
{
	return strstr(path, "-packages/") ? frame_file_short(path) : module;
}

static int place_name(struct heapsymbols *n, const struct heapregion_module *m, struct place *p)
{
	char path[TEXT_MAX];
	struct native_symbol s;
	span_copy(m->path, path, sizeof(path));
	const struct offline_place where = {.path = path,
					    .inode = m->inode,
					    .offset = p->offset,
					    .since_unix_ns =
						    (int64_t)MIN(n->r->header.begun_unix_ns, (uint64_t)INT64_MAX)};
	const struct rootfile_view view = {.pid = n->pid, .as = &n->user};
	offline_symbol(n->offline, &view, &where, &s);
	const struct frame f = {
		.kind = FRAME_NATIVE, .name = s.name, .file = "", .module = module_text(path, s.module)};
	uint32_t id;
	int r = frametab_intern(n->frames, &f, &id);
	if (r < 0)
		return r;
	p->frame = id + 1;
	p->loop = s.kind == NATIVE_EVAL_LOOP;
	p->trampoline = s.kind == NATIVE_TRAMPOLINE;
	return 0;
}

/*
 * The mapping of a place that the process has not written down yet: it does so at its next sample, if there is one. Not
 * of a place from before something was unmapped, where other code may be now.
 */
static bool module_of_now(struct heapsymbols *n, uint64_t pc, uint32_t epoch, struct heapregion_module *ret)
{
	if (n->pid <= 0 || epoch != n->r->header.module_epoch)
		return false;
	if (!n->has_maps && maps_read(n->world, n->pid, &n->maps) != 0)
		n->maps = (struct maps){.n = 0};
	n->has_maps = true;
	const struct map_row *row = n->maps.n ? maps_find(&n->maps, pc) : NULL;
	if (!row || !row->inode || !(row->flags & MAP_EXEC) || row->path[0] != '/')
		return false;
	*ret = (struct heapregion_module){.path = span_of(row->path),
					  .start = row->start,
					  .end = row->end,
					  .offset = row->offset,
					  .inode = row->inode};
	return true;
}

static int native_frame(struct heapsymbols *n, uint64_t addr, uint32_t epoch, uint32_t *ret, struct merge_native *kind)
{
	/* addr is the return address: that of the next instruction */
	uint64_t pc = addr ? addr - 1 : 0;
	const struct heapregion_module *m = heapregion_module(n->r, pc, epoch);
	struct heapregion_module now;
	*kind = (struct merge_native){.eval_loop = false};
	*ret = n->nowhere;
	if (!m && !module_of_now(n, pc, epoch, &now))
		return 0;
	m = m ? m : &now;
	struct place p = {.inode = m->inode,
			  .offset = pc - m->start + m->offset,
			  .path_hash = hash_bytes(HASH_START, m->path.p, m->path.len)};
	int r = n->n_places * 2 >= n->cap_places ? places_grow(n) : 0;
	if (r < 0)
		return r;
	size_t at = place_slot(&p, n->cap_places);
	for (; n->places[at].frame; at = (at + 1) & (n->cap_places - 1))
		if (n->places[at].inode == p.inode && n->places[at].offset == p.offset &&
		    n->places[at].path_hash == p.path_hash)
			break;
	if (!n->places[at].frame) {
		r = place_name(n, m, &p);
		if (r < 0)
			return r;
		n->places[at] = p;
		n->n_places++;
	}
	*ret = n->places[at].frame - 1;
	*kind = (struct merge_native){.eval_loop = n->places[at].loop, .trampoline = n->places[at].trampoline};
	return 0;
}

/* ---- Python frames ---- */

static char *heapsymbols_text(struct span s)
{
	size_t len = MIN(s.len, (size_t)TEXT_MAX);
	char *text = malloc(len + 1);
	if (text)
		span_copy((struct span){s.p, len}, text, len + 1);
	return text;
}

static int code_open(struct heapsymbols *n, uint32_t row, const struct code **ret)
{
	struct code *c = &n->codes[row];
	const struct heapregion_code *from = &n->r->codes[row];
	*ret = c;
	if (c->tried)
		return 0;
	c->tried = true;
	c->name = heapsymbols_text(from->name);
	c->file = heapsymbols_text(from->file);
	if (!c->name || !c->file)
		return -ENOMEM;
	if (from->lines.len == 0)
		return 0;
	return pylines_parse(n->minor, from->lines, from->first_line, &c->lines, &c->n_lines);
}

static int32_t line_of(const struct code *c, const struct heapregion_code *from, int32_t offset)
{
	if (offset < 0 || c->n_lines == 0)
		return MAX(from->first_line, 0);
	if (from->code_bytes && (uint32_t)offset >= from->code_bytes)
		return 0;
	size_t lo = 0, hi = c->n_lines; /* search the last row that begins at or before offset */
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (c->lines[mid].start <= (uint32_t)offset)
			lo = mid;
		else
			hi = mid;
	}
	return c->lines[lo].start <= (uint32_t)offset ? MAX(c->lines[lo].line, 0) : 0;
}

static int python_frame(struct heapsymbols *n, uint64_t word, uint32_t *ret)
{
	uint32_t row = HEAP_PYTHON_CODE(word);
	struct frame f = {.kind = FRAME_PYTHON, .name = "[code that there was no room for]", .file = "", .module = ""};
	if (row < n->n_codes && n->r->codes[row].valid) {
		const struct code *c;
		int r = code_open(n, row, &c);
		if (r < 0)
			return r;
		f.name = c->name[0] ? c->name : "[function without a name]";
		f.file = c->file;
		f.line = line_of(c, &n->r->codes[row], HEAP_PYTHON_OFFSET(word));
	}
	return frametab_intern(n->frames, &f, ret);
}

/* ---- merged stacks ---- */

struct side {
	uint32_t id[HEAP_FRAMES_MAX + 2];
	size_t n;
};

static int natives_of(struct heapsymbols *n, const struct heapregion_stack *s, struct side *ids,
		      struct merge_native *kinds)
{
	for (size_t i = 0; i < s->n_native; i++) {
		if (i == HEAP_FRAMES_INNER && (s->flags & HEAP_CUT_NATIVE)) {
			kinds[ids->n] = (struct merge_native){.eval_loop = false};
			ids->id[ids->n++] = n->cut;
		}
		int r = native_frame(n, s->native[i], s->module_epoch, &ids->id[ids->n], &kinds[ids->n]);
		if (r < 0)
			return r;
		ids->n++;
	}
	return 0;
}

static int pythons_of(struct heapsymbols *n, const struct heapregion_stack *s, struct side *ids,
		      struct merge_python *kinds)
{
	for (size_t i = 0; i < s->n_python; i++) {
		if (i == HEAP_FRAMES_INNER && (s->flags & HEAP_CUT_PYTHON)) {
			kinds[ids->n] = (struct merge_python){.entry = false};
			ids->id[ids->n++] = n->cut;
		}
		int r = python_frame(n, s->python[i], &ids->id[ids->n]);
		if (r < 0)
			return r;
		kinds[ids->n++] = (struct merge_python){.entry = HEAP_PYTHON_ENTRY(s->python[i])};
	}
	if (s->flags & HEAP_BROKEN_PYTHON) {
		kinds[ids->n] = (struct merge_python){.entry = false};
		ids->id[ids->n++] = n->broken;
	}
	return 0;
}

int heapsymbols_stack(struct heapsymbols *n, const struct heapregion_stack *s, uint32_t ids[static HEAPSYMBOLS_FRAMES],
		      size_t *ret_n, bool *ret_approximate)
{
	struct side native = {.n = 0}, python = {.n = 0};
	struct merge_native native_kinds[HEAP_FRAMES_MAX + 2];
	struct merge_python python_kinds[HEAP_FRAMES_MAX + 2];
	struct merge_item items[2 * (HEAP_FRAMES_MAX + 2)];
	int r = natives_of(n, s, &native, native_kinds);
	if (r == 0)
		r = pythons_of(n, s, &python, python_kinds);
	if (r < 0)
		return r;
	struct merge_result m = stackmerge(native_kinds, native.n, python_kinds, python.n, n->minor <= 10, items);
	for (size_t i = 0; i < m.n; i++)
		ids[i] = items[i].python ? python.id[items[i].index] : native.id[items[i].index];
	*ret_n = m.n;
	*ret_approximate = m.approximate && native.n > 0 && python.n > 0 && !(s->flags & HEAP_CUT_NATIVE);
	return 0;
}
