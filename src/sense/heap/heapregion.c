#include "sense/heap/heapregion.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign.h"

/* The header of the first version 1; files with a header that is shorter than ours are still read. */
#define HEADER_LEAST 2080
/* The most passes over a file whose peak is renewed while it is read. */
#define PASSES_MAX 3
#define GID_NOBODY ((gid_t)65534)

/* Tables in the header's order, with the smallest size of a row: that of the first version 1. */
enum table { T_STACK_INDEX, T_STACKS, T_FRAMES, T_LIVE_PTR, T_LIVE, T_CODES, T_MODULES, T_BYTES, TABLES };
static const struct {
	const char *name;
	uint32_t item_bytes;
} tables[TABLES] = {
	{"stack_index", 4}, {"stacks", 256}, {"frames", 8},   {"live_ptr", 8},
	{"live", 32},	    {"codes", 64},   {"modules", 64}, {"bytes", 1},
};

struct parser {
	const uint8_t *image;
	size_t len;
	const struct heap_table *table; /* TABLES of them */
	uint32_t *stack_of; /* row of stacks: index in ret->stacks + 1 */
	const uint64_t *again;
	size_t n_again;
	struct heapregion *ret;
};

static int damaged(struct fault *f, const char *what)
{
	return fault_set(
		f, HEAPREGION_DAMAGED,
		"the heap profile is damaged: %s; it was cut off or written over, so take an older copy or run the "
		"job again",
		what);
}

bool heapregion_is(const void *bytes, size_t len)
{
	uint64_t magic;
	if (len < sizeof(magic))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == HEAP_MAGIC;
}

static const struct heap_table *table_of(const struct heap_header *h)
{
	return &h->table.stack_index;
}

static void end_text(char *text, size_t cap)
{
	text[cap - 1] = '\0';
}

static int check_header(const uint8_t *image, size_t len, struct heap_header *h, struct fault *f)
{
	if (!heapregion_is(image, len))
		return fault_set(f, HEAPREGION_NOT,
				 "this is no heap profile: it does not begin as one; expected a .heap file that 'vigil "
				 "run --heap' "
				 "made");
	if (len < HEADER_LEAST)
		return damaged(f, "it ends in its header");
	memset(h, 0, sizeof(*h));
	memcpy(h, image, HEADER_LEAST);
	if (h->version != HEAP_VERSION)
		return fault_set(f, HEAPREGION_VERSION,
				 "the heap profile has version %u, and this vigil reads version %u; use the vigil that "
				 "the job was "
				 "started with",
				 h->version, HEAP_VERSION);
	if (h->header_bytes < HEADER_LEAST || h->header_bytes > len)
		return damaged(f, "the length of its header is not possible");
	memcpy(h, image, MIN(sizeof(*h), (size_t)h->header_bytes));
	if (h->file_bytes > HEAP_FILE_BYTES_MAX || h->file_bytes < h->header_bytes)
		return damaged(f, "its own length is not possible");
	if (h->file_bytes > len)
		return damaged(f, "it is shorter than it says");
	end_text(h->comm, sizeof(h->comm));
	end_text(h->exe, sizeof(h->exe));
	end_text(h->allocator, sizeof(h->allocator));
	end_text(h->command, sizeof(h->command));
	return 0;
}

static int check_tables(const struct heap_header *h, struct fault *f)
{
	const struct heap_table *t = table_of(h);
	for (size_t i = 0; i < TABLES; i++) {
		char what[80];
		bool fits = t[i].at % 8 == 0 && t[i].at >= h->header_bytes && t[i].at <= h->file_bytes &&
			    t[i].item_bytes >= tables[i].item_bytes &&
			    (uint64_t)t[i].n * t[i].item_bytes <= h->file_bytes - t[i].at;
		/* Rows are read in place as 64-bit words. */
		fits = fits && (i == T_BYTES || i == T_STACK_INDEX || t[i].item_bytes % 8 == 0);
		fits = fits && (i != T_BYTES || t[i].item_bytes == 1);
		if (fits)
			continue;
		TEXT_FORMAT(what, "its table '%s' does not lie within it", tables[i].name);
		return damaged(f, what);
	}
	return t[T_LIVE].n == t[T_LIVE_PTR].n ? 0 : damaged(f, "its tables of live samples do not fit together");
}

