#include "sense/native/ehframe.h"

#include <string.h>

#include "base/bisect.h"
#include "base/hash.h"
#include "base/vec.h"

/* The largest machine-learning libraries have about 100 MiB; int32_t must be able to address the section. */
#define FRAME_MAX (128 * MIB)
#define HDR_MAX (32 * MIB)

/*
 * Rows kept per file at first. A program has hundreds of hot return addresses; a full table is emptied and starts
 * again.
 */
#define ROWS_FIRST 64
#define ROWS_MAX 4096

/* Most ends of tables, which are entries without a length, in one section. */
#define EMPTY_MAX 65536

struct index_row {
	uint64_t start;
	uint32_t at;
};

struct ehtable {
	struct eh_section frame, hdr;
	size_t table_at, n_table; /* the header's sorted pairs of int32_t; 0: not usable, the index is used */
	struct index_row *index; /* owned */
	size_t n_index;
	struct eh_row *rows; /* owned: a hash table of cap_rows, 0 or a power of two */
	size_t cap_rows, n_rows;
};

struct ehtable *ehtable_free(struct ehtable *t)
{
	if (!t)
		return NULL;
	free(t->frame.bytes);
	free(t->hdr.bytes);
	free(t->index);
	free(t->rows);
	free(t);
	return NULL;
}

static void ehtable_freep(struct ehtable **t)
{
	*t = ehtable_free(*t);
}

static void section_done(struct eh_section *s)
{
	free(s->bytes);
	*s = (struct eh_section){};
}

/* ---- finding the function's entry ---- */

/* Reads .eh_frame_hdr in the form all linkers write: pairs of int32_t, relative to its own start. */
static void hdr_read(struct ehtable *t)
{
	struct eh_bytes b = {.section = &t->hdr, .end = t->hdr.len};
	uint8_t version = (uint8_t)eh_uint(&b, 1), pointer = (uint8_t)eh_uint(&b, 1);
	uint8_t count = (uint8_t)eh_uint(&b, 1), pairs = (uint8_t)eh_uint(&b, 1);
	if (b.bad || version != 1 || pairs != 0x3b)
		return;
	(void)eh_pointer(&b, pointer, t->hdr.vaddr);
	uint64_t n = eh_pointer(&b, count, t->hdr.vaddr);
	if (b.bad || n == 0 || n > (b.end - b.at) / 8)
		return;
	t->table_at = b.at;
	t->n_table = (size_t)n;
}

static int32_t hdr_at(const struct ehtable *t, size_t i, size_t which)
{
	int32_t v;
	memcpy(&v, t->hdr.bytes + t->table_at + i * 8 + which * 4, sizeof(v));
	return v;
}

