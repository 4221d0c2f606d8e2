#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/path.h"
#include "sense/native/native_parts.h"

#define VDSO_MAX MIB
/* Minimum time between two reads of the maps for addresses that lie in no mapping: they may be garbage off a stack. */
#define IN_VAIN_NS (100 * NS_PER_MS)

struct natives *natives_new(void)
{
	struct natives *n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->limits = (struct natives_limits){
		.symbols = 32 * 1024 * 1024, .lines = {.memory_bytes = GIB, .cpu_s = 60}};
	n->names = names_new();
	return n->names ? n : natives_free(n);
}

void natives_limit(struct natives *n, const struct natives_limits *most)
{
	n->limits = *most;
}

static struct native_file *file_free(struct native_file *f)
{
	if (!f)
		return NULL;
	elf_done(&f->elf);
	f->eh = ehtable_free(f->eh);
	f->symbols = symtab_free(f->symbols);
	cython_done(&f->cython);
	free(f);
	return NULL;
}

struct natives *natives_free(struct natives *n)
{
	if (!n)
		return NULL;
	for (size_t i = 0; i < NATIVE_BUCKETS; i++)
		for (struct native_file *f = n->bucket[i], *next; f; f = next) {
			next = f->next;
			file_free(f);
		}
	n->names = names_free(n->names);
	n->lines = lineserver_free(n->lines);
	free(n);
	return NULL;
}

/* The size is part of the key: a stripped file has the same build id as its unstripped version. */
static uint64_t file_hash(const struct elf *e, uint64_t dev, uint64_t inode)
{
	uint64_t h = hash_bytes(HASH_START, &e->size, sizeof(e->size));
	if (e->n_build_id)
		return hash_bytes(h, e->build_id, e->n_build_id);
	return hash_bytes(hash_bytes(h, &dev, sizeof(dev)), &inode, sizeof(inode));
}

static bool same_file(const struct elf *a, const struct elf *b)
{
	return a->size == b->size && a->n_build_id == b->n_build_id &&
	       memcmp(a->build_id, b->build_id, a->n_build_id) == 0;
}

static void close_last(struct natives *n)
{
	if (n->open)
		closep(&n->open->elf.fd);
	n->open = NULL;
}

static void keep_open(struct natives *n, struct native_file *f)
{
	if (n->open != f)
		close_last(n);
	n->open = f;
}

/* Takes what e owns. NULL: no memory. */
static struct native_file *file_keep(struct natives *n, struct elf *e, const struct map_row *row)
{
	uint64_t hash = file_hash(e, row->dev, row->inode);
	struct native_file **bucket = &n->bucket[hash % NATIVE_BUCKETS], *f;
	for (f = *bucket; f; f = f->next)
		if (f->hash == hash && same_file(&f->elf, e) &&
		    (e->n_build_id || (f->dev == row->dev && f->inode == row->inode)))
			break;
	if (f && f->elf.fd >= 0) {
		elf_done(e);
		return f;
	}
	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f) {
			elf_done(e);
			return NULL;
		}
		f->hash = hash;
		f->dev = row->dev;
		f->inode = row->inode;
		TEXT_COPY(f->module, path_name(row->path));
		f->next = *bucket;
		*bucket = f;
	} else {
		elf_done(&f->elf);
	}
	f->elf = *e;
	*e = (struct elf){.fd = -1};
	return f;
}

/* The kernel's vDSO is in no file: a copy of its memory serves as one. */
static int vdso_open(struct native *p, const struct map_row *row, struct elf *ret)
{
	uint64_t size = row->end - row->start;
	if (size > VDSO_MAX)
		return ELF_NOT;
	cleanup(freep) void *image = malloc(size);
	if (!image)
		return -ENOMEM;
	int r = remote_read(p->remote, row->start, image, size);
	if (r)
		return r;
	cleanup(closep) int fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = file_write_all(fd, image, size);
	return r < 0 ? r : elf_open_fd(take_fd(&fd), ret);
}

static bool is_vdso(const struct map_row *row)
{
	return row->inode == 0 && strcmp(row->path, "[vdso]") == 0;
}