static const void *row(const struct parser *p, enum table which, uint32_t i)
{
	return p->image + p->table[which].at + (size_t)i * p->table[which].item_bytes;
}

static uint32_t rows(const struct parser *p, enum table which)
{
	return (uint32_t)MIN((uint64_t)p->table[which].n, p->table[which].used);
}

static struct span text_at(struct parser *p, uint32_t at, uint32_t len)
{
	if (at > p->table[T_BYTES].n || len > p->table[T_BYTES].n - at) {
		p->ret->skipped.bad++;
		return (struct span){"", 0};
	}
	return (struct span){(const char *)p->image + p->table[T_BYTES].at + at, len};
}

/* Returns 0 for an implausible sum: one that was below 0 for a moment, or that a hostile writer made. */
static uint64_t sane(uint64_t v)
{
	return v >> 62 ? 0 : v;
}

static struct heapregion_sum sum_of(const struct heap_sum *s)
{
	return (struct heapregion_sum){
		.bytes = sane(s->bytes),
		.objects = (sane(s->count_256) + 128) / 256,
		.variance = 1024.0 * (double)sane(s->variance),
		.chance_bytes = -1,
		.samples = sane(s->samples),
	};
}

static void sum_add(struct heapregion_sum *to, const struct heapregion_sum *s)
{
	to->bytes = add_cap(to->bytes, s->bytes);
	to->objects = add_cap(to->objects, s->objects);
	to->samples = add_cap(to->samples, s->samples);
	to->variance += s->variance;
	to->lean += s->lean;
	to->chance_bytes = to->chance_bytes < 0 || s->chance_bytes < 0 ? -1 : to->chance_bytes + s->chance_bytes;
}

/* Reads row i. False if the row is empty, being written, or bad. */
static bool stack_row(struct parser *p, uint32_t i, struct heapregion_stack *ret)
{
	struct heap_stack s = {.state = HEAP_ROW_EMPTY};
	size_t len = MIN(sizeof(s), (size_t)p->table[T_STACKS].item_bytes);
	memcpy(&s, row(p, T_STACKS, i), len);
	uint32_t n_frames = p->table[T_FRAMES].n;
	if (i >= HEAP_STACKS_RESERVED && s.state != HEAP_ROW_READY) {
		p->ret->skipped.unpublished += s.state == HEAP_ROW_WRITING;
		p->ret->skipped.bad += s.state != HEAP_ROW_WRITING && s.state != HEAP_ROW_EMPTY;
		return false;
	}
	if (i < HEAP_STACKS_RESERVED) {
		s.n_native = s.n_python = 0;
		s.domain = (uint8_t)MIN(i, (uint32_t)HEAP_DOMAINS - 1);
	}
	uint32_t n = (uint32_t)s.n_native + s.n_python;
	if (s.n_native > HEAP_FRAMES_MAX || s.n_python > HEAP_FRAMES_MAX || s.domain >= HEAP_DOMAINS ||
	    (n > 0 && (s.frames_at > n_frames || n > n_frames - s.frames_at))) {
		p->ret->skipped.bad++;
		return false;
	}
	const uint64_t *frames = n ? row(p, T_FRAMES, s.frames_at) : NULL;
	*ret = (struct heapregion_stack){.row = i,
					 .domain = s.domain,
					 .flags = s.flags,
					 .n_native = s.n_native,
					 .n_python = s.n_python,
					 .native = frames,
					 .python = frames ? frames + s.n_native : NULL,
					 .module_epoch = s.module_epoch,
					 .tid = s.tid,
					 .total = sum_of(&s.total),
					 .peak = sum_of(&s.peak[p->ret->header.peak_which & 1]),
					 .has_lived = len == sizeof(s),
					 .lived_byte_s = (double)sane(s.lived_kib_ms) * 1024 / 1000};
	for (size_t k = 0; k < HEAP_LIFETIMES; k++) {
		ret->freed_bytes[k] = sane(s.freed_bytes[k]);
		ret->freed_early_bytes[k] = MIN(sane(s.freed_early_bytes[k]), ret->freed_bytes[k]);
	}
	return true;
}

