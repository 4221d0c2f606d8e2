#include <string.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/vec.h"
#include "sense/native/native_parts.h"
#include "sense/native/strtab.h"

/* More than any file has; a file that claims more gets no names. */
#define SYMBOLS_MAX (8 * 1024 * 1024)
#define EXEC_PARTS_MAX 64
/* How many functions back may still contain an address (functions can be nested) or share a start. */
#define LOOK_BACK 64
#define ALIASES_MAX 64
/*
 * For a function of unknown size in a file that does not name its static functions: code further behind may be another
 * one.
 */
#define UNSURE_BYTES 4096
#define ALIAS_TEXT 512

struct symbol {
	uint32_t start; /* relative to the table's base */
	uint32_t size; /* while loading: 0 is unknown */
	uint32_t name; /* offset in the string table */
	uint8_t rank; /* the lower the better */
	uint8_t table;
};

struct symtab {
	uint64_t base;
	struct symbol *rows; /* owned, by start */
	size_t n;
	struct strtab *names; /* owned: TABLES of them */
};

enum { TABLES = 2, RANK_FUNCTION = 0, RANK_LOCAL = 1, RANK_LABEL = 2, RANK_LOCAL_LABEL = 3 };

/* Where a symbol table and its strings lie in a file. */
struct place {
	const struct elf *elf;
	uint64_t offset, n, names_offset, names_len;
};

struct part {
	uint64_t start, end; /* addresses */
};

struct loading {
	struct symtab *t;
	size_t cap, most;
	struct part part[EXEC_PARTS_MAX]; /* where code is */
	size_t n_parts, last_part;
	bool complete; /* functions that are not exported are named too */
};

static void part_add(struct loading *l, uint64_t start, uint64_t size)
{
	if (size > 0 && size <= UINT64_MAX - start && l->n_parts < EXEC_PARTS_MAX)
		l->part[l->n_parts++] = (struct part){start, start + size};
}

static void parts_find(struct loading *l, const struct elf *e)
{
	const uint64_t want = SHF_ALLOC | SHF_EXECINSTR;
	for (size_t i = 0; i < e->n_shdr; i++)
		if ((e->shdr[i].sh_flags & want) == want)
			part_add(l, e->shdr[i].sh_addr, e->shdr[i].sh_size);
	for (size_t i = 0; i < e->n_phdr && e->n_shdr == 0; i++)
		if (e->phdr[i].p_type == PT_LOAD && e->phdr[i].p_flags & PF_X)
			part_add(l, e->phdr[i].p_vaddr, e->phdr[i].p_memsz);
	uint64_t base = UINT64_MAX;
	for (size_t i = 0; i < l->n_parts; i++)
		base = MIN(base, l->part[i].start);
	l->t->base = base;
}

static const struct part *part_at(struct loading *l, uint64_t addr)
{
	for (size_t k = 0; k < l->n_parts; k++) {
		size_t i = (l->last_part + k) % l->n_parts;
		if (addr >= l->part[i].start && addr < l->part[i].end) {
			l->last_part = i;
			return &l->part[i];
		}
	}
	return NULL;
}

static bool section_place(const struct elf *e, const char *name, struct place *ret)
{
	const Elf64_Shdr *s = elf_section(e, name);
	if (!s || s->sh_type == SHT_NOBITS || s->sh_link >= e->n_shdr)
		return false;
	const Elf64_Shdr *names = &e->shdr[s->sh_link];
	*ret = (struct place){e, s->sh_offset, s->sh_size / sizeof(Elf64_Sym), names->sh_offset, names->sh_size};
	return names->sh_type != SHT_NOBITS;
}

/* File offset of an address; false: it lies in no segment. */
static bool offset_of(const struct elf *e, uint64_t addr, uint64_t *ret)
{
	for (size_t i = 0; i < e->n_phdr; i++) {
		const Elf64_Phdr *p = &e->phdr[i];
		if (p->p_type == PT_LOAD && addr >= p->p_vaddr && addr - p->p_vaddr < p->p_filesz) {
			*ret = p->p_offset + (addr - p->p_vaddr);
			return true;
		}
	}
	return false;
}

