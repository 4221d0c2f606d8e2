#include "sense/python/pyscan.h"

#include <string.h>

/* The data of libpython has 0.5 to 1.5 MB. */
#define SCAN_MAX (8 * MIB)
#define SCAN_CHUNK (64 * KIB)

static unsigned number_take(const char **p, const char *end, unsigned *ret_digits)
{
	unsigned v = 0, digits = 0;
	for (; *p < end && **p >= '0' && **p <= '9' && digits < 3; (*p)++, digits++)
		v = v * 10 + (unsigned)(**p - '0');
	*ret_digits = digits;
	return v;
}

/* "3.10.13 (", as Py_GetVersion() writes it. */
static bool version_at(const char *p, const char *end, unsigned minor, uint32_t *ret)
{
	unsigned digits = 0;
	if (end - p < 12 || p[0] != '3' || p[1] != '.')
		return false;
	p += 2;
	unsigned m = number_take(&p, end, &digits);
	if (digits == 0 || p == end || *p++ != '.')
		return false;
	unsigned patch = number_take(&p, end, &digits);
	if (digits == 0 || patch > 255 || end - p < 2)
		return false;
	uint32_t level = 0xf0;
	if (*p == '+') /* built from a tree between two releases */
		p++;
	if (end - p < 2 || p[0] != ' ' || p[1] != '(')
		return false;
	if (minor ? m != minor : m < 8 || m > 12)
		return false;
	*ret = UINT32_C(3) << 24 | m << 16 | patch << 8 | level;
	return true;
}

struct scan {
	struct remote *remote;
	const struct maps *maps;
	/* True ends the scan. addr: where the bytes were read from. */
	bool (*chunk)(struct scan *s, uint64_t addr, const char *bytes, size_t len);
	const struct pyoffsets *off;
	unsigned minor;
	uint64_t found;
};

/* Chunks overlap by the longest item that is searched. */
static bool range_walk(struct scan *s, uint64_t start, uint64_t end, char *bytes)
{
	const size_t overlap = 32;
	for (uint64_t at = start; at < end; at += SCAN_CHUNK - overlap) {
		size_t len = (size_t)MIN(end - at, SCAN_CHUNK);
		if (remote_read(s->remote, at, bytes, len) == 0 && s->chunk(s, at, bytes, len))
			return true;
		if (len < SCAN_CHUNK)
			break;
	}
	return false;
}

/* Scans the writable memory of a file and its .bss: the anonymous mapping right behind it. */
static bool data_walk(struct scan *s, const struct map_row *row)
{
	uint64_t budget = SCAN_MAX;
	bool behind = false;
	cleanup(freep) char *bytes = malloc(SCAN_CHUNK);
	for (size_t i = 0; bytes && i < s->maps->n && budget > 0; i++) {
		const struct map_row *a = &s->maps->rows[i];
		bool ours = a->inode == row->inode && a->dev == row->dev;
		bool bss = behind && !a->inode && a->path[0] == '\0' && a->start == a[-1].end;
		behind = ours && a->flags & MAP_WRITE;
		if (!(a->flags & MAP_WRITE) || !(a->flags & MAP_READ) || !(ours || bss))
			continue;
		uint64_t len = MIN(a->end - a->start, budget);
		budget -= len;
		if (range_walk(s, a->start, a->start + len, bytes))
			return true;
	}
	return false;
}

static bool version_in_chunk(struct scan *s, uint64_t addr, const char *bytes, size_t len)
{
	const char *end = bytes + len;
	uint32_t version = 0;
	(void)addr;
	for (const char *p = memchr(bytes, '3', len); p; p = memchr(p + 1, '3', (size_t)(end - p - 1)))
		if (version_at(p, end, s->minor, &version)) {
			s->found = version;
			return true;
		}
	return false;
}

bool pyscan_version(struct remote *r, const struct maps *m, const struct map_row *row, unsigned minor,
		    uint32_t *ret_version)
{
	struct scan s = {.remote = r, .maps = m, .minor = minor, .chunk = version_in_chunk};
	if (!data_walk(&s, row))
		return false;
	*ret_version = (uint32_t)s.found;
	return true;
}

static bool cookie_in_chunk(struct scan *s, uint64_t addr, const char *bytes, size_t len)
{
	for (size_t i = (size_t)(-addr & 7); i + 8 <= len; i += 8) {
		if (memcmp(bytes + i, "xdebugpy", 8) != 0)
			continue;
		s->found = addr + i;
		return true;
	}
	return false;
}

bool pyscan_cookie(struct remote *r, const struct maps *m, const struct map_row *row, uint64_t *ret_runtime)
{
	struct scan s = {.remote = r, .maps = m, .chunk = cookie_in_chunk};
	if (!data_walk(&s, row))
		return false;
	*ret_runtime = s.found;
	return true;
}