static int stacks_parse(struct parser *p)
{
	/* The reserved rows exist from the start. */
	uint32_t n = MIN(MAX(rows(p, T_STACKS), (uint32_t)HEAP_STACKS_RESERVED), p->table[T_STACKS].n);
	struct heapregion *ret = p->ret;
	ret->stacks = calloc((size_t)n + 1, sizeof(*ret->stacks));
	p->stack_of = calloc((size_t)n + 1, sizeof(*p->stack_of));
	if (!ret->stacks || !p->stack_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		if (!stack_row(p, i, &ret->stacks[ret->n_stacks]))
			continue;
		const struct heapregion_stack *s = &ret->stacks[ret->n_stacks++];
		p->stack_of[i] = (uint32_t)ret->n_stacks;
		sum_add(&ret->all_total, &s->total);
		sum_add(&ret->all_peak, &s->peak);
	}
	ret->peak_mono_ns = ret->header.peak_mono_ns[ret->header.peak_which & 1];
	ret->highest = sum_of(&ret->header.highest);
	return 0;
}

static void live_add(struct heapregion_stack *s, const struct heap_live *l)
{
	double weight = (double)l->weight, size = (double)l->size;
	double p = weight > 0 ? MIN(size / weight, 1.0) : 1.0;
	const struct heapregion_sum one = {
		.bytes = l->weight,
		/* A block of 0 bytes is sampled with the probability of one byte. */
		.objects = l->size > 0 ? (uint64_t)(1 / MAX(p, 1e-9) + 0.5) : 1,
		.variance = weight * (double)sub_floor(l->weight, l->size),
		.chance_bytes = weight * (1 - p),
		.lean = weight * (1 - p) * weight * (1 - p),
		.samples = 1,
	};
	sum_add(&s->live, &one);
}

static int live_parse(struct parser *p)
{
	struct heapregion *ret = p->ret;
	uint32_t n = p->table[T_LIVE].n, n_stacks = p->table[T_STACKS].n;
	size_t there = 0;
	for (uint32_t i = 0; i < n; i++)
		there += *(const uint64_t *)row(p, T_LIVE_PTR, i) >= HEAP_SLOT_FIRST_PTR;
	ret->live = calloc(there + 1, sizeof(*ret->live));
	if (!ret->live)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t ptr = *(const uint64_t *)row(p, T_LIVE_PTR, i);
		struct heap_live l;
		if (ptr < HEAP_SLOT_FIRST_PTR) {
			ret->skipped.unpublished += ptr == HEAP_SLOT_WRITING;
			continue;
		}
		if (p->again && i < p->n_again && p->again[i] != ptr) {
			ret->skipped.changed++;
			continue;
		}
		memcpy(&l, row(p, T_LIVE, i), sizeof(l));
		bool known = l.stack < n_stacks && l.stack < MAX(rows(p, T_STACKS), (uint32_t)HEAP_STACKS_RESERVED);
		uint32_t stack = known ? p->stack_of[l.stack] : 0;
		if (!stack || l.weight < l.size || l.weight >> 62) {
			ret->skipped.bad++;
			continue;
		}
		ret->live[ret->n_live++] =
			(struct heapregion_live){ptr, l.size, l.weight, l.born_mono_ns, stack - 1, l.tid};
		live_add(&ret->stacks[stack - 1], &l);
	}
	for (size_t i = 0; i < ret->n_stacks; i++)
		sum_add(&ret->all_live, &ret->stacks[i].live);
	return 0;
}