/* DT_GNU_HASH does not store the number of symbols: it follows from the last chain of the last bucket. */
static uint64_t gnu_hash_count(const struct elf *e, uint64_t at)
{
	uint32_t h[4], top = 0, link = 0;
	if (elf_read(e, at, h, sizeof(h)) != 0 || h[0] > SYMBOLS_MAX || h[2] > SYMBOLS_MAX)
		return 0;
	uint64_t buckets = at + sizeof(h) + UINT64_C(8) * h[2], chains = buckets + UINT64_C(4) * h[0];
	cleanup(freep) uint32_t *bucket = calloc(h[0] + (size_t)1, sizeof(*bucket));
	if (!bucket || elf_read(e, buckets, bucket, h[0] * sizeof(*bucket)) != 0)
		return 0;
	for (uint32_t i = 0; i < h[0]; i++)
		top = MAX(top, bucket[i]);
	if (top < h[1])
		return h[1];
	for (uint64_t i = top; i < SYMBOLS_MAX; i++) {
		if (elf_read(e, chains + UINT64_C(4) * (i - h[1]), &link, sizeof(link)) != 0)
			return 0;
		if (link & 1)
			return i + 1;
	}
	return 0;
}

/* The tables that the dynamic linker uses, for files whose section headers were cut off. */
static bool dynamic_place(const struct elf *e, struct place *ret)
{
	const Elf64_Phdr *p = elf_segment(e, PT_DYNAMIC);
	Elf64_Dyn d[512];
	uint64_t symbols = 0, strings = 0, len = 0, hash = 0, gnu_hash = 0, at;
	uint32_t counts[2];
	size_t n = p ? MIN(p->p_filesz / sizeof(d[0]), ARRAY_SIZE(d)) : 0;
	if (n == 0 || elf_read(e, p->p_offset, d, n * sizeof(d[0])) != 0)
		return false;
	for (size_t i = 0; i < n && d[i].d_tag != DT_NULL; i++) {
		uint64_t *slot = d[i].d_tag == DT_SYMTAB     ? &symbols
				 : d[i].d_tag == DT_STRTAB   ? &strings
				 : d[i].d_tag == DT_STRSZ    ? &len
				 : d[i].d_tag == DT_HASH     ? &hash
				 : d[i].d_tag == DT_GNU_HASH ? &gnu_hash
							     : NULL;
		if (slot)
			*slot = d[i].d_un.d_val;
	}
	struct place f = {.elf = e, .names_len = len};
	if (!symbols || !strings || !offset_of(e, symbols, &f.offset) || !offset_of(e, strings, &f.names_offset))
		return false;
	if (hash && offset_of(e, hash, &at) && elf_read(e, at, counts, sizeof(counts)) == 0)
		f.n = counts[1];
	else if (gnu_hash && offset_of(e, gnu_hash, &at))
		f.n = gnu_hash_count(e, at);
	*ret = f;
	return f.n > 0;
}

static int symtab_row_add(struct loading *l, const Elf64_Sym *s, uint8_t table)
{
	struct symtab *t = l->t;
	unsigned type = ELF64_ST_TYPE(s->st_info), bind = ELF64_ST_BIND(s->st_info);
	bool function = type == STT_FUNC || type == STT_GNU_IFUNC, local = bind == STB_LOCAL;
	if (s->st_shndx == SHN_UNDEF || s->st_name == 0 || (!function && type != STT_NOTYPE))
		return 0;
	const struct part *part = part_at(l, s->st_value);
	/* No code model spreads one file's code over more than 4 GiB. */
	if (!part || s->st_value - t->base > UINT32_MAX)
		return 0;
	if (t->n >= l->most)
		return ELF_NOT;
	if (vec_room(&t->rows, &l->cap, t->n + 1) < 0)
		return -ENOMEM;
	t->rows[t->n++] = (struct symbol){
		.start = (uint32_t)(s->st_value - t->base),
		.size = (uint32_t)MIN(MIN(s->st_size, part->end - s->st_value), UINT32_MAX),
		.name = s->st_name,
		.rank = function ? (local ? RANK_LOCAL : RANK_FUNCTION) : (local ? RANK_LOCAL_LABEL : RANK_LABEL),
		.table = table,
	};
	return 0;
}