static void row_open(struct native *p, const struct map_row *row, struct native_row *ret)
{
	struct elf e = {.fd = -1};
	if (!(row->flags & MAP_EXEC))
		return;
	int r = is_vdso(row) ? vdso_open(p, row, &e) : elf_open_map(p->world, p->remote->pid, row, &e);
	if (r || elf_bias(&e, &p->maps, row, &ret->bias) != 0) {
		elf_done(&e);
		return;
	}
	ret->file = file_keep(p->files, &e, row);
	/* The copy of the vDSO stays open: it cannot be opened a second time. */
	if (ret->file && !is_vdso(row))
		keep_open(p->files, ret->file);
}

struct native *native_new(struct natives *files, const struct world *w, struct remote *r)
{
	struct native *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	*p = (struct native){.files = files, .world = w, .remote = r};
	/* The process may have ended; then reads report that. */
	ignore(native_refresh(p), "mappings that cannot be read are none");
	return p;
}

struct native *native_free(struct native *p)
{
	if (!p)
		return NULL;
	maps_done(&p->maps);
	perfmap_done(&p->perfmap);
	free(p->rows);
	free(p);
	return NULL;
}

static bool same_row(const struct map_row *a, const struct map_row *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset && a->inode == b->inode &&
	       a->dev == b->dev && a->flags == b->flags && strcmp(a->path, b->path) == 0;
}

/* Carries over what is known of unchanged rows. Both lists are in order of address. */
static void rows_carry(const struct maps *was, const struct native_row *known, const struct maps *now,
		       struct native_row *rows)
{
	for (size_t i = 0, k = 0; i < now->n; i++) {
		while (k < was->n && was->rows[k].start < now->rows[i].start)
			k++;
		if (k < was->n && same_row(&was->rows[k], &now->rows[i]))
			rows[i] = known[k];
	}
}

int native_refresh(struct native *p)
{
	struct maps m = {};
	int r = maps_read(p->world, p->remote->pid, &m);
	if (r)
		return r;
	struct native_row *rows = calloc(m.n + 1, sizeof(*rows));
	if (!rows) {
		maps_done(&m);
		return -ENOMEM;
	}
	rows_carry(&p->maps, p->rows, &m, rows);
	maps_done(&p->maps);
	free(p->rows);
	p->maps = m;
	p->rows = rows;
	return 0;
}

static const struct map_row *row_at(struct native *p, uint64_t addr)
{
	const struct map_row *row = maps_find(&p->maps, addr);
	if (row || p->world->mono_ns() < p->mono_next_ns)
		return row;
	if (native_refresh(p) == 0)
		row = maps_find(&p->maps, addr);
	if (!row)
		p->mono_next_ns = p->world->mono_ns() + IN_VAIN_NS;
	return row;
}

void native_spot_at(struct native *p, uint64_t addr, struct native_spot *ret)
{
	const struct map_row *row = row_at(p, addr);
	*ret = (struct native_spot){.row = row};
	if (!row)
		return;
	struct native_row *known = &p->rows[row - p->maps.rows];
	if (!known->tried) {
		known->tried = true;
		row_open(p, row, known);
	}
	ret->file = known->file;
	ret->vaddr = addr - known->bias;
}

bool native_file_open(struct native *p, const struct native_spot *s)
{
	struct native_row *known = &p->rows[s->row - p->maps.rows];
	struct elf e = {.fd = -1};
	if (s->file->elf.fd >= 0)
		return true;
	if (known->lost)
		return false;
	if (elf_open_map(p->world, p->remote->pid, s->row, &e) != 0 || !same_file(&e, &s->file->elf)) {
		elf_done(&e);
		known->lost = true;
		return false;
	}
	elf_done(&s->file->elf);
	s->file->elf = e;
	keep_open(p->files, s->file);
	return true;
}

struct ehtable *native_eh(struct native *p, const struct native_spot *s)
{
	struct native_file *f = s->file;
	if (!f || f->tried_eh || !native_file_open(p, s))
		return f ? f->eh : NULL;
	f->tried_eh = true;
	if (ehtable_load(&f->elf, sub_floor(NATIVE_EH_BYTES, p->files->eh_bytes), &f->eh) != 0)
		f->eh = NULL;
	else
		p->files->eh_bytes += ehtable_bytes(f->eh);
	return f->eh;
}

struct remote *native_remote(struct native *p)
{
	return p->remote;
}