static bool leads_somewhere(const struct maps *m, uint64_t p)
{
	const struct map_row *row = p && p % 8 == 0 ? maps_find(m, p) : NULL;
	return row && row->flags & MAP_WRITE;
}

static bool is_interpreter(struct scan *s, uint64_t interp)
{
	uint64_t thread = 0, back = 0;
	return remote_u64(s->remote, interp + s->off->interp.threads_head, &thread) == 0 &&
	       leads_somewhere(s->maps, thread) && remote_u64(s->remote, thread + s->off->thread.interp, &back) == 0 &&
	       back == interp;
}

/* interpreters.head and interpreters.main lie side by side; main is the first one created, and the end of the chain. */
static bool chain_in_chunk(struct scan *s, uint64_t addr, const char *bytes, size_t len)
{
	uint64_t pair[2], next = 1;
	for (size_t i = (size_t)(-addr & 7); i + sizeof(pair) <= len; i += 8) {
		memcpy(pair, bytes + i, sizeof(pair));
		if (!leads_somewhere(s->maps, pair[0]) || !leads_somewhere(s->maps, pair[1]) ||
		    !is_interpreter(s, pair[0]) || (pair[1] != pair[0] && !is_interpreter(s, pair[1])) ||
		    remote_u64(s->remote, pair[1] + s->off->interp.next, &next) != 0 || next != 0)
			continue;
		s->found = addr + i - s->off->runtime.interpreters_head;
		return true;
	}
	return false;
}

bool pyscan_chain(struct remote *r, const struct maps *m, const struct map_row *row, const struct pyoffsets *o,
		  uint64_t *ret_runtime)
{
	struct scan s = {.remote = r, .maps = m, .off = o, .chunk = chain_in_chunk};
	if (!data_walk(&s, row))
		return false;
	*ret_runtime = s.found;
	return true;
}

unsigned pyscan_minor(const struct maps *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const char *p = strstr(m->rows[i].path, "/python3."), *end;
		unsigned digits = 0;
		p = p ? p + strlen("/python3.") : strstr(m->rows[i].path, ".cpython-3");
		if (!p)
			continue;
		p += *p == '.' ? strlen(".cpython-3") : 0;
		end = p + strlen(p);
		unsigned minor = number_take(&p, end, &digits);
		if (digits > 0)
			return minor;
	}
	return 0;
}

/* The newest frame of a thread; 0: none. */
static uint64_t frame_of(struct remote *r, const struct pyoffsets *o, uint64_t thread)
{
	uint64_t frame = 0;
	if (o->thread.cframe != PYOFF_NONE) {
		uint64_t cframe = 0;
		return remote_u64(r, thread + o->thread.cframe, &cframe) == 0 && cframe &&
				       remote_u64(r, cframe + o->thread.cframe_current, &frame) == 0
			       ? frame
			       : 0;
	}
	return remote_u64(r, thread + o->thread.frame, &frame) == 0 ? frame : 0;
}

/* A running frame of any thread of any interpreter; 0: there is none. */
static uint64_t any_frame(struct remote *r, const struct pyrt *rt)
{
	const struct pyoffsets *o = &rt->off;
	uint64_t interp = 0, thread = 0, frame = 0;
	int e = remote_u64(r, rt->runtime + o->runtime.interpreters_head, &interp);
	for (int i = 0; e == 0 && i < 64 && interp; i++) {
		e = remote_u64(r, interp + o->interp.threads_head, &thread);
		for (int k = 0; e == 0 && k < 64 && thread; k++) {
			frame = frame_of(r, o, thread);
			if (frame)
				return frame;
			e = remote_u64(r, thread + o->thread.next, &thread);
		}
		if (e == 0)
			e = remote_u64(r, interp + o->interp.next, &interp);
	}
	return 0;
}

uint64_t pyscan_code_type(struct remote *r, const struct pyrt *rt)
{
	const struct pyoffsets *o = &rt->off;
	uint64_t frame = any_frame(r, rt), code = 0, type = 0, name = 0;
	char text[8];
	for (int i = 0; i < 8 && frame; i++) {
		if (remote_u64(r, frame + o->frame.code, &code) == 0 &&
		    remote_u64(r, (code & ~UINT64_C(3)) + o->object.type, &type) == 0 &&
		    remote_u64(r, type + o->type.name, &name) == 0 && remote_text(r, name, text, sizeof(text)) == 0 &&
		    strcmp(text, "code") == 0)
			return type;
		if (remote_u64(r, frame + o->frame.previous, &frame) != 0)
			return 0;
	}
	return 0;
}