static int place_load(struct loading *l, const struct place *f, uint8_t table)
{
	Elf64_Sym some[1024];
	if (f->n > SYMBOLS_MAX || f->n * sizeof(some[0]) > f->elf->size ||
	    elf_is_hollow(f->elf, f->offset, f->n * sizeof(some[0])))
		return ELF_NOT;
	int r = strtab_open(f->elf, f->names_offset, f->names_len, &l->t->names[table]);
	for (uint64_t i = 0; i < f->n && r == 0; i += ARRAY_SIZE(some)) {
		size_t n = MIN(ARRAY_SIZE(some), f->n - i);
		r = elf_read(f->elf, f->offset + i * sizeof(some[0]), some, n * sizeof(some[0]));
		for (size_t k = 0; k < n && r == 0; k++)
			r = symtab_row_add(l, &some[k], table);
	}
	return r;
}

/* Sorts by start, keeping the order of equals: radix sort, three passes of 11 bits. */
static int symtab_rows_sort(struct symtab *t)
{
	cleanup(freep) struct symbol *other = malloc((t->n + 1) * sizeof(*other));
	if (!other)
		return -ENOMEM;
	for (unsigned shift = 0; shift < 33; shift += 11) {
		size_t at[2049] = {0};
		for (size_t i = 0; i < t->n; i++)
			at[1 + (t->rows[i].start >> shift & 2047)]++;
		for (size_t i = 1; i < ARRAY_SIZE(at); i++)
			at[i] += at[i - 1];
		for (size_t i = 0; i < t->n; i++)
			other[at[t->rows[i].start >> shift & 2047]++] = t->rows[i];
		struct symbol *swap = t->rows;
		t->rows = other;
		other = swap;
	}
	return 0;
}

/*
 * Removes exported names that the full table has as well, and labels within functions, which say less than the
 * function.
 */
static void rows_thin(struct symtab *t)
{
	size_t kept = 0;
	uint64_t covered = 0; /* end of the functions with a known size so far */
	for (size_t i = 0, next; i < t->n; i = next) {
		bool full = false;
		uint64_t reach = covered;
		for (next = i; next < t->n && t->rows[next].start == t->rows[i].start; next++) {
			const struct symbol *s = &t->rows[next];
			full |= s->table == 0;
			if (s->rank <= RANK_LOCAL)
				reach = MAX(reach, (uint64_t)s->start + s->size);
		}
		for (size_t k = i; k < next; k++) {
			struct symbol s = t->rows[k];
			if ((full && s.table != 0) || (s.rank >= RANK_LABEL && s.start < covered && s.size == 0))
				continue;
			t->rows[kept++] = s;
		}
		covered = reach;
	}
	t->n = kept;
}

static void sizes_guess(struct loading *l)
{
	struct symtab *t = l->t;
	uint64_t next = UINT64_MAX, here = UINT64_MAX; /* starts of the group behind and of this group */
	for (size_t i = t->n; i-- > 0;) {
		struct symbol *s = &t->rows[i];
		if (s->start != here) {
			next = here;
			here = s->start;
		}
		if (s->size)
			continue;
		const struct part *part = part_at(l, t->base + s->start);
		uint64_t end = MIN(part ? part->end - t->base : here, next);
		s->size = (uint32_t)MIN(end - here, l->complete ? UINT32_MAX : UNSURE_BYTES);
	}
}

