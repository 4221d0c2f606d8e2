#include "base/text.h"

#include <string.h>

struct span span_of(const char *text)
{
	return (struct span){text, strlen(text)};
}

bool span_eq(struct span s, const char *text)
{
	return strlen(text) == s.len && memcmp(s.p, text, s.len) == 0;
}

bool span_starts(struct span s, const char *prefix)
{
	size_t n = strlen(prefix);
	return n <= s.len && memcmp(s.p, prefix, n) == 0;
}

const char *span_find(struct span s, const char *needle)
{
	if (s.len == 0)
		return NULL;
	return memmem(s.p, s.len, needle, strlen(needle));
}

const char *span_rfind(struct span s, const char *needle)
{
	size_t n = strlen(needle);
	if (n > s.len)
		return NULL;
	/* the first character alone tells most places apart, without a call */
	for (size_t i = s.len - n + 1; i-- > 0;)
		if (n == 0 || (s.p[i] == needle[0] && memcmp(s.p + i, needle, n) == 0))
			return s.p + i;
	return NULL;
}

bool span_has(struct span s, const char *needle)
{
	return span_find(s, needle) != NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct span span_trim(struct span s)
{
	while (s.len > 0 && is_blank(s.p[0])) {
		s.p++;
		s.len--;
	}
	while (s.len > 0 && is_blank(s.p[s.len - 1]))
		s.len--;
	return s;
}

struct span span_after(struct span s, const char *key)
{
	const char *p = span_find(s, key);
	if (!p)
		return (struct span){NULL, 0};
	p += strlen(key);
	return (struct span){p, (size_t)(s.p + s.len - p)};
}

struct span span_before(struct span s, const char *key)
{
	const char *p = span_find(s, key);
	if (p)
		s.len = (size_t)(p - s.p);
	return s;
}

void span_copy(struct span s, char *dst, size_t cap)
{
	size_t n = MIN(s.len, cap - 1);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		dst[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
	}
	dst[n] = '\0';
}

bool span_line(struct span *rest, struct span *ret_line)
{
	if (rest->len == 0)
		return false;
	const char *nl = memchr(rest->p, '\n', rest->len);
	size_t n = nl ? (size_t)(nl - rest->p) : rest->len;
	*ret_line = (struct span){rest->p, n};
	size_t used = nl ? n + 1 : n;
	rest->p += used;
	rest->len -= used;
	return true;
}

bool span_word(struct span *rest, struct span *ret_word)
{
	while (rest->len > 0 && is_blank(rest->p[0])) {
		rest->p++;
		rest->len--;
	}
	if (rest->len == 0)
		return false;
	size_t n = 0;
	while (n < rest->len && !is_blank(rest->p[n]))
		n++;
	*ret_word = (struct span){rest->p, n};
	rest->p += n;
	rest->len -= n;
	return true;
}

int span_u64_prefix(struct span s, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;
	for (; i < s.len && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
		if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
			return -ERANGE;
	}
	if (i == 0)
		return -EINVAL;
	*ret = v;
	return 0;
}

int span_u64(struct span s, uint64_t *ret)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return -EINVAL;
	return span_u64_prefix(s, ret);
}

int span_i64(struct span s, int64_t *ret)
{
	bool neg = s.len > 0 && s.p[0] == '-';
	if (neg) {
		s.p++;
		s.len--;
	}
	uint64_t v;
	int r = span_u64(s, &v);
	if (r < 0)
		return r;
	if (v > (uint64_t)INT64_MAX)
		return -ERANGE;
	*ret = neg ? -(int64_t)v : (int64_t)v;
	return 0;
}

int text_field(struct span text, const char *key, struct span *ret_value)
{
	size_t n = strlen(key);
	struct span line;
	while (span_line(&text, &line)) {
		if (line.len <= n || memcmp(line.p, key, n) != 0)
			continue;
		struct span v = {line.p + n, line.len - n};
		if (v.p[0] == ':') {
			v.p++;
			v.len--;
		} else if (!is_blank(v.p[0])) {
			continue;
		}
		*ret_value = span_trim(v);
		return 0;
	}
	return -ENOENT;
}

int text_field_u64(struct span text, const char *key, uint64_t *ret)
{
	struct span v;
	int r = text_field(text, key, &v);
	if (r < 0)
		return r;
	return span_u64_prefix(v, ret);
}
