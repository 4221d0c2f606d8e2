#include "sense/go/gopcln.h"

#include <string.h>

#define MAGIC_118 0xfffffff0u
#define MAGIC_120 0xfffffff1u
#define HEADER_BYTES 72
#define NAME_MAX_BYTES 4096
/* funcdata and pcdata that are used, by their numbers (internal/abi). */
#define PCDATA_INLINE 2
#define FUNCDATA_INLINE 3
/* A table of one function with more steps is garbage. */
#define STEPS_MAX 131072

static bool has(const struct gopcln *t, uint64_t at, uint64_t len)
{
	return at <= t->bytes.len && len <= t->bytes.len - at;
}

static bool gopcln_u32_at(const struct gopcln *t, uint64_t at, uint32_t *ret)
{
	if (!has(t, at, sizeof(*ret)))
		return false;
	memcpy(ret, t->bytes.p + at, sizeof(*ret));
	return true;
}

int gopcln_open(struct span bytes, uint64_t text, struct gopcln *ret)
{
	struct gopcln t = {.bytes = bytes, .text = text};
	uint32_t magic;
	uint64_t h[8]; /* numbers of functions and files, text, and where the five parts are */
	if (bytes.len < HEADER_BYTES)
		return GOPCLN_NONE;
	memcpy(&magic, bytes.p, sizeof(magic));
	memcpy(h, bytes.p + 8, sizeof(h));
	if ((magic != MAGIC_118 && magic != MAGIC_120) || bytes.p[7] != 8)
		return GOPCLN_NONE;
	t.n_funcs = h[0];
	t.text = text ? text : h[2];
	t.names = h[3];
	t.cus = h[4];
	t.files = h[5];
	t.pcs = h[6];
	t.funcs = h[7];
	t.func_bytes = magic == MAGIC_118 ? 40 : 44;
	/* Each function has a pair of numbers, and one ends them. */
	if (t.n_funcs == 0 || t.n_funcs > bytes.len / 8 || !has(&t, t.funcs, t.n_funcs * 8 + 8) ||
	    !has(&t, t.names, 1) || !has(&t, t.cus, 0) || !has(&t, t.files, 0) || !has(&t, t.pcs, 0))
		return GOPCLN_NONE;
	*ret = t;
	return 0;
}

static uint32_t entry_at(const struct gopcln *t, uint64_t i)
{
	uint32_t off = 0;
	(void)gopcln_u32_at(t, t->funcs + i * 8, &off);
	return off;
}

int gopcln_find(const struct gopcln *t, uint64_t pc, struct gofunc *ret)
{
	uint64_t off = pc - t->text, low = 0, high = t->n_funcs;
	uint32_t at, entry;
	if (pc < t->text || off >= entry_at(t, t->n_funcs) || off < entry_at(t, 0))
		return GOPCLN_NONE;
	while (high - low > 1) {
		uint64_t mid = low + (high - low) / 2;
		if (entry_at(t, mid) <= off)
			low = mid;
		else
			high = mid;
	}
	if (!gopcln_u32_at(t, t->funcs + low * 8 + 4, &at) || !has(t, t->funcs + at, t->func_bytes) ||
	    !gopcln_u32_at(t, t->funcs + at, &entry) || entry > off)
		return GOPCLN_NONE;
	*ret = (struct gofunc){.entry = t->text + entry, .at = at};
	return 0;
}

/* A number of seven bits a byte, the lowest first. */
static bool varint(const struct gopcln *t, uint64_t *at, uint32_t *ret)
{
	uint32_t value = 0;
	for (unsigned shift = 0; shift < 35 && *at < t->bytes.len; shift += 7) {
		unsigned char b = (unsigned char)t->bytes.p[(*at)++];
		if (shift < 32)
			value |= (uint32_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

/* Where a function's table begins; false: it has none. */
static bool table_at(const struct gopcln *t, const struct gofunc *f, enum gopcln_table which, uint32_t *ret)
{
	uint64_t func = t->funcs + f->at;
	uint32_t n = 0;
	if (which != GOPCLN_INLINE)
		return gopcln_u32_at(t, func + 16 + (uint64_t)which * 4, ret) && *ret != 0;
	return gopcln_u32_at(t, func + 28, &n) && n > PCDATA_INLINE &&
	       gopcln_u32_at(t, func + t->func_bytes + UINT64_C(4) * PCDATA_INLINE, ret) && *ret != 0;
}

int gopcln_value(const struct gopcln *t, const struct gofunc *f, enum gopcln_table which, uint64_t pc, int32_t *ret)
{
	uint32_t start = 0, change, step;
	uint32_t value = UINT32_MAX;
	uint64_t at, until = f->entry;
	if (pc < f->entry || !table_at(t, f, which, &start))
		return GOPCLN_NONE;
	at = t->pcs + start;
	for (uint32_t n = 0; n < STEPS_MAX; n++) {
		if (!varint(t, &at, &change) || (change == 0 && n > 0) || !varint(t, &at, &step))
			return GOPCLN_NONE;
		value += change & 1 ? ~(change >> 1) : change >> 1;
		until += step;
		if (pc < until) {
			*ret = (int32_t)value;
			return 0;
		}
	}
	return GOPCLN_NONE;
}

static struct span text_at(const struct gopcln *t, uint64_t at)
{
	if (at >= t->bytes.len)
		return (struct span){"", 0};
	const char *p = t->bytes.p + at, *end = memchr(p, 0, MIN(t->bytes.len - at, (uint64_t)NAME_MAX_BYTES));
	return end ? (struct span){p, (size_t)(end - p)} : (struct span){"", 0};
}

struct span gopcln_name_at(const struct gopcln *t, uint32_t at)
{
	return text_at(t, t->names + at);
}

struct span gopcln_name(const struct gopcln *t, const struct gofunc *f)
{
	uint32_t at = 0;
	return gopcln_u32_at(t, t->funcs + f->at + 4, &at) ? gopcln_name_at(t, at) : (struct span){"", 0};
}

struct span gopcln_file(const struct gopcln *t, const struct gofunc *f, int32_t file)
{
	uint32_t cu = 0, at = 0;
	if (file < 0 || !gopcln_u32_at(t, t->funcs + f->at + 32, &cu) ||
	    !gopcln_u32_at(t, t->cus + ((uint64_t)cu + (uint32_t)file) * 4, &at) || at == UINT32_MAX)
		return (struct span){"", 0};
	return text_at(t, t->files + at);
}

int gopcln_inline_tree(const struct gopcln *t, const struct gofunc *f, uint32_t *ret)
{
	uint64_t func = t->funcs + f->at;
	uint32_t n = 0;
	if (!gopcln_u32_at(t, func + 28, &n) || n > UINT16_MAX || !has(t, func, t->func_bytes) ||
	    (unsigned char)t->bytes.p[func + t->func_bytes - 1] <= FUNCDATA_INLINE ||
	    !gopcln_u32_at(t, func + t->func_bytes + UINT64_C(4) * n + UINT64_C(4) * FUNCDATA_INLINE, ret) ||
	    *ret == UINT32_MAX)
		return GOPCLN_NONE;
	return 0;
}