static int tables_load(struct loading *l, const struct elf *e, const struct elf *debug)
{
	struct place f;
	int r = 0;
	if (debug && section_place(debug, ".symtab", &f))
		r = place_load(l, &f, 0);
	if (r >= 0 && l->t->n == 0 && section_place(e, ".symtab", &f)) {
		strtab_done(&l->t->names[0]);
		r = place_load(l, &f, 0);
	}
	if (r < 0)
		return r;
	/* A table that ended early is still good for the symbols read. */
	l->complete = l->t->n > 0;
	bool has_exported = e->n_shdr ? section_place(e, ".dynsym", &f) : dynamic_place(e, &f);
	if (has_exported)
		r = place_load(l, &f, 1);
	return r < 0 ? r : 0;
}

static void symtab_freep(struct symtab **t)
{
	*t = symtab_free(*t);
}

size_t symtab_rows(const struct symtab *t)
{
	return t->n;
}

int symtab_load(const struct elf *e, const struct elf *debug, size_t most, struct symtab **ret)
{
	cleanup(symtab_freep) struct symtab *t = calloc(1, sizeof(*t));
	if (t)
		t->names = calloc(TABLES, sizeof(*t->names));
	if (!t || !t->names)
		return -ENOMEM;
	for (size_t i = 0; i < TABLES; i++)
		t->names[i].fd = -1;
	struct loading l = {.t = t, .most = most};
	parts_find(&l, e);
	int r = tables_load(&l, e, debug);
	if (r == 0 && t->n == 0)
		r = ELF_NONE;
	if (r == 0)
		r = symtab_rows_sort(t);
	if (r)
		return r;
	rows_thin(t);
	sizes_guess(&l);
	struct symbol *fit = realloc(t->rows, MAX(t->n, 1) * sizeof(*fit));
	if (fit)
		t->rows = fit;
	*ret = take(&t);
	return 0;
}

struct symtab *symtab_free(struct symtab *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; t->names && i < TABLES; i++)
		strtab_done(&t->names[i]);
	free(t->names);
	free(t->rows);
	free(t);
	return NULL;
}

/* Of two names of one function the better known wins: write over __write, free over cfree. */
static bool better(const struct symtab *t, const struct symbol *a, const struct symbol *b)
{
	char x[ALIAS_TEXT], y[ALIAS_TEXT];
	if (a->rank != b->rank)
		return a->rank < b->rank;
	if (!strtab_peek(&t->names[a->table], a->name, x, sizeof(x)))
		return false;
	if (!strtab_peek(&t->names[b->table], b->name, y, sizeof(y)))
		return true;
	size_t x_bars = strspn(x, "_"), y_bars = strspn(y, "_"), x_len = strlen(x), y_len = strlen(y);
	if (x_bars != y_bars)
		return x_bars < y_bars;
	return x_len != y_len ? x_len < y_len : strcmp(x, y) < 0;
}

bool symtab_find(const struct symtab *t, uint64_t vaddr, const char **ret_name, uint64_t *ret_start)
{
	if (vaddr < t->base || vaddr - t->base > UINT32_MAX)
		return false;
	uint32_t at = (uint32_t)(vaddr - t->base);
	size_t lo = bisect(t->n, mid, t->rows[mid].start <= at);
	const struct symbol *best = NULL;
	size_t seen = 0, aliases = 0;
	for (size_t i = lo; i-- > 0 && seen < LOOK_BACK && aliases < ALIASES_MAX; seen++) {
		const struct symbol *s = &t->rows[i];
		if (best && s->start != best->start)
			break;
		if (at - s->start >= s->size)
			continue;
		aliases++;
		if (!best || better(t, s, best))
			best = s;
	}
	const char *name = best ? strtab_name(&t->names[best->table], best->name) : NULL;
	if (!name || !*name)
		return false;
	*ret_name = name;
	*ret_start = t->base + best->start;
	return true;
}
