#include "agent/output/lastline.h"

#include <string.h>

static bool ends_line(char c)
{
	return c == '\n' || c == '\r';
}

static void line_grow(struct lastline *l, const char *p, size_t n)
{
	n = MIN(n, sizeof(l->line) - l->line_len);
	memcpy(l->line + l->line_len, p, n);
	l->line_len += n;
}

/* The place behind the last end of a line in the first n bytes; 0: there is none. */
static size_t behind_last_end(const char *p, size_t n)
{
	const char *feed = memrchr(p, '\n', n);
	size_t from = feed ? (size_t)(feed - p) + 1 : 0;
	const char *back = memrchr(p + from, '\r', n - from);
	return back ? (size_t)(back - p) + 1 : from;
}

void lastline_add(struct lastline *l, const char *p, size_t n)
{
	const size_t rest = behind_last_end(p, n);
	if (rest > 0) {
		size_t end = rest;
		while (end > 0 && ends_line(p[end - 1]))
			end--;
		const size_t begin = behind_last_end(p, end);
		if (begin == 0) { /* it began before these bytes */
			line_grow(l, p, end);
			if (l->line_len > 0)
				memcpy(l->last, l->line, l->line_len);
			l->last_len = l->line_len > 0 ? l->line_len : l->last_len;
		} else {
			l->last_len = MIN(end - begin, sizeof(l->last));
			memcpy(l->last, p + begin, l->last_len);
		}
		l->line_len = 0;
	}
	line_grow(l, p + rest, n - rest);
}

bool lastline_hash(const struct lastline *l, uint64_t *ret)
{
	const char *p = l->line_len ? l->line : l->last;
	size_t n = l->line_len ? l->line_len : l->last_len;
	if (n == 0)
		return false;
	uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * UINT64_C(1099511628211);
	*ret = h;
	return true;
}
