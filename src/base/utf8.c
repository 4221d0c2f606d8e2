#include "base/utf8.h"

#include <string.h>

size_t utf8_char(const char *p, size_t len, uint32_t *ret_code)
{
	if (len == 0)
		return 0;
	const unsigned char *s = (const unsigned char *)p;
	if (s[0] < 0x80) {
		*ret_code = s[0];
		return 1;
	}
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || n > len)
		return 0;
	uint32_t code = s[0] & (0x7fU >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3fU);
	}
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || (code & 0xfffeU) == 0xfffe)
		return 0;
	*ret_code = code;
	return n;
}

bool utf8_hidden(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0x2028 || code == 0x2029 || code == 0x200e ||
	       code == 0x200f;
}

size_t utf8_plain(const char *text, size_t len, char *dst)
{
	size_t used = 0;
	for (size_t at = 0, n; at < len; at += MAX(n, (size_t)1)) {
		uint32_t code;
		n = utf8_char(text + at, len - at, &code);
		if (n == 0 || (utf8_hidden(code) && code != '\n' && code != '\t')) {
			dst[used++] = '?';
			continue;
		}
		memmove(dst + used, text + at, n);
		used += n;
	}
	return used;
}