static int codes_parse(struct parser *p)
{
	uint32_t n = p->table[T_CODES].n;
	p->ret->codes = calloc((size_t)n + 1, sizeof(*p->ret->codes));
	if (!p->ret->codes)
		return -ENOMEM;
	p->ret->n_codes = n;
	for (uint32_t i = 0; i < n; i++) {
		struct heap_code c;
		memcpy(&c, row(p, T_CODES, i), sizeof(c));
		p->ret->skipped.unpublished += c.state == HEAP_ROW_WRITING;
		if (c.state != HEAP_ROW_READY)
			continue;
		p->ret->codes[i] = (struct heapregion_code){.valid = true,
							    .first_line = c.first_line,
							    .name = text_at(p, c.name_at, c.name_len),
							    .file = text_at(p, c.file_at, c.file_len),
							    .lines = text_at(p, c.table_at, c.table_len),
							    .code_bytes = c.code_len};
	}
	return 0;
}

static int modules_parse(struct parser *p)
{
	uint32_t n = rows(p, T_MODULES);
	p->ret->modules = calloc((size_t)n + 1, sizeof(*p->ret->modules));
	if (!p->ret->modules)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct heap_module m;
		memcpy(&m, row(p, T_MODULES, i), sizeof(m));
		p->ret->skipped.unpublished += m.state == HEAP_ROW_WRITING;
		if (m.state != HEAP_ROW_READY)
			continue;
		if (m.end <= m.start) {
			p->ret->skipped.bad++;
			continue;
		}
		p->ret->modules[p->ret->n_modules++] = (struct heapregion_module){
			.since = m.since,
			.until = m.until,
			.path = text_at(p, m.path_at, m.path_len),
			.dev_major = m.dev_major,
			.dev_minor = m.dev_minor,
			.start = m.start,
			.end = m.end,
			.offset = m.offset,
			.inode = m.inode,
		};
	}
	return 0;
}

static void parser_done(struct parser *p)
{
	free(p->stack_of);
}

int heapregion_parse(const uint8_t *image, size_t len, const uint64_t *again, size_t n_again, struct heapregion *ret,
		     struct fault *f)
{
	struct heapregion r = {.image = NULL};
	cleanup(parser_done) struct parser p = {
		.image = image, .len = len, .again = again, .n_again = n_again, .ret = &r};
	int e = check_header(image, len, &r.header, f);
	if (e == 0)
		e = check_tables(&r.header, f);
	if (e)
		return e;
	p.table = table_of(&r.header);
	e = stacks_parse(&p);
	if (e == 0)
		e = live_parse(&p);
	if (e == 0)
		e = codes_parse(&p);
	if (e == 0)
		e = modules_parse(&p);
	if (e) {
		heapregion_done(&r);
		return e;
	}
	*ret = r;
	return 0;
}

void heapregion_done(struct heapregion *r)
{
	free(r->stacks);
	free(r->live);
	free(r->codes);
	free(r->modules);
	free(r->image);
	*r = (struct heapregion){.image = NULL};
}

const struct heapregion_module *heapregion_module(const struct heapregion *r, uint64_t addr, uint32_t epoch)
{
	for (size_t i = r->n_modules; i > 0; i--) {
		const struct heapregion_module *m = &r->modules[i - 1];
		if (addr >= m->start && addr < m->end && m->since <= epoch && epoch < m->until)
			return m;
	}
	return NULL;
}

/* ---- reading ---- */

static int read_at(int fd, uint8_t *image, uint64_t at, uint64_t len)
{
	size_t got;
	return file_read_from(fd, at, (char *)image + at, (size_t)len, &got);
}

