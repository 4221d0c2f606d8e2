#include <string.h>

#include "base/vec.h"
#include "sense/python/pycode.h"

/*
 * Line tables of three formats; each is a list of (bytes of code, change of line). Rows with the line of the row before
 * them are dropped. The table is foreign: an impossible line number becomes "none".
 */
struct rows {
	struct pycode_line *items;
	size_t n, cap;
};

static int pylines_row_add(struct rows *rows, uint64_t start, int64_t line)
{
	struct pycode_line row = {.start = (uint32_t)MIN(start, UINT32_MAX),
				  .line = line > 0 && line <= INT32_MAX ? (int32_t)line : 0};
	if (rows->n > 0 && rows->items[rows->n - 1].start == row.start)
		rows->n--; /* a row without code */
	if (rows->n > 0 && rows->items[rows->n - 1].line == row.line)
		return 0;
	if (vec_room(&rows->items, &rows->cap, rows->n + 1) < 0)
		return -ENOMEM;
	rows->items[rows->n++] = row;
	return 0;
}

/* 3.8, 3.9: (bytes, signed lines); a line lasts until the next pair with bytes in it. */
static int parse_lnotab(struct span t, int32_t first, struct rows *rows)
{
	uint64_t addr = 0;
	int64_t line = first;
	for (size_t i = 0; i + 1 < t.len; i += 2) {
		uint8_t bytes = (uint8_t)t.p[i];
		int r = bytes ? pylines_row_add(rows, addr, line) : 0;
		if (r)
			return r;
		addr += bytes;
		line += (int8_t)t.p[i + 1];
	}
	return pylines_row_add(rows, addr, line);
}

/* 3.10 (PEP 626): (bytes, signed lines), the line applies to these bytes; -128: they have none. */
static int parse_linetable(struct span t, int32_t first, struct rows *rows)
{
	uint64_t addr = 0;
	int64_t line = first;
	for (size_t i = 0; i + 1 < t.len; i += 2) {
		uint8_t bytes = (uint8_t)t.p[i];
		int8_t delta = (int8_t)t.p[i + 1];
		line += delta == -128 ? 0 : delta;
		int r = bytes ? pylines_row_add(rows, addr, delta == -128 ? 0 : line) : 0;
		if (r)
			return r;
		addr += bytes;
	}
	return 0;
}

/* Six bits per byte, the lowest first; bit 6: more follows. The lowest bit is the sign. */
static int64_t signed_varint(struct span t, size_t at)
{
	uint64_t v = 0;
	for (unsigned shift = 0; at < t.len && shift < 36; at++, shift += 6) {
		v |= (uint64_t)((uint8_t)t.p[at] & 63) << shift;
		if (!((uint8_t)t.p[at] & 64))
			break;
	}
	return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

/* 3.11 and later: an entry begins with a byte with bit 7 set: kind (4 bits), code units - 1 (3 bits). */
static int parse_locations(struct span t, int32_t first, struct rows *rows)
{
	enum { KIND_ONE_LINE_0 = 10, KIND_ONE_LINE_2 = 12, KIND_NO_COLUMNS = 13, KIND_LONG = 14, KIND_NONE = 15 };
	uint64_t addr = 0;
	int64_t line = first;
	for (size_t i = 0; i < t.len; i++) {
		uint8_t byte = (uint8_t)t.p[i];
		if (!(byte & 0x80))
			continue;
		unsigned kind = byte >> 3 & 15;
		if (kind >= KIND_ONE_LINE_0 && kind <= KIND_ONE_LINE_2)
			line += kind - KIND_ONE_LINE_0;
		else if (kind == KIND_NO_COLUMNS || kind == KIND_LONG)
			line += signed_varint(t, i + 1);
		int r = pylines_row_add(rows, addr, kind == KIND_NONE ? 0 : line);
		if (r)
			return r;
		addr += ((byte & 7) + UINT64_C(1)) * 2;
	}
	return 0;
}

int pylines_parse(uint8_t minor, struct span table, int32_t first_line, struct pycode_line **ret, size_t *ret_n)
{
	struct rows rows = {};
	int r = minor >= 11   ? parse_locations(table, first_line, &rows)
		: minor == 10 ? parse_linetable(table, first_line, &rows)
			      : parse_lnotab(table, first_line, &rows);
	if (r) {
		free(rows.items);
		return r;
	}
	*ret = rows.items;
	*ret_n = rows.n;
	return 0;
}
