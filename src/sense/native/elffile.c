#include "sense/native/elffile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign.h"
#include "sense/native/rootfile.h"

/* More than any linker writes; a file that claims more program headers is garbage. */
#define PHDR_MAX 4096
#define SHDR_MAX 65280
#define NAMES_MAX (4 * MIB)
#define SYMBOLS_MAX (512 * MIB)
#define NOTES_MAX (64 * KIB)
#define DYNAMIC_MAX (64 * KIB)

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#error "vigil looks into processes on x86_64 and aarch64 only"
#endif

/* Tables are read whole, and linkers write every byte of them: what is mostly a hole costs memory and is no table. */
#define HOLE_MIN (64 * KIB)
#define HOLE_SHARE 16

bool elf_is_hollow(const struct elf *e, uint64_t offset, uint64_t len)
{
	uint64_t end = offset + len, missing = 0;
	for (uint64_t at = offset; at < end;) {
		off_t hole = lseek(e->fd, (off_t)at, SEEK_HOLE);
		if (hole < 0 || (uint64_t)hole >= end)
			break; /* all there, or this file system does not tell */
		off_t data = lseek(e->fd, hole, SEEK_DATA);
		uint64_t next = data < 0 ? end : MIN((uint64_t)data, end);
		missing += next - (uint64_t)hole;
		at = next;
	}
	return missing > MAX(HOLE_MIN, len / HOLE_SHARE);
}

int elf_read(const struct elf *e, uint64_t offset, void *into, size_t len)
{
	size_t n = 0;
	if (offset > e->size || len > e->size - offset || (len > HOLE_MIN && elf_is_hollow(e, offset, len)))
		return ELF_NOT;
	int r = file_read_from(e->fd, offset, into, len, &n);
	if (r < 0)
		return r;
	return n == len ? 0 : ELF_NOT;
}

static int table_load(const struct elf *e, uint64_t offset, size_t n, size_t row_bytes, void **ret)
{
	cleanup(freep) void *rows = calloc(n + 1, row_bytes);
	if (!rows)
		return -ENOMEM;
	int r = n ? elf_read(e, offset, rows, n * row_bytes) : 0;
	if (r)
		return r;
	*ret = take(&rows);
	return 0;
}

/* A file without readable sections is still usable by its segments. */
static int sections_load(struct elf *e, const Elf64_Ehdr *h)
{
	void *rows = NULL, *names = NULL;
	if (h->e_shoff == 0 || h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum == 0 || h->e_shnum > SHDR_MAX)
		return 0;
	int r = table_load(e, h->e_shoff, h->e_shnum, sizeof(Elf64_Shdr), &rows);
	if (r)
		return r < 0 ? r : 0;
	e->shdr = rows;
	e->n_shdr = h->e_shnum;
	if (h->e_shstrndx >= e->n_shdr)
		return 0;
	r = elf_section_load(e, &e->shdr[h->e_shstrndx], NAMES_MAX, &names, &e->names_len);
	e->names = names;
	return r < 0 ? r : 0;
}

static void build_id_of(struct elf *e, const unsigned char *note, size_t len)
{
	size_t at = 0;
	while (len - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr h;
		memcpy(&h, note + at, sizeof(h));
		at += sizeof(h);
		uint64_t name = (h.n_namesz + UINT64_C(3)) & ~UINT64_C(3),
			 desc = (h.n_descsz + UINT64_C(3)) & ~UINT64_C(3);
		if (name > len - at || desc > len - at - name)
			return;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && memcmp(note + at, "GNU", 4) == 0) {
			e->n_build_id = MIN((size_t)h.n_descsz, sizeof(e->build_id));
			memcpy(e->build_id, note + at + name, e->n_build_id);
			return;
		}
		at += name + desc;
	}
}

static void build_id_load(struct elf *e)
{
	for (size_t i = 0; i < e->n_phdr && !e->n_build_id; i++) {
		const Elf64_Phdr *p = &e->phdr[i];
		if (p->p_type != PT_NOTE || p->p_filesz > NOTES_MAX)
			continue;
		cleanup(freep) unsigned char *note = malloc(p->p_filesz + 1);
		if (note && elf_read(e, p->p_offset, note, p->p_filesz) == 0)
			build_id_of(e, note, p->p_filesz);
	}
}

