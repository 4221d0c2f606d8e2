#include "base/buf.h"

#include <stdio.h>
#include <string.h>

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->cut = false;
	if (b->cap > 0)
		b->text[0] = '\0';
}

void buf_add_n(struct buf *b, const char *text, size_t len)
{
	if (b->cap == 0)
		return;
	size_t room = b->cap - 1 - b->len;
	if (len > room) {
		len = room;
		b->cut = true;
	}
	memcpy(b->text + b->len, text, len);
	b->len += len;
	b->text[b->len] = '\0';
}

void buf_add(struct buf *b, const char *text)
{
	buf_add_n(b, text, strlen(text));
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	if (b->cap == 0)
		return;
	size_t room = b->cap - b->len;
	int n = vsnprintf(b->text + b->len, room, fmt, ap);
	if (n < 0)
		return;
	if ((size_t)n >= room) {
		b->cut = true;
		b->len = b->cap - 1;
		return;
	}
	b->len += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

size_t buf_runs(struct buf *b, const int32_t *rising, size_t n, size_t most, const char *last)
{
	size_t i = 0;
	for (size_t parts = 0; i < n && parts < most; parts++) {
		size_t to = i + 1;
		while (to < n && rising[to] == rising[to - 1] + 1)
			to++;
		const bool pair = to - i == 2; /* two are no run, but two parts */
		buf_printf(b, "%s%d", i == 0 ? "" : to == n && !pair ? last : ", ", rising[i]);
		if (to - i > 1)
			buf_printf(b, "%s%d", !pair ? "-" : to == n ? last : ", ", rising[to - 1]);
		i = to;
	}
	return i;
}

char *text_copy(char *dst, size_t cap, const char *src)
{
	size_t len = strlen(src);
	if (len >= cap) {
		len = cap - 1;
		/* leaves no half of a UTF-8 sequence */
		while (len > 0 && ((unsigned char)src[len] & 0xc0) == 0x80)
			len--;
	}
	memmove(dst, src, len);
	dst[len] = '\0';
	return dst;
}

int text_format(char *dst, size_t cap, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(dst, cap, fmt, ap);
	va_end(ap);
	return n;
}

void text_capital(char *text)
{
	if (text[0] >= 'a' && text[0] <= 'z')
		text[0] = (char)(text[0] - 'a' + 'A');
}
