#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sense/python/pystr.h"
#include "sense/python/pyvalue.h"

static bool chars_have(const uint32_t *chars, size_t n, uint32_t c)
{
	for (size_t i = 0; i < n; i++)
		if (chars[i] == c)
			return true;
	return false;
}

static void char_add(uint32_t c, uint32_t quote, bool is_bytes, struct buf *to)
{
	char text[8];
	if (c == quote || c == '\\')
		buf_printf(to, "\\%c", (char)c);
	else if (c == '\n' || c == '\r' || c == '\t')
		buf_add(to, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
	else if (c < 0x20 || c == 0x7f || (c > 0x7f && c < 0xa1) || c == 0xad || (is_bytes && c > 0x7f))
		buf_printf(to, "\\x%02x", c);
	else if ((c >= 0xd800 && c <= 0xdfff) || (c >= 0x2028 && c <= 0x202e) || c == 0xfeff)
		buf_printf(to, "\\u%04x", c); /* surrogates, and characters that reverse the direction of a line */
	else if (c > 0x10ffff)
		buf_add(to, "?");
	else
		buf_add_n(to, text, pystr_utf8(c, text));
}

void pytext_repr(const uint32_t *chars, size_t n, bool is_bytes, bool cut, struct buf *to)
{
	uint32_t quote = chars_have(chars, n, '\'') && !chars_have(chars, n, '"') ? '"' : '\'';
	buf_printf(to, "%s%c", is_bytes ? "b" : "", (char)quote);
	for (size_t i = 0; i < n; i++)
		char_add(chars[i], quote, is_bytes, to);
	buf_printf(to, "%c%s", (char)quote, cut ? "..." : "");
}

/* Half the distance to the next number of 16 bits. */
static double half_step(double x)
{
	double step = 1;
	for (step /= 1 << 24; step * 2048 <= fabs(x); step *= 2)
		;
	return step / 2;
}

static bool same_number(double read, double x, enum pytext_precision p)
{
	if (p == PYTEXT_SINGLE)
		return (float)read == (float)x;
	return p == PYTEXT_HALF ? fabs(read - x) < half_step(x) : read == x;
}

/* Written as repr() does. */
void pytext_float(double x, enum pytext_precision p, struct buf *to)
{
	char text[40];
	int digits = 1;
	if (isnan(x) || isinf(x)) {
		buf_add(to, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
		return;
	}
	for (; digits <= 17; digits++) {
		TEXT_FORMAT(text, "%.*e", digits - 1, x);
		if (same_number(strtod(text, NULL), x, p))
			break;
	}
	digits = MIN(digits, 17);
	const char *e = strchr(text, 'e');
	long exponent = e ? strtol(e + 1, NULL, 10) : 0;
	if (exponent >= -4 && exponent < 16)
		buf_printf(to, "%.*f", (int)MAX(digits - 1 - exponent, 1), x);
	else
		buf_add(to, text);
}