static int header_check(const Elf64_Ehdr *h)
{
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return ELF_NOT;
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != OUR_MACHINE)
		return ELF_FOREIGN;
	if (h->e_phnum > PHDR_MAX || (h->e_phnum > 0 && h->e_phentsize != sizeof(Elf64_Phdr)))
		return ELF_NOT;
	return 0;
}

int elf_open_fd(int fd, struct elf *ret)
{
	cleanup(elf_done) struct elf e = {.fd = fd};
	struct stat st;
	Elf64_Ehdr h;
	void *rows = NULL;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < 0)
		return ELF_NOT;
	e.size = (uint64_t)st.st_size;
	int r = elf_read(&e, 0, &h, sizeof(h));
	if (r == 0)
		r = header_check(&h);
	if (r == 0)
		r = table_load(&e, h.e_phoff, h.e_phnum, sizeof(Elf64_Phdr), &rows);
	if (r)
		return r;
	e.phdr = rows;
	e.n_phdr = h.e_phnum;
	e.type = h.e_type;
	e.machine = h.e_machine;
	r = sections_load(&e, &h);
	if (r < 0)
		return r;
	build_id_load(&e);
	*ret = e;
	e = (struct elf){.fd = -1};
	return 0;
}

void elf_done(struct elf *e)
{
	closep(&e->fd);
	free(e->phdr);
	free(e->shdr);
	free(e->names);
	*e = (struct elf){.fd = -1};
}

/* The device is not compared, because layered file systems show a different one in maps. */
static int take_same(const struct map_row *row, int *fd, int *ret)
{
	struct stat st;
	uint64_t inode;
	if (fstat(*fd, &st) < 0)
		return -errno;
	if (!foreign_is_copy(*fd, &inode))
		inode = st.st_ino;
	if (row->inode && inode != row->inode)
		return -ESTALE;
	*ret = take_fd(fd);
	return 0;
}

/* A link of the kernel to what is mapped, with our own rights: the path to it may be closed to the process itself. */
static int open_linked(const struct world *w, const char *path, const struct map_row *row, int *ret)
{
	cleanup(closep) int seen = openat(w->proc_fd, path, O_PATH | O_CLOEXEC), fd = -1;
	int r = seen < 0 ? -errno : foreign_reopen(seen, NULL, O_RDONLY, &fd);
	return r < 0 ? r : r > 0 ? -ESTALE : take_same(row, &fd, ret);
}

/* The path may name anything by now. */
static int open_named(const struct world *w, pid_t pid, const char *path, const struct map_row *row, int *ret)
{
	cleanup(closep) int fd = -1;
	int r = rootfile_open(w, pid, path, ROOTFILE_LINKS, &fd);
	if (r == WORLD_DENIED || r == WORLD_GONE)
		return r == WORLD_GONE ? -ESRCH : -EACCES;
	return r < 0 ? r : r > 0 ? -ESTALE : take_same(row, &fd, ret);
}

/* The kernel writes a newline in a path as \012 and escapes nothing else, so a literal "\012" is ambiguous. */
static bool newlines_back(char *path)
{
	bool any = false;
	for (char *at = strstr(path, "\\012"); at; at = strstr(at + 1, "\\012")) {
		*at = '\n';
		memmove(at + 1, at + 4, strlen(at + 4) + 1);
		any = true;
	}
	return any;
}

static int open_by_path(const struct world *w, pid_t pid, const struct map_row *row, int *ret)
{
	char path[4200];
	if (row->path[0] != '/' || row->deleted)
		return -ESTALE;
	TEXT_COPY(path, row->path);
	int r = open_named(w, pid, path, row, ret);
	return r < 0 && newlines_back(path) ? open_named(w, pid, path, row, ret) : r;
}

int elf_open_map(const struct world *w, pid_t pid, const struct map_row *row, struct elf *ret)
{
	char path[80];
	int fd = -1;
	if (!row->inode)
		return ELF_NOT;
	int r = open_by_path(w, pid, row, &fd), first = r;
	if (r < 0) {
		TEXT_FORMAT(path, "%d/exe", pid);
		r = open_linked(w, path, row, &fd);
	}
	if (r < 0) {
		TEXT_FORMAT(path, "%d/map_files/%llx-%llx", pid, (unsigned long long)row->start,
			    (unsigned long long)row->end);
		r = open_linked(w, path, row, &fd);
		/* /proc/PID/map_files is open to root only, so this error says nothing about the file itself. */
		if (r == -EPERM || r == -EACCES)
			r = first;
	}
	if (r == -EACCES || r == -EPERM)
		return WORLD_DENIED;
	if (r == -ESRCH)
		return WORLD_GONE;
	return r < 0 ? WORLD_ABSENT : elf_open_fd(fd, ret);
}