static int by_start(const void *a, const void *b)
{
	const struct index_row *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Walks all entries in order; an entry that is not understood is skipped by its length. */
static int index_build(struct ehtable *t)
{
	size_t cap = 0, empty = 0;
	for (size_t at = 0, next = 0; at < t->frame.len; at = next) {
		struct eh_function f;
		int r = eh_function_at(&t->frame, at, &f, &next);
		if (r == EH_BAD && next <= at)
			break;
		if (next - at <= sizeof(uint32_t) && ++empty > EMPTY_MAX)
			break; /* zeros, not entries */
		if (r || f.end == f.start)
			continue;
		if (vec_room(&t->index, &cap, t->n_index + 1) < 0)
			return -ENOMEM;
		t->index[t->n_index++] = (struct index_row){.start = f.start, .at = (uint32_t)at};
	}
	if (t->n_index == 0)
		return EH_NONE;
	qsort(t->index, t->n_index, sizeof(*t->index), by_start);
	return 0;
}

static bool index_find(const struct ehtable *t, uint64_t vaddr, size_t *ret)
{
	size_t lo = bisect(t->n_index, mid, t->index[mid].start <= vaddr);
	if (lo == 0)
		return false;
	*ret = t->index[lo - 1].at;
	return true;
}

static bool hdr_find(const struct ehtable *t, uint64_t vaddr, size_t *ret)
{
	const int64_t want = (int64_t)(vaddr - t->hdr.vaddr);
	const size_t lo = bisect(t->n_table, mid, hdr_at(t, mid, 0) <= want);
	if (lo == 0)
		return false;
	uint64_t at = t->hdr.vaddr + (uint64_t)(int64_t)hdr_at(t, lo - 1, 1) - t->frame.vaddr;
	if (at >= t->frame.len)
		return false;
	*ret = (size_t)at;
	return true;
}

static int row_compute(const struct ehtable *t, uint64_t vaddr, struct eh_row *ret)
{
	struct eh_function f;
	size_t at, next;
	if (t->n_table ? !hdr_find(t, vaddr, &at) : !index_find(t, vaddr, &at))
		return EH_NONE;
	int r = eh_function_at(&t->frame, at, &f, &next);
	if (r)
		return EH_BAD;
	if (vaddr < f.start || vaddr >= f.end)
		return EH_NONE;
	return eh_function_row(&t->frame, &f, vaddr, ret);
}

/* ---- rows that are kept ---- */

/* pc 0 is no function: it marks a free slot. */
static struct eh_row *eh_row_slot(const struct ehtable *t, uint64_t pc)
{
	size_t mask = t->cap_rows - 1;
	size_t i = hash_slot(pc, mask);
	while (t->rows[i].pc != 0 && t->rows[i].pc != pc)
		i = (i + 1) & mask;
	return &t->rows[i];
}

static int rows_make_room(struct ehtable *t)
{
	if (t->cap_rows && t->n_rows < t->cap_rows / 2)
		return 0;
	if (t->cap_rows >= ROWS_MAX) {
		memset(t->rows, 0, t->cap_rows * sizeof(*t->rows));
		t->n_rows = 0;
		return 0;
	}
	struct ehtable bigger = {.cap_rows = t->cap_rows ? t->cap_rows * 4 : ROWS_FIRST};
	bigger.rows = calloc(bigger.cap_rows, sizeof(*bigger.rows));
	if (!bigger.rows)
		return -ENOMEM;
	for (size_t i = 0; i < t->cap_rows; i++)
		if (t->rows[i].pc)
			*eh_row_slot(&bigger, t->rows[i].pc) = t->rows[i];
	free(t->rows);
	t->rows = bigger.rows;
	t->cap_rows = bigger.cap_rows;
	return 0;
}

int ehtable_row(struct ehtable *t, uint64_t vaddr, const struct eh_row **ret)
{
	if (vaddr == 0)
		return EH_NONE;
	struct eh_row *row = t->cap_rows ? eh_row_slot(t, vaddr) : NULL;
	if (!row || row->pc != vaddr) {
		int r = rows_make_room(t);
		if (r)
			return r;
		row = eh_row_slot(t, vaddr);
		int state = row_compute(t, vaddr, row);
		if (state)
			*row = (struct eh_row){.pc = vaddr, .state = state};
		t->n_rows++;
	}
	if (row->state)
		return row->state;
	*ret = row;
	return 0;
}

const uint8_t *ehtable_expression(const struct ehtable *t, const struct eh_rule *rule)
{
	return t->frame.bytes + rule->value;
}

/* ---- loading ---- */

int ehtable_from(struct eh_section frame, struct eh_section hdr, struct ehtable **ret)
{
	cleanup(ehtable_freep) struct ehtable *t = calloc(1, sizeof(*t));
	if (!t) {
		section_done(&frame);
		section_done(&hdr);
		return -ENOMEM;
	}
	t->frame = frame;
	t->hdr = hdr;
	if (!frame.bytes || frame.len > FRAME_MAX)
		return EH_NONE;
	if (hdr.bytes)
		hdr_read(t);
	int r = t->n_table ? 0 : index_build(t);
	if (r)
		return r;
	*ret = take(&t);
	return 0;
}

uint64_t ehtable_bytes(const struct ehtable *t)
{
	return t->frame.len + t->hdr.len + t->n_index * sizeof(*t->index);
}

static int section_load(const struct elf *e, const char *name, uint64_t max, struct eh_section *ret)
{
	void *bytes = NULL;
	size_t len = 0;
	const Elf64_Shdr *s = elf_section(e, name);
	int r = s ? elf_section_load(e, s, max, &bytes, &len) : ELF_NONE;
	if (r)
		return r;
	*ret = (struct eh_section){.bytes = bytes, .len = len, .vaddr = s->sh_addr};
	return 0;
}

/* Loads a part of a segment, from vaddr to the end of the segment's bytes in the file. */
static int segment_part_load(const struct elf *e, const Elf64_Phdr *p, uint64_t vaddr, uint64_t max,
			     struct eh_section *ret)
{
	uint64_t skip = vaddr - p->p_vaddr, len = p->p_filesz - skip;
	if (len > max)
		return ELF_NONE;
	cleanup(freep) uint8_t *bytes = malloc(len + 1);
	if (!bytes)
		return -ENOMEM;
	int r = p->p_offset > UINT64_MAX - skip ? ELF_NOT : elf_read(e, p->p_offset + skip, bytes, len);
	if (r)
		return r;
	*ret = (struct eh_section){.bytes = take(&bytes), .len = len, .vaddr = vaddr};
	return 0;
}

/*
 * For files without a section table (sstrip, packers): the header has a segment of its own, which gives the start of
 * .eh_frame.
 */
static int segments_load(const struct elf *e, uint64_t max, struct eh_section *ret_frame, struct eh_section *ret_hdr)
{
	const Elf64_Phdr *p = elf_segment(e, PT_GNU_EH_FRAME);
	if (!p || p->p_filesz > HDR_MAX)
		return ELF_NONE;
	if (!ret_hdr->bytes) {
		int r = segment_part_load(e, p, p->p_vaddr, HDR_MAX, ret_hdr);
		if (r)
			return r;
	}
	struct eh_bytes b = {.section = ret_hdr, .at = 1, .end = ret_hdr->len};
	uint8_t encoding = (uint8_t)eh_uint(&b, 1);
	b.at = 4;
	b.bad |= ret_hdr->len < 4;
	uint64_t vaddr = b.bad ? 0 : eh_pointer(&b, encoding, ret_hdr->vaddr);
	for (size_t i = 0; i < e->n_phdr && !b.bad; i++) {
		const Elf64_Phdr *l = &e->phdr[i];
		if (l->p_type == PT_LOAD && vaddr >= l->p_vaddr && vaddr - l->p_vaddr < l->p_filesz)
			return segment_part_load(e, l, vaddr, max, ret_frame);
	}
	return ELF_NONE;
}

int ehtable_load(const struct elf *e, uint64_t max_bytes, struct ehtable **ret)
{
	uint64_t max = MIN(max_bytes, FRAME_MAX);
	cleanup(section_done) struct eh_section hdr = {.bytes = NULL};
	cleanup(section_done) struct eh_section frame = {.bytes = NULL};
	int r = section_load(e, ".eh_frame_hdr", HDR_MAX, &hdr);
	if (r >= 0)
		r = section_load(e, ".eh_frame", max, &frame);
	if (r > 0)
		r = segments_load(e, max, &frame, &hdr);
	if (r)
		return r < 0 ? r : ELF_NONE;
	struct eh_section both[2] = {frame, hdr};
	frame = hdr = (struct eh_section){.bytes = NULL};
	r = ehtable_from(both[0], both[1], ret);
	return r == EH_NONE ? ELF_NONE : r;
}
