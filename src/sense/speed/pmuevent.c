#include "sense/speed/pmuevent.h"

#include <ctype.h>

#include "base/buf.h"

static bool pmu_number(struct span s, uint64_t *ret)
{
	uint64_t v = 0;
	if (!span_starts(s, "0x"))
		return span_u64(s, ret) == 0;
	if (s.len < 3 || s.len > 18)
		return false;
	for (size_t i = 2; i < s.len; i++) {
		const int c = tolower((unsigned char)s.p[i]);
		if (!isxdigit(c))
			return false;
		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*ret = v;
	return true;
}

static bool term_name(struct span s, char *dst, size_t cap)
{
	if (s.len == 0 || s.len >= cap)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_' && s.p[i] != '-')
			return false;
	span_copy(s, dst, cap);
	return true;
}

/* Takes what stands before the next comma off the front. */
static struct span before_comma(struct span *rest)
{
	struct span item = span_before(*rest, ",");
	const size_t used = MIN(item.len + 1, rest->len);
	rest->p += used;
	rest->len -= used;
	return span_trim(item);
}

int pmuterm_next(struct span *rest, struct pmuterm *ret)
{
	struct pmuterm t = {.value = 1};
	*rest = span_trim(*rest);
	if (rest->len == 0)
		return -ENOENT;
	struct span item = before_comma(rest), value = span_after(item, "=");
	if (!term_name(span_before(item, "="), t.name, sizeof(t.name)) || (value.p && !pmu_number(value, &t.value)))
		return -EINVAL;
	*ret = t;
	return 0;
}

/* The lowest bits of *value go to the bits `from` to `to`. */
static void bits_put(uint64_t *word, uint64_t from, uint64_t to, uint64_t *value)
{
	for (uint64_t i = from; i <= to; i++) {
		*word = (*word & ~(UINT64_C(1) << i)) | (*value & 1) << i;
		*value >>= 1;
	}
}

static int format_word(struct span name)
{
	static const char *const words[] = {"config", "config1", "config2"};
	for (int i = 0; i < 3; i++)
		if (span_eq(name, words[i]))
			return i;
	return -1;
}

int pmuevent_put(struct pmuevent *e, struct span format, uint64_t value)
{
	struct span bits = span_after(format = span_trim(format), ":");
	const int word = format_word(span_before(format, ":"));
	if (word < 0 || (bits.p && bits.len == 0))
		return -EINVAL;
	if (!bits.p) { /* a word as a whole, as some units name it */
		e->config[word] = value;
		return 0;
	}
	uint64_t to_word = e->config[word];
	while (bits.len > 0) {
		struct span item = before_comma(&bits), high = span_after(item, "-");
		uint64_t from, to;
		if (span_u64(span_before(item, "-"), &from) < 0)
			return -EINVAL;
		to = from;
		if ((high.p && span_u64(high, &to) < 0) || to < from || to > 63)
			return -EINVAL;
		bits_put(&to_word, from, to, &value);
	}
	if (value != 0)
		return -EINVAL;
	e->config[word] = to_word;
	return 0;
}

/* Digits off the front, times a power of ten that counts those behind the point; false: there is none. */
static bool digits(struct span *s, double *value, int *power)
{
	size_t n = 0;
	bool point = false;
	for (; s->len > 0; s->p++, s->len--) {
		if (*s->p == '.' && !point) {
			point = true;
			continue;
		}
		if (!isdigit((unsigned char)*s->p))
			break;
		if (++n > 40)
			return false;
		*value = *value * 10 + (*s->p - '0');
		*power -= point;
	}
	return n > 0;
}

int pmuscale_parse(struct span text, double *ret)
{
	double v = 0;
	int power = 0;
	int64_t exponent = 0;
	struct span s = span_trim(text);
	if (!digits(&s, &v, &power))
		return -EINVAL;
	if (s.len > 0) {
		if (*s.p != 'e' && *s.p != 'E')
			return -EINVAL;
		struct span e = {s.p + 1, s.len - 1};
		if (e.len > 1 && *e.p == '+')
			e = (struct span){e.p + 1, e.len - 1};
		if (span_i64(e, &exponent) < 0 || exponent < -60 || exponent > 60)
			return -EINVAL;
	}
	for (int64_t n = power + exponent; n != 0; n += n < 0 ? 1 : -1)
		v = n < 0 ? v / 10 : v * 10;
	if (!(v > 0))
		return -EINVAL;
	*ret = v;
	return 0;
}

int pmuunit_parse(struct span text, double *ret)
{
	static const struct {
		const char *name;
		double bytes;
	} units[] = {{"Bytes", 1},	  {"B", 1},    {"KiB", 1024}, {"MiB", 1048576},
		     {"GiB", 1073741824}, {"KB", 1e3}, {"MB", 1e6},   {"GB", 1e9}};
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (span_eq(span_trim(text), units[i].name)) {
			*ret = units[i].bytes;
			return 0;
		}
	return -EINVAL;
}