int elf_section_load(const struct elf *e, const Elf64_Shdr *s, uint64_t max, void **ret, size_t *ret_len)
{
	if (s->sh_type == SHT_NOBITS || s->sh_size > max)
		return ELF_NONE;
	cleanup(freep) char *bytes = malloc(s->sh_size + 1);
	if (!bytes)
		return -ENOMEM;
	int r = elf_read(e, s->sh_offset, bytes, s->sh_size);
	if (r)
		return r;
	bytes[s->sh_size] = '\0';
	*ret_len = s->sh_size;
	*ret = take(&bytes);
	return 0;
}

const Elf64_Shdr *elf_section(const struct elf *e, const char *name)
{
	for (size_t i = 0; e->names && i < e->n_shdr; i++)
		if (e->shdr[i].sh_name < e->names_len && strcmp(e->names + e->shdr[i].sh_name, name) == 0)
			return &e->shdr[i];
	return NULL;
}

const Elf64_Phdr *elf_segment(const struct elf *e, uint32_t type)
{
	for (size_t i = 0; i < e->n_phdr; i++)
		if (e->phdr[i].p_type == type)
			return &e->phdr[i];
	return NULL;
}

/* True if the file's first segment lies where this bias puts it. */
static bool bias_fits(const struct elf *e, const struct maps *m, const struct map_row *row, uint64_t page,
		      uint64_t bias)
{
	const Elf64_Phdr *p = elf_segment(e, PT_LOAD);
	uint64_t at = bias + (p->p_vaddr & ~(page - 1));
	const struct map_row *first = maps_find(m, at);
	return first && first->inode == row->inode && first->dev == row->dev &&
	       first->offset + (at - first->start) == (p->p_offset & ~(page - 1));
}

int elf_bias(const struct elf *e, const struct maps *m, const struct map_row *row, uint64_t *ret)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	bool found = false;
	/*
	 * The row names the part of the file that it maps; the segment that contains this part gives the bias. Two
	 * segments may share a page of the file and both match: the one that also puts the file's beginning where it is
	 * mapped wins, else the one whose access rights match.
	 */
	for (size_t i = 0; i < e->n_phdr; i++) {
		const Elf64_Phdr *p = &e->phdr[i];
		if (p->p_type != PT_LOAD || p->p_filesz > UINT64_MAX - p->p_offset ||
		    row->offset < (p->p_offset & ~(page - 1)) || row->offset >= p->p_offset + p->p_filesz)
			continue;
		uint64_t bias = row->start - (p->p_vaddr - p->p_offset + row->offset);
		bool rights = !!(p->p_flags & PF_X) == !!(row->flags & MAP_EXEC);
		if (rights && bias_fits(e, m, row, page, bias)) {
			*ret = bias;
			return 0;
		}
		if (!found || rights) {
			*ret = bias;
			found = true;
		}
	}
	return found ? 0 : ELF_NOT;
}

/* Where a symbol table and its string and hash tables lie in the file. */
struct table {
	const struct elf *elf;
	uint64_t symbols, symbols_bytes, strings, strings_bytes;
	uint64_t hash; /* DT_GNU_HASH; 0: none */
};

static int symbol_at(const struct table *t, uint64_t i, const char *name, struct elf_symbol *ret)
{
	Elf64_Sym s;
	char text[256];
	size_t len = strlen(name) + 1;
	if (i >= t->symbols_bytes / sizeof(s))
		return ELF_NONE;
	int r = elf_read(t->elf, t->symbols + i * sizeof(s), &s, sizeof(s));
	if (r)
		return r;
	if (s.st_shndx == SHN_UNDEF || s.st_name >= t->strings_bytes || len > sizeof(text) ||
	    len > t->strings_bytes - s.st_name || elf_read(t->elf, t->strings + s.st_name, text, len) != 0 ||
	    memcmp(text, name, len) != 0)
		return ELF_NONE;
	*ret = (struct elf_symbol){.value = s.st_value, .size = s.st_size, .type = ELF64_ST_TYPE(s.st_info)};
	return 0;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;
	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		h = h * 33 + *p;
	return h;
}

