#include "tell/text/sink.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

void sink_open(struct sink *s, FILE *to)
{
	s->to = to;
	s->r = 0;
	s->html = false;
	s->len = 0;
}

static void hand_on(struct sink *s, const void *data, size_t len)
{
	if (s->r < 0 || len == 0)
		return;
	errno = 0;
	if (fwrite(data, 1, len, s->to) != len)
		s->r = errno > 0 ? -errno : -EIO;
}

void sink_bytes(struct sink *s, const void *data, size_t len)
{
	if (s->len + len > sizeof(s->bytes)) {
		hand_on(s, s->bytes, s->len);
		s->len = 0;
	}
	if (len > sizeof(s->bytes)) {
		hand_on(s, data, len);
		return;
	}
	memcpy(s->bytes + s->len, data, len);
	s->len += len;
}

void sink_text(struct sink *s, const char *text)
{
	sink_bytes(s, text, strlen(text));
}

void sink_u64(struct sink *s, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);
	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v > 0);
	sink_bytes(s, digits + at, sizeof(digits) - at);
}

void sink_i64(struct sink *s, int64_t v)
{
	if (v < 0)
		sink_bytes(s, "-", 1);
	sink_u64(s, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void sink_double(struct sink *s, double v, int decimals)
{
	char text[64];
	if (!isfinite(v) || fabs(v) > 1e18) {
		sink_text(s, "null");
		return;
	}
	TEXT_FORMAT(text, "%.*f", decimals, v);
	char *comma = strchr(text, ',');
	if (comma)
		*comma = '.';
	sink_text(s, text);
}

void sink_json(struct sink *s, const char *text)
{
	size_t len = strlen(text);
	sink_bytes(s, "\"", 1);
	while (len > 0) {
		uint32_t code = 0;
		size_t n = utf8_char(text, len, &code);
		if (n == 0) {
			sink_bytes(s, "?", 1);
		} else if (code == '"' || code == '\\') {
			sink_bytes(s, "\\", 1);
			sink_bytes(s, text, 1);
		} else if (code < 0x20 || code == 0x7f || (s->html && code == '<')) {
			char escape[8];
			TEXT_FORMAT(escape, "\\u%04x", code);
			sink_bytes(s, escape, 6);
		} else {
			sink_bytes(s, text, n);
		}
		n = MAX(n, 1);
		text += n;
		len -= n;
	}
	sink_bytes(s, "\"", 1);
}

static const char *entity(uint32_t code)
{
	switch (code) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return utf8_hidden(code) ? "?" : NULL;
	}
}

void sink_xml(struct sink *s, const char *text, size_t max)
{
	size_t len = strlen(text), taken = 0;
	while (taken < len) {
		uint32_t code = 0;
		size_t n = utf8_char(text + taken, len - taken, &code);
		if (taken + MAX(n, 1) > max) {
			sink_text(s, "\xe2\x80\xa6");
			return;
		}
		const char *instead = n == 0 ? "?" : entity(code);
		if (instead)
			sink_text(s, instead);
		else
			sink_bytes(s, text + taken, n);
		taken += MAX(n, 1);
	}
}

int sink_close(struct sink *s)
{
	hand_on(s, s->bytes, s->len);
	s->len = 0;
	errno = 0;
	if (s->r == 0 && fflush(s->to) != 0)
		s->r = errno > 0 ? -errno : -EIO;
	return s->r;
}
