/*
 * The files whose code is mapped, read from the kernel's list when a sample has an address in none of the known ones.
 * The loader is not asked, because its lock may be held.
 *
 * There are two lists: one is read, the other is written by the one thread that reads the kernel's. A thread so slow
 * that its list is rewritten under it gets a wrong answer to "is it known?", and nothing worse.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "preload/inside.h"

#define GAP_NS 100000000u /* between two reads; doubled each time nothing was new (generated code) */
#define GAP_MAX_NS UINT64_C(10000000000)
#define RANGES 1024u
#define NO_ROW UINT32_MAX

struct range {
	uint64_t start, end, offset, inode, dev;
	uint32_t row; /* of the region's table */
};

struct list {
	uint32_t n;
	struct range r[RANGES];
};

static struct list lists[2];
static struct list *list = &lists[0];
static uint32_t reading; /* a thread is reading the kernel's list */
static uint32_t dirty; /* a mapping may have been removed */
static uint64_t next_ns, gap_ns = GAP_NS;
static uint32_t owing; /* a sample had an address in no known mapping, and the list has not been read since */

void modules_forget(void)
{
	lists[0].n = lists[1].n = 0;
	list = &lists[0];
	reading = dirty = owing = 0;
	next_ns = 0;
	gap_ns = GAP_NS;
}

void modules_dirty(void)
{
	store_relaxed(&dirty, 1u);
}

static const struct range *range_find(const struct list *l, uint64_t ip)
{
	uint32_t lo = 0, hi = load_relaxed(&l->n);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (ip < l->r[mid].start)
			hi = mid;
		else if (ip >= l->r[mid].end)
			lo = mid + 1;
		else
			return &l->r[mid];
	}
	return NULL;
}

/* The lines of the kernel's list, through a small buffer. */
struct lines {
	int fd;
	size_t at, len;
	char buf[8192];
};

/* The next line, ended by NUL; the beginning of one that is too long. NULL: no more. */
static char *line_next(struct lines *l)
{
	for (;;) {
		char *start = l->buf + l->at, *end = __builtin_memchr(start, '\n', l->len - l->at);
		if (end) {
			*end = '\0';
			l->at = (size_t)(end - l->buf) + 1;
			return start;
		}
		__builtin_memmove(l->buf, start, l->len - l->at);
		l->len -= l->at;
		l->at = 0;
		if (l->len == sizeof(l->buf))
			l->len = 0; /* no path is that long */
		ssize_t n = read(l->fd, l->buf + l->len, sizeof(l->buf) - l->len);
		if (n <= 0)
			return NULL;
		l->len += (size_t)n;
	}
}

/* Parses "start-end perms offset major:minor inode   path"; false: not code of a file. */
static bool line_parse(const char *p, struct range *ret, const char **ret_path)
{
	uint64_t major, minor;
	p = text_u64(p, 16, &ret->start);
	if (*p != '-')
		return false;
	p = text_u64(p + 1, 16, &ret->end);
	if (*p != ' ' || p[3] != 'x')
		return false;
	p = text_u64(p + 6, 16, &ret->offset);
	p = text_u64(p + (*p == ' '), 16, &major);
	p = text_u64(p + (*p == ':'), 16, &minor);
	p = text_u64(p + (*p == ' '), 10, &ret->inode);
	while (*p == ' ')
		p++;
	ret->dev = major << 32 | minor;
	*ret_path = p;
	return ret->inode != 0 && *p == '/';
}

static uint32_t modules_row_add(struct heap_header *h, const struct range *r, const char *path, uint32_t since)
{
	uint64_t row, at = 0, len = __builtin_strlen(path);
	if (!region_take(h, &h->table.modules, 1, &row))
		return NO_ROW;
	struct heap_module *m = region_row(h, &h->table.modules, row);
	if (region_take(h, &h->table.bytes, len, &at)) {
		__builtin_memcpy((char *)h + h->table.bytes.at + at, path, len);
		m->path_at = (uint32_t)at;
		m->path_len = (uint32_t)len;
	}
	m->since = since;
	m->until = UINT32_MAX;
	m->dev_major = (uint32_t)(r->dev >> 32);
	m->dev_minor = (uint32_t)r->dev;
	m->start = r->start;
	m->end = r->end;
	m->offset = r->offset;
	m->inode = r->inode;
	store_release(&m->state, (uint32_t)HEAP_ROW_READY);
	return (uint32_t)row;
}