/* DT_GNU_HASH: a bloom filter, buckets, and chains whose last entry has bit 0 set. */
static int hash_find(const struct table *t, const char *name, struct elf_symbol *ret)
{
	struct {
		uint32_t n_buckets, first, n_bloom, shift;
	} h;
	uint32_t want = gnu_hash(name), i = 0, link = 0;
	uint64_t bits = 0;
	int r = elf_read(t->elf, t->hash, &h, sizeof(h));
	if (r)
		return r;
	if (h.n_buckets == 0 || h.n_bloom == 0)
		return ELF_NONE;
	r = elf_read(t->elf, t->hash + sizeof(h) + UINT64_C(8) * (want / 64 % h.n_bloom), &bits, sizeof(bits));
	if (r)
		return r;
	if (!(bits >> want % 64 & 1) || !(bits >> (want >> (h.shift & 31)) % 64 & 1))
		return ELF_NONE;
	uint64_t buckets = t->hash + sizeof(h) + UINT64_C(8) * h.n_bloom;
	uint64_t chains = buckets + UINT64_C(4) * h.n_buckets;
	r = elf_read(t->elf, buckets + UINT64_C(4) * (want % h.n_buckets), &i, sizeof(i));
	if (r)
		return r;
	/* Chains longer than the symbol table are garbage. */
	for (uint64_t steps = t->symbols_bytes / sizeof(Elf64_Sym); i >= h.first && i && steps > 0; i++, steps--) {
		r = elf_read(t->elf, chains + UINT64_C(4) * (i - h.first), &link, sizeof(link));
		if (r)
			return r;
		if ((link | 1) == (want | 1) && symbol_at(t, i, name, ret) == 0)
			return 0;
		if (link & 1)
			break;
	}
	return ELF_NONE;
}

static int range_load(const struct elf *e, uint64_t at, uint64_t len, void **ret)
{
	cleanup(freep) char *bytes = len <= SYMBOLS_MAX ? malloc(len + 1) : NULL;
	if (len > SYMBOLS_MAX)
		return ELF_NONE;
	if (!bytes)
		return -ENOMEM;
	int r = elf_read(e, at, bytes, len);
	if (r)
		return r;
	*ret = take(&bytes);
	return 0;
}

/* Where a name stands in the strings of a table: of as many places as symbols of one name could need. */
struct name_places {
	uint64_t at[16];
	size_t n;
};

#define SCAN_BYTES ((size_t)256 * 1024)

/* Piece by piece: a table can be as large as its user's disk. */
static int names_scan(const struct table *t, const char *name, char *piece, struct name_places *ret)
{
	const size_t len = strlen(name) + 1;
	for (uint64_t from = 0; from < t->strings_bytes; from += SCAN_BYTES) {
		const size_t n = (size_t)MIN(SCAN_BYTES + len - 1, t->strings_bytes - from);
		int r = elf_read(t->elf, t->strings + from, piece, n);
		if (r)
			return r;
		for (const char *p = piece; (p = memmem(p, n - (size_t)(p - piece), name, len)); p++)
			if (ret->n < ARRAY_SIZE(ret->at))
				ret->at[ret->n++] = from + (uint64_t)(p - piece);
	}
	return ret->n > 0 ? 0 : ELF_NONE;
}

static bool elffile_is_named(const struct name_places *names, const Elf64_Sym *s)
{
	for (size_t i = 0; i < names->n; i++)
		if (s->st_shndx != SHN_UNDEF && s->st_name == names->at[i])
			return true;
	return false;
}

