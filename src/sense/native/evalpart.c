/*
 * Finds the split-off parts of CPython's evaluation loop. Compilers move the unlikely parts of a function elsewhere
 * (GCC: ".cold"), and a stripped file does not say where. A part of _PyEval_EvalFrameDefault is recognised by three
 * properties together: it has call frame information of its own, it has no name, and jumps lead from the loop into it
 * and from it back into the middle of the loop. A function that the loop tail-calls is jumped to as well, but only
 * parts of the loop jump into the loop's middle.
 */
#include <string.h>

#include "base/bisect.h"
#include "base/vec.h"
#include "sense/native/native_parts.h"

#define LOOP_MAX MIB /* The loop has 50 to 120 KiB in releases so far. */
#define ENTRIES_MAX (4 * 1024 * 1024)

#if defined(__x86_64__)

struct entry { /* of .eh_frame_hdr, both relative to its start */
	int32_t start, fde;
};

struct code {
	uint64_t start; /* address of the first byte */
	uint8_t *bytes; /* owned */
	size_t len;
};

static int cmp_u64(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return a < b ? -1 : a > b;
}

static void code_done(struct code *c)
{
	free(c->bytes);
}

static bool read_at(const struct elf *e, uint64_t addr, void *into, size_t len)
{
	for (size_t i = 0; i < e->n_phdr; i++) {
		const Elf64_Phdr *p = &e->phdr[i];
		if (p->p_type == PT_LOAD && addr >= p->p_vaddr && addr - p->p_vaddr < p->p_filesz &&
		    len <= p->p_filesz - (addr - p->p_vaddr))
			return elf_read(e, p->p_offset + (addr - p->p_vaddr), into, len) == 0;
	}
	return false;
}

static bool code_read(const struct elf *e, uint64_t start, uint64_t len, struct code *ret)
{
	if (len == 0 || len > LOOP_MAX)
		return false;
	*ret = (struct code){.start = start, .bytes = malloc(len), .len = len};
	return ret->bytes && read_at(e, start, ret->bytes, len);
}

/*
 * Calls f for the target of each jump with a 32-bit distance (jmp, jcc). This is not a disassembler: some hits are not
 * jumps.
 */
static bool jumps_any(const struct code *c, bool (*f)(void *ctx, uint64_t target), void *ctx)
{
	for (size_t i = 0; i + 5 <= c->len; i++) {
		bool far = c->bytes[i] == 0x0f && (c->bytes[i + 1] & 0xf0) == 0x80;
		size_t head = far ? 2 : 1;
		int32_t distance;
		if ((!far && c->bytes[i] != 0xe9) || i + head + 4 > c->len)
			continue;
		memcpy(&distance, c->bytes + i + head, sizeof(distance));
		if (f(ctx, c->start + i + head + 4 + (uint64_t)(int64_t)distance))
			return true;
	}
	return false;
}

struct targets {
	const struct code *loop;
	uint64_t *at; /* owned */
	size_t n, cap;
};

static bool collect_outside(void *ctx, uint64_t target)
{
	struct targets *t = ctx;
	if (target - t->loop->start < t->loop->len)
		return false;
	if (vec_room(&t->at, &t->cap, t->n + 1) < 0)
		return true;
	t->at[t->n++] = target;
	return false;
}

static bool is_inside(void *ctx, uint64_t target)
{
	const struct code *loop = ctx;
	return target > loop->start && target - loop->start < loop->len;
}

static bool any_within(const struct targets *t, uint64_t start, uint64_t end)
{
	size_t lo = bisect(t->n, mid, t->at[mid] < start);
	return lo < t->n && t->at[lo] < end;
}

struct table {
	uint64_t addr; /* of .eh_frame_hdr */
	struct entry *rows; /* owned */
	size_t n;
};

/* Loads the table in the only form that linkers write: sorted 32-bit distances from its own start. */
static bool table_load(const struct elf *e, struct table *ret)
{
	const Elf64_Phdr *p = elf_segment(e, PT_GNU_EH_FRAME);
	uint8_t head[12];
	uint32_t n;
	if (!p || elf_read(e, p->p_offset, head, sizeof(head)) != 0 || head[0] != 1 || head[1] != 0x1b ||
	    head[2] != 0x03 || head[3] != 0x3b)
		return false;
	memcpy(&n, head + 8, sizeof(n));
	if (n > ENTRIES_MAX)
		return false;
	*ret = (struct table){.addr = p->p_vaddr, .rows = malloc((n + (size_t)1) * sizeof(struct entry)), .n = n};
	return ret->rows && elf_read(e, p->p_offset + sizeof(head), ret->rows, n * sizeof(struct entry)) == 0;
}

/* Length of the code that a frame description covers; 0: it is in an unusual form. */
static uint64_t covered(const struct elf *e, const struct table *t, const struct entry *row)
{
	uint64_t fde = t->addr + (uint64_t)(int64_t)row->fde, start = t->addr + (uint64_t)(int64_t)row->start;
	struct {
		uint32_t len, cie;
		int32_t begin;
		uint32_t range;
	} f;
	if (!read_at(e, fde, &f, sizeof(f)) || f.len == UINT32_MAX || f.cie == 0 ||
	    fde + 8 + (uint64_t)(int64_t)f.begin != start)
		return 0;
	return f.range;
}

static void part_try(const struct elf *e, const struct code *loop, uint64_t start, uint64_t len, struct evalparts *ret)
{
	cleanup(code_done) struct code part = {};
	if (ret->n == ARRAY_SIZE(ret->part) || !code_read(e, start, len, &part) ||
	    !jumps_any(&part, is_inside, (void *)(uintptr_t)loop))
		return;
	ret->part[ret->n].start = start;
	ret->part[ret->n++].end = start + len;
}

static void parts_collect(const struct elf *e, const struct symtab *symbols, const struct table *t,
			  const struct code *loop, struct evalparts *ret)
{
	struct targets targets = {.loop = loop};
	const char *name;
	uint64_t at;
	jumps_any(loop, collect_outside, &targets);
	qsort(targets.at, targets.n, sizeof(*targets.at), cmp_u64);
	for (size_t i = 0; i < t->n && targets.n > 0; i++) {
		uint64_t start = t->addr + (uint64_t)(int64_t)t->rows[i].start;
		uint64_t next = i + 1 < t->n ? t->addr + (uint64_t)(int64_t)t->rows[i + 1].start : start + LOOP_MAX;
		if (start - loop->start < loop->len || !any_within(&targets, start, next))
			continue;
		if (symbols && symtab_find(symbols, start, &name, &at))
			continue;
		uint64_t len = covered(e, t, &t->rows[i]);
		if (len && any_within(&targets, start, start + len))
			part_try(e, loop, start, len, ret);
	}
	free(targets.at);
}

void evalparts_find(const struct elf *e, const struct symtab *symbols, struct evalparts *ret)
{
	struct elf_symbol loop_symbol;
	cleanup(code_done) struct code loop = {};
	struct table t = {};
	ret->n = 0;
	if (elf_find_symbol(e, "_PyEval_EvalFrameDefault", &loop_symbol) == 0 && loop_symbol.size &&
	    code_read(e, loop_symbol.value, loop_symbol.size, &loop) && table_load(e, &t))
		parts_collect(e, symbols, &t, &loop, ret);
	free(t.rows);
}

#else

/* Only x86_64 code is read: elsewhere no part is found, and addresses in one stay unknown. */
void evalparts_find(const struct elf *e, const struct symtab *symbols, struct evalparts *ret)
{
	(void)e;
	(void)symbols;
	ret->n = 0;
}

#endif
