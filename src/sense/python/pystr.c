#include "sense/python/pystr.h"

#include <string.h>

/* Bytes read together with the header: most names fit, which saves a call. */
#define AHEAD 128
/* Longer than any text that is shown. */
#define CHARS_MAX (1 * MIB)

struct layout {
	uint64_t length, data; /* data: address of the first character */
	unsigned width; /* 1, 2, 4 bytes */
};

size_t pystr_utf8(uint32_t c, char *dst)
{
	if (c < 0x80) {
		dst[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		dst[0] = (char)(0xc0 | c >> 6);
		dst[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff) {
		dst[0] = '?';
		return 1;
	}
	if (c < 0x10000) {
		dst[0] = (char)(0xe0 | c >> 12);
		dst[1] = (char)(0x80 | (c >> 6 & 0x3f));
		dst[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	dst[0] = (char)(0xf0 | c >> 18);
	dst[1] = (char)(0x80 | (c >> 12 & 0x3f));
	dst[2] = (char)(0x80 | (c >> 6 & 0x3f));
	dst[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/*
 * Bit field: interned:2 kind:3 compact:1 ascii:1; 3.14 without the GIL gives `interned` a byte of its own. have: bytes
 * of head that could be read.
 */
static int layout_of(const struct pyrt *rt, uint64_t addr, const unsigned char *head, size_t have, struct layout *ret)
{
	const struct pyoffsets *o = &rt->off;
	uint32_t state = 0;
	struct layout l = {};
	if (have < o->str.ascii || o->str.length > have - 8 || o->str.state > have - 4)
		return REMOTE_FAULT;
	memcpy(&l.length, head + o->str.length, sizeof(l.length));
	memcpy(&state, head + o->str.state, sizeof(state));
	state >>= rt->free_threaded && rt->minor >= 14 ? 8 : 2;
	l.width = state & 7;
	bool compact = state >> 3 & 1, ascii = state >> 4 & 1;
	if ((l.width != 1 && l.width != 2 && l.width != 4) || (ascii && l.width != 1) || l.length > INT64_MAX / 4)
		return PYCODE_GARBAGE;
	if (compact) {
		l.data = addr + (ascii ? o->str.ascii : o->str.compact);
	} else {
		if (o->str.data > have - 8)
			return REMOTE_FAULT;
		memcpy(&l.data, head + o->str.data, sizeof(l.data));
		if (!l.data)
			return PYCODE_GARBAGE;
	}
	*ret = l;
	return 0;
}

static void widen(const unsigned char *bytes, unsigned width, size_t n, uint32_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t c = 0;
		memcpy(&c, bytes + i * width, width); /* little-endian, as the process is: see elffile */
		ret[i] = c;
	}
}

int pystr_chars(const struct pyrt *rt, struct remote *r, uint64_t addr, size_t max, uint32_t **ret, size_t *ret_n,
		uint64_t *ret_length)
{
	unsigned char head[128 + AHEAD];
	if (rt->off.str.ascii > 128 || rt->off.str.compact > 128)
		return PYCODE_GARBAGE;
	struct iovec into = {head, MAX(rt->off.str.compact, rt->off.str.ascii) + AHEAD};
	struct iovec from = {(void *)(uintptr_t)addr, into.iov_len}; // NOLINT(performance-no-int-to-ptr): theirs
	struct layout l;
	size_t have = 0;
	int e = remote_readv(r, &into, 1, &from, 1, &have);
	if (e == 0)
		e = have < 16 ? REMOTE_FAULT : layout_of(rt, addr, head, have, &l);
	if (e)
		return e;
	size_t n = (size_t)MIN(l.length, MIN(max, CHARS_MAX)), bytes = n * l.width;
	cleanup(freep) uint32_t *chars = malloc((n + 1) * sizeof(*chars));
	if (!chars)
		return -ENOMEM;
	if (l.data >= addr && l.data - addr <= have && bytes <= have - (l.data - addr)) {
		widen(head + (l.data - addr), l.width, n, chars);
	} else {
		cleanup(freep) unsigned char *more = malloc(bytes + 1);
		if (!more)
			return -ENOMEM;
		e = remote_read(r, l.data, more, bytes);
		if (e)
			return e;
		widen(more, l.width, n, chars);
	}
	*ret = take(&chars);
	*ret_n = n;
	*ret_length = l.length;
	return 0;
}

int pystr_read(const struct pyrt *rt, struct remote *r, uint64_t addr, size_t max, char **ret)
{
	cleanup(freep) uint32_t *chars = NULL;
	size_t n = 0, at = 0;
	uint64_t length = 0;
	int e = pystr_chars(rt, r, addr, max, &chars, &n, &length);
	if (e)
		return e;
	char *text = malloc(n * 4 + 1);
	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		at += pystr_utf8(chars[i] ? chars[i] : '?', text + at); /* a NUL would end the text for its readers */
	text[at] = '\0';
	*ret = text;
	return 0;
}