static int scan_find(const struct table *t, const char *name, struct elf_symbol *ret)
{
	struct name_places names = {.n = 0};
	const size_t len = strlen(name) + 1;
	cleanup(freep) char *piece = malloc(SCAN_BYTES + len);
	if (!piece)
		return -ENOMEM;
	if (t->symbols_bytes > SYMBOLS_MAX || t->strings_bytes > SYMBOLS_MAX)
		return ELF_NONE;
	int r = names_scan(t, name, piece, &names);
	for (uint64_t from = 0; r == 0 && from < t->symbols_bytes;
	     from += SCAN_BYTES / sizeof(Elf64_Sym) * sizeof(Elf64_Sym)) {
		const size_t n = (size_t)MIN(SCAN_BYTES, t->symbols_bytes - from) / sizeof(Elf64_Sym);
		r = elf_read(t->elf, t->symbols + from, piece, n * sizeof(Elf64_Sym));
		const Elf64_Sym *s = (const void *)piece;
		for (size_t i = 0; r == 0 && i < n; i++) {
			if (!elffile_is_named(&names, &s[i]))
				continue;
			*ret = (struct elf_symbol){
				.value = s[i].st_value, .size = s[i].st_size, .type = ELF64_ST_TYPE(s[i].st_info)};
			return 0;
		}
	}
	return r ? r : ELF_NONE;
}

static bool table_of(const struct elf *e, const char *name, struct table *ret)
{
	const Elf64_Shdr *s = elf_section(e, name), *hash = elf_section(e, ".gnu.hash");
	if (!s || s->sh_link >= e->n_shdr || s->sh_type == SHT_NOBITS || e->shdr[s->sh_link].sh_type == SHT_NOBITS)
		return false;
	*ret = (struct table){.elf = e,
			      .symbols = s->sh_offset,
			      .symbols_bytes = s->sh_size,
			      .strings = e->shdr[s->sh_link].sh_offset,
			      .strings_bytes = e->shdr[s->sh_link].sh_size,
			      .hash = s->sh_type == SHT_DYNSYM && hash ? hash->sh_offset : 0};
	return true;
}

/* Converts an address from the dynamic section into an offset in the file; 0: it lies in no segment. */
static uint64_t dynamic_offset(const struct elf *e, uint64_t addr)
{
	for (size_t i = 0; i < e->n_phdr; i++) {
		const Elf64_Phdr *p = &e->phdr[i];
		if (p->p_type == PT_LOAD && addr >= p->p_vaddr && addr - p->p_vaddr < p->p_filesz)
			return p->p_offset + (addr - p->p_vaddr);
	}
	return 0;
}

/* Finds the tables that the dynamic linker uses: they exist even when the sections have been stripped. */
static bool table_linked(const struct elf *e, struct table *ret)
{
	const Elf64_Phdr *p = elf_segment(e, PT_DYNAMIC);
	struct table t = {.elf = e};
	cleanup(freep) void *bytes = NULL;
	if (!p || p->p_filesz > DYNAMIC_MAX || range_load(e, p->p_offset, p->p_filesz, &bytes) != 0)
		return false;
	const Elf64_Dyn *d = bytes;
	for (size_t i = 0; i < p->p_filesz / sizeof(*d) && d[i].d_tag != DT_NULL; i++) {
		if (d[i].d_tag == DT_SYMTAB)
			t.symbols = dynamic_offset(e, d[i].d_un.d_ptr);
		else if (d[i].d_tag == DT_STRTAB)
			t.strings = dynamic_offset(e, d[i].d_un.d_ptr);
		else if (d[i].d_tag == DT_STRSZ)
			t.strings_bytes = d[i].d_un.d_val;
		else if (d[i].d_tag == DT_GNU_HASH)
			t.hash = dynamic_offset(e, d[i].d_un.d_ptr);
	}
	if (!t.symbols || !t.strings || !t.hash || t.symbols > e->size)
		return false;
	t.symbols_bytes = e->size - t.symbols; /* the table's length is stored nowhere; each read is checked */
	*ret = t;
	return true;
}

int elf_find_export(const struct elf *e, const char *name, struct elf_symbol *ret)
{
	struct table t;
	if (!table_of(e, ".dynsym", &t) && !table_linked(e, &t))
		return ELF_NONE;
	int r = t.hash ? hash_find(&t, name, ret) : scan_find(&t, name, ret);
	return r > 0 ? ELF_NONE : r;
}

int elf_find_symbol(const struct elf *e, const char *name, struct elf_symbol *ret)
{
	struct table t;
	int r = elf_find_export(e, name, ret);
	if (r <= 0 || !table_of(e, ".symtab", &t))
		return r;
	r = scan_find(&t, name, ret);
	return r > 0 ? ELF_NONE : r;
}