/* Bytes of a table that can hold rows. In tables that are filled in order these end at `used`. */
static uint64_t table_bytes(const struct heap_table *t, enum table which)
{
	bool ordered = which == T_STACKS || which == T_FRAMES || which == T_MODULES || which == T_BYTES;
	uint64_t n = ordered ? MIN((uint64_t)t->n, MAX(t->used, (uint64_t)HEAP_STACKS_RESERVED)) : t->n;
	return n * t->item_bytes;
}

static int tables_read(int fd, uint8_t *image, const struct heap_header *h)
{
	/* Addresses come first, so that all rows of a sample are read after it was published. */
	static const enum table order[] = {T_LIVE_PTR, T_LIVE, T_STACKS, T_FRAMES, T_CODES, T_MODULES, T_BYTES};
	const struct heap_table *t = table_of(h);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		int r = read_at(fd, image, t[order[i]].at, table_bytes(&t[order[i]], order[i]));
		if (r < 0)
			return r;
	}
	return 0;
}

/* Reads the file once. *ret_again: the live addresses at the end. *ret_renewed: the peak was renewed meanwhile. */
static int pass_read(int fd, uint8_t *image, size_t len, uint64_t **ret_again, size_t *ret_n, bool *ret_renewed,
		     struct fault *f)
{
	struct heap_header before, after;
	int r = read_at(fd, image, 0, MIN(len, sizeof(before) + 4096));
	if (r == 0)
		r = check_header(image, len, &before, f);
	if (r == 0)
		r = check_tables(&before, f);
	if (r == 0)
		r = tables_read(fd, image, &before);
	if (r)
		return r;
	const struct heap_table *t = &before.table.live_ptr;
	cleanup(freep) uint64_t *again = calloc((size_t)t->n + 1, sizeof(*again));
	size_t got;
	if (!again)
		return -ENOMEM;
	bool dense = t->item_bytes == sizeof(*again);
	r = dense ? file_read_from(fd, t->at, (char *)again, (size_t)t->n * sizeof(*again), &got) : 0;
	/*
	 * The first header counts, since rows added meanwhile were not read; the second only tells if the peak
	 * changed.
	 */
	if (r == 0)
		r = file_read_from(fd, 0, (char *)&after, sizeof(after), &got);
	if (r < 0)
		return r;
	*ret_renewed = after.peak_which != before.peak_which ||
		       memcmp(after.peak_mono_ns, before.peak_mono_ns, sizeof(after.peak_mono_ns)) != 0;
	*ret_n = dense ? t->n : 0;
	*ret_again = take(&again);
	return 0;
}

static int passes_read(int fd, size_t len, struct heapregion *ret, struct fault *f)
{
	/* Pages that nothing is read into take no memory. */
	cleanup(freep) uint8_t *image = calloc(1, len);
	if (!image)
		return -ENOMEM;
	for (int n = 1;; n++) {
		cleanup(freep) uint64_t *again = NULL;
		size_t n_again = 0;
		bool renewed = false;
		int r = pass_read(fd, image, len, &again, &n_again, &renewed, f);
		if (r)
			return r;
		if (renewed && n < PASSES_MAX)
			continue;
		r = heapregion_parse(image, len, again, n_again, ret, f);
		if (r == 0) {
			ret->peak_torn = renewed;
			ret->image = take(&image);
			ret->image_len = len;
		}
		return r;
	}
}

/* A group of a copied profile's user is not known, so nobody's. */
static void owner_fill(const struct stat *st, uint32_t copied_of, struct foreign_user *ret)
{
	*ret = (struct foreign_user){.uid = st->st_uid, .gid = st->st_gid};
	if (copied_of && st->st_uid == geteuid())
		*ret = (struct foreign_user){.uid = copied_of - 1, .gid = GID_NOBODY};
}