static bool range_same(const struct range *a, const struct range *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset && a->inode == b->inode &&
	       a->dev == b->dev;
}

/* Modules of the old list that are not in the new one end with this epoch. */
static uint32_t gone_close(struct heap_header *h, const struct list *old, const struct list *new, uint32_t until)
{
	uint32_t gone = 0;
	struct heap_module *rows = (struct heap_module *)((char *)h + h->table.modules.at);
	for (uint32_t i = 0; i < old->n; i++) {
		const struct range *now = range_find(new, old->r[i].start);
		if (now && range_same(now, &old->r[i]))
			continue;
		gone++;
		if (old->r[i].row != NO_ROW)
			store_relaxed(&rows[old->r[i].row].until, until);
	}
	return gone;
}

static void list_read(struct heap_header *h)
{
	static struct lines lines; /* owned by the one thread that reads */
	struct list *old = list, *new = old == &lists[0] ? &lists[1] : &lists[0];
	const char *path;
	uint32_t added = 0, epoch = h->module_epoch;
	lines.at = lines.len = 0;
	lines.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (lines.fd < 0)
		return;
	new->n = 0;
	for (char *line; (line = line_next(&lines)) && new->n < RANGES;) {
		struct range *r = &new->r[new->n];
		if (!line_parse(line, r, &path))
			continue;
		const struct range *before = range_find(old, r->start);
		bool same = before && range_same(before, r);
		/* Removals are known only at the end, so new modules may have to begin one epoch later. */
		r->row = same ? before->row : modules_row_add(h, r, path, before ? epoch + 1 : epoch);
		added += !same;
		new->n++;
	}
	close(lines.fd);
	if (gone_close(h, old, new, epoch + 1))
		store_release(&h->module_epoch, epoch + 1);
	store_release(&list, new);
	gap_ns = added ? GAP_NS : gap_ns * 2 > GAP_MAX_NS ? GAP_MAX_NS : gap_ns * 2;
}

bool modules_same(const struct heap_header *h, uint32_t epoch)
{
	return !load_relaxed(&dirty) && load_relaxed(&h->module_epoch) == epoch;
}

static void list_renew(struct heap_header *h)
{
	uint32_t none = 0;
	if (!__atomic_compare_exchange_n(&reading, &none, 1u, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	store_relaxed(&dirty, 0u);
	store_relaxed(&owing, 0u);
	list_read(h);
	store_relaxed(&next_ns, coarse_ns() + gap_ns);
	store_release(&reading, 0u);
}

void modules_last(struct heap_header *h)
{
	if (load_relaxed(&owing))
		list_renew(h);
}

uint32_t modules_epoch(struct heap_header *h, const struct frames *f, bool *ret_known)
{
	const struct list *l = load_acquire(&list);
	bool known = !load_relaxed(&dirty);
	for (unsigned i = 0; i < f->n_native && known; i++)
		known = range_find(l, f->native[i] - 1) != NULL;
	*ret_known = known;
	if (known)
		return load_relaxed(&h->module_epoch);
	store_relaxed(&owing, 1u);
	if (l->n == 0 || coarse_ns() >= load_relaxed(&next_ns))
		list_renew(h);
	return load_relaxed(&h->module_epoch);
}

/* _dl_find_object() takes no lock, unlike the loader's other functions. */
bool modules_same_file(uint64_t a, uint64_t b)
{
	struct dl_find_object x, y;
	if (_dl_find_object((void *)(uintptr_t)a, &x) != 0 || // NOLINT(performance-no-int-to-ptr): code
	    _dl_find_object((void *)(uintptr_t)b, &y) != 0) // NOLINT(performance-no-int-to-ptr)
		return false;
	return x.dlfo_link_map == y.dlfo_link_map;
}
