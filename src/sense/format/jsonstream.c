#include "sense/format/jsonstream.h"

#include <string.h>

enum {
	ST_VALUE,
	ST_VALUE_OR_END,
	ST_KEY,
	ST_KEY_OR_END,
	ST_COLON,
	ST_AFTER,
	ST_STRING,
	ST_ESCAPE,
	ST_HEX,
	ST_NUMBER,
	ST_WORD
};

void jsonstream_init(struct jsonstream *s,
		     void (*token)(void *ctx, enum jsonstream_token t, size_t depth, struct span text), void *ctx)
{
	memset(s, 0, sizeof(*s));
	s->token = token;
	s->ctx = ctx;
	s->state = ST_VALUE;
}

static void text_add(struct jsonstream *s, char c)
{
	if (s->len + 1 < sizeof(s->text))
		s->text[s->len++] = c;
}

static void text_add_code(struct jsonstream *s, uint32_t c)
{
	if (c < 0x80) {
		text_add(s, (char)c);
		return;
	}
	if (s->len + 5 > sizeof(s->text))
		return; /* a part of a character is worse than none */
	if (c < 0x800) {
		text_add(s, (char)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		text_add(s, (char)(0xe0 | c >> 12));
		text_add(s, (char)(0x80 | (c >> 6 & 0x3f)));
	} else {
		text_add(s, (char)(0xf0 | c >> 18));
		text_add(s, (char)(0x80 | (c >> 12 & 0x3f)));
		text_add(s, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	text_add(s, (char)(0x80 | (c & 0x3f)));
}

static void emit(struct jsonstream *s, enum jsonstream_token t)
{
	s->text[s->len] = '\0'; /* there is always room for it */
	s->token(s->ctx, t, s->depth, (struct span){s->text, s->len});
	s->len = 0;
}

static void value_over(struct jsonstream *s)
{
	s->state = ST_AFTER;
	s->done = s->depth == 0;
}

static bool open_level(struct jsonstream *s, bool object)
{
	if (s->depth == JSONSTREAM_DEPTH)
		return false;
	s->object[++s->depth] = object;
	emit(s, object ? JSONSTREAM_OBJECT : JSONSTREAM_ARRAY);
	s->state = object ? ST_KEY_OR_END : ST_VALUE_OR_END;
	return true;
}

static bool close_level(struct jsonstream *s, bool object)
{
	if (s->depth == 0 || s->object[s->depth] != object)
		return false;
	emit(s, object ? JSONSTREAM_OBJECT_END : JSONSTREAM_ARRAY_END);
	s->depth--;
	value_over(s);
	return true;
}

static bool is_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static bool jsonstream_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool value_begins(struct jsonstream *s, char c)
{
	if (c == '{' || c == '[')
		return open_level(s, c == '{');
	if (c == ']' && s->state == ST_VALUE_OR_END)
		return close_level(s, false);
	s->len = 0;
	s->is_key = false;
	if (c == '"') {
		s->state = ST_STRING;
		return true;
	}
	if (!is_number(c) && !jsonstream_is_letter(c)) /* letters: also NaN and Infinity, which Python writes */
		return false;
	s->state = jsonstream_is_letter(c) ? ST_WORD : ST_NUMBER;
	text_add(s, c);
	return true;
}

static bool key_begins(struct jsonstream *s, char c)
{
	if (c == '}' && s->state == ST_KEY_OR_END)
		return close_level(s, true);
	if (c != '"')
		return false;
	s->len = 0;
	s->is_key = true;
	s->state = ST_STRING;
	return true;
}

static bool after_value(struct jsonstream *s, char c)
{
	if (c == ',' && s->depth > 0) {
		s->state = s->object[s->depth] ? ST_KEY : ST_VALUE;
		return true;
	}
	return (c == '}' || c == ']') && close_level(s, c == '}');
}

static bool escape(struct jsonstream *s, char c)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *p = c ? strchr(from, c) : NULL;
	s->state = ST_STRING;
	if (p) {
		text_add(s, to[p - from]);
		return true;
	}
	s->state = ST_HEX;
	s->hex = 0;
	s->hex_left = 4;
	return c == 'u';
}

/* Two halves of a pair make one character; a half alone is shown as '?'. */
static void hex_over(struct jsonstream *s)
{
	s->state = ST_STRING;
	if (s->hex >= 0xd800 && s->hex < 0xdc00) {
		s->high = s->hex;
		return;
	}
	if (s->hex >= 0xdc00 && s->hex < 0xe000)
		text_add_code(s, s->high ? 0x10000 + ((s->high - 0xd800) << 10) + (s->hex - 0xdc00) : '?');
	else
		text_add_code(s, s->hex ? s->hex : '?');
	s->high = 0;
}

static bool hex(struct jsonstream *s, char c)
{
	uint32_t v = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
		     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
		     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
					    : 16;
	s->hex = s->hex << 4 | v;
	if (--s->hex_left == 0)
		hex_over(s);
	return v < 16;
}

static bool string(struct jsonstream *s, char c)
{
	if (c == '\\') {
		s->state = ST_ESCAPE;
	} else if (c == '"') {
		s->high = 0;
		emit(s, s->is_key ? JSONSTREAM_KEY : JSONSTREAM_STRING);
		if (s->is_key)
			s->state = ST_COLON;
		else
			value_over(s);
	} else {
		text_add(s, c); /* control characters are let through: programs write them unescaped */
	}
	return true;
}

static bool step(struct jsonstream *s, char c);

/* Numbers and words end at the character after them, which is then taken. */
static bool scalar(struct jsonstream *s, char c)
{
	const bool word = s->state == ST_WORD;
	if (word ? jsonstream_is_letter(c) : is_number(c)) {
		text_add(s, c);
		return true;
	}
	emit(s, word ? JSONSTREAM_WORD : JSONSTREAM_NUMBER);
	value_over(s);
	return s->done || step(s, c);
}

static bool step(struct jsonstream *s, char c)
{
	const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
	switch (s->state) {
	case ST_STRING:
		return string(s, c);
	case ST_ESCAPE:
		return escape(s, c);
	case ST_HEX:
		return hex(s, c);
	case ST_NUMBER:
	case ST_WORD:
		return scalar(s, c);
	case ST_VALUE:
	case ST_VALUE_OR_END:
		return blank || value_begins(s, c);
	case ST_KEY:
	case ST_KEY_OR_END:
		return blank || key_begins(s, c);
	case ST_COLON:
		s->state = c == ':' ? ST_VALUE : ST_COLON;
		return blank || c == ':';
	default:
		return blank || after_value(s, c);
	}
}

/* Takes what is plain of a text, number or word at once, which is most of a file; the number of bytes. */
static size_t plain_run(struct jsonstream *s, const char *data, size_t len)
{
	size_t n = 0;
	if (s->state == ST_STRING)
		while (n < len && data[n] != '"' && data[n] != '\\')
			n++;
	else if (s->state == ST_NUMBER)
		while (n < len && is_number(data[n]))
			n++;
	const size_t room = MIN(n, sizeof(s->text) - 1 - s->len);
	memcpy(s->text + s->len, data, room);
	s->len += room;
	return n;
}

int jsonstream_feed(struct jsonstream *s, const char *data, size_t len)
{
	size_t i = 0;
	if (s->broken)
		return JSONSTREAM_BROKEN;
	while (i < len && !s->done) {
		size_t n = plain_run(s, data + i, len - i);
		i += n;
		s->fed += n;
		if (i == len)
			break;
		if (!step(s, data[i])) {
			s->broken = true;
			return JSONSTREAM_BROKEN;
		}
		i++;
		s->fed++;
	}
	return 0;
}