int heapregion_copy(int from, int to_dir, const char *to_name)
{
	struct heap_header h;
	struct stat st;
	struct foreign_user owner;
	if (fstat(from, &st) < 0)
		return -errno;
	if (st.st_size > (off_t)HEAP_FILE_BYTES_MAX)
		return -EFBIG;
	if (pread(from, &h, sizeof(h), 0) < (ssize_t)HEADER_LEAST)
		return file_copy_fd(from, to_dir, to_name, NULL); /* no reader takes it for a profile */
	owner_fill(&st, h.copied_of, &owner);
	h.copied_of = owner.uid == geteuid() ? 0 : owner.uid + 1;
	const struct file_patch whose = {offsetof(struct heap_header, copied_of), &h.copied_of, sizeof(h.copied_of)};
	return file_copy_fd(from, to_dir, to_name, &whose);
}

int heapregion_read(int dirfd, const char *path, struct heapregion *ret, struct fault *f)
{
	struct foreign_user owner;
	const bool in_folder = dirfd >= 0;
	const struct foreign_place at = {.dirfd = dirfd,
					 .as = in_folder ? foreign_owner(dirfd, &owner) : NULL,
					 .flags = in_folder ? 0 : FOREIGN_LINKS | FOREIGN_TYPED};
	cleanup(closep) int fd = -1;
	struct stat st;
	int r = foreign_open(&at, path, &fd);
	if (r)
		return r == FOREIGN_OTHER ? -EINVAL : r;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size < (off_t)sizeof(uint64_t))
		return fault_set(f, HEAPREGION_NOT, "this is no heap profile: it has only %lld bytes",
				 (long long)st.st_size);
	/* At most HEAP_FILE_BYTES_MAX bytes are read, even of a longer file. */
	r = passes_read(fd, (size_t)MIN(st.st_size, (off_t)HEAP_FILE_BYTES_MAX), ret, f);
	if (r)
		return r;
	ret->inode = st.st_ino;
	owner_fill(&st, ret->header.copied_of, &ret->owner);
	return 0;
}

const char *heapregion_lost_words(enum heap_lost why)
{
	switch (why) {
	case HEAP_LOST_LIVE_FULL:
		return "no room among live samples";
	case HEAP_LOST_NO_SPACE:
		return "no space on the disk";
	case HEAP_LOST_NESTED:
		return "asked for inside of the sampler or a signal handler";
	case HEAP_LOST_STACK_FULL:
		return "no room for another stack";
	case HEAP_LOST_AT_BEGIN:
		return "another thread made the profile";
	case HEAP_LOST_REASONS:
		break;
	}
	return "unknown";
}

const char *heapregion_why_words(enum heap_why why)
{
	switch (why) {
	case HEAP_FINE:
		return "fine";
	case HEAP_WHY_NO_DIR:
		return "the folder for profiles cannot be opened from inside the job";
	case HEAP_WHY_NOT_MADE:
		return "its file cannot be made there (read-only, denied, or no descriptor left)";
	case HEAP_WHY_NO_SPACE:
		return "no space for its file, or a file system that cannot reserve any";
	case HEAP_WHY_NOT_MAPPED:
		return "its file cannot be mapped";
	case HEAP_WHY_NO_SYMBOL:
		return "the allocator's functions were not found (a static program?)";
	case HEAP_WHY_NO_PYTHON:
		return "no CPython was found in it";
	case HEAP_WHY_PYTHON_UNKNOWN:
		return "this CPython's layout is not known: native frames only";
	case HEAP_WHY_BAD_FILE:
		return "the file handed over was no profile of this version";
	case HEAP_WHY_NOT_MINE:
		return "it is a child of vfork or of a raw clone";
	}
	return "an unknown reason";
}

const char *heapregion_domain_name(enum heap_domain d)
{
	static const char *const names[] = {
		[HEAP_MALLOC] = "malloc",	  [HEAP_MMAP] = "mmap",		 [HEAP_MMAP_PYTHON] = "Python arenas",
		[HEAP_OBJECT] = "Python objects", [HEAP_MEM] = "Python buffers",
	};
	return d < HEAP_DOMAINS ? names[d] : "unknown";
}
