#include "sense/framework/progresscount.h"

#include "base/hash.h"

/* A list of what is loaded is printed at once; a loop takes its time for each turn. */
static const uint32_t grown_least = 5, moments_least = 2;
static const uint64_t moment_ns = 200 * NS_PER_MS;
/* Lines of a kind that came so often belong to the loop. */
static const uint32_t often = 3;
/* Which of the numbers of a line may be the one that counts. */
#define NUMBERS_MOST 3
#define LINE_MOST 256

static bool starts_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* A number in a line: s.p[at] to before s.p[end]. */
struct number {
	size_t at, end;
	uint64_t value;
	bool whole; /* it may count: no part of a time, a date, an address, a fraction or a word */
};

static bool joins(char c)
{
	return c == '.' || c == ':' || c == '-' || c == '/';
}

static bool number_next(struct span s, size_t from, struct number *ret)
{
	size_t at = from;
	while (at < s.len && !char_digit(s.p[at]))
		at++;
	if (at >= s.len)
		return false;
	size_t end = at;
	while (end < s.len && char_digit(s.p[end]))
		end++;
	const char before = at > 0 ? s.p[at - 1] : ' ', behind = end < s.len ? s.p[end] : ' ';
	const bool goes_on = end + 1 < s.len && joins(behind) && behind != '/' && char_digit(s.p[end + 1]);
	const bool goes_back = at > 1 && joins(before) && char_digit(s.p[at - 2]);
	*ret = (struct number){.at = at, .end = end};
	ret->whole = !goes_on && !goes_back && !starts_word(behind) && behind != '%' && before != '.' &&
		     span_u64((struct span){s.p + at, end - at}, &ret->value) == 0 && ret->value < UINT32_MAX;
	return true;
}

/* "/40", " of 40" behind a number; 0: none. */
static uint64_t total_behind(struct span s, size_t end)
{
	struct span rest = span_trim((struct span){s.p + end, s.len - end});
	struct number n;
	if (span_starts(rest, "/"))
		rest = (struct span){rest.p + 1, rest.len - 1};
	else if (span_starts(rest, "of "))
		rest = (struct span){rest.p + 3, rest.len - 3};
	else
		return 0;
	rest = span_trim(rest);
	return rest.len > 0 && char_digit(rest.p[0]) && number_next(rest, 0, &n) && n.at == 0 ? n.value : 0;
}

static struct progresscount_shape *shape_of(struct progresscount *c, uint64_t hash)
{
	struct progresscount_shape *worst = &c->shape[0];
	for (size_t i = 0; i < PROGRESSCOUNT_SHAPES; i++) {
		struct progresscount_shape *x = &c->shape[i];
		if (x->hash == hash)
			return x;
		const bool less = x->hash == 0 || (worst->hash != 0 && (x->grown < worst->grown ||
								       (x->grown == worst->grown &&
									x->seen_ns < worst->seen_ns)));
		if (less && worst->hash != 0)
			worst = x;
	}
	*worst = (struct progresscount_shape){.hash = hash};
	return worst;
}

static bool counts(const struct progresscount_shape *x)
{
	return x->grown >= grown_least && x->moments >= moments_least;
}

/* Ranks that share an output are a count or two apart, and the next epoch begins anew. */
static void shape_take(struct progresscount_shape *x, const struct number *n, uint64_t total, uint64_t now_ns)
{
	const uint64_t near = 2;
	const bool first = x->lines++ == 0;
	x->seen_ns = now_ns;
	if (!first && n->value == x->value + 1) {
		if (x->grown++ == 0)
			x->first_ns = x->grown_ns = now_ns;
		if (now_ns - x->grown_ns >= moment_ns || x->moments == 0)
			x->moments++;
		x->grown_ns = now_ns;
	} else if (!first && n->value != x->value && n->value + near >= x->value && n->value < x->value) {
		return;
	} else if (!first && n->value != x->value && n->value > 1) {
		x->grown = x->moments = 0;
	}
	x->value = n->value;
	x->total = total;
}

void progresscount_line(struct progresscount *c, struct span line, uint64_t now_ns)
{
	struct number n;
	struct progresscount_shape *x;
	size_t from = 0, whole = 0;
	bool of_loop = false, grew = false;
	line = span_trim(line);
	line.len = MIN(line.len, (size_t)LINE_MOST);
	if (line.len == 0)
		return;
	uint64_t hash = HASH_START;
	for (; whole < NUMBERS_MOST && number_next(line, from, &n); from = n.end) {
		hash = hash_bytes(hash_bytes(hash, line.p + from, n.at - from), "#", 1) | 1;
		if (!n.whole)
			continue;
		whole++;
		x = shape_of(c, hash);
		const uint32_t before = x->grown;
		shape_take(x, &n, total_behind(line, n.end), now_ns);
		of_loop |= x->lines >= often;
		grew |= x->grown > before && counts(x);
	}
	if (whole == 0) {
		x = shape_of(c, hash_bytes(hash, line.p + from, line.len - from) | 1);
		x->seen_ns = now_ns;
		of_loop = ++x->lines >= often;
	}
	c->over = !grew && (c->over || !of_loop);
}

bool progresscount_read(const struct progresscount *c, struct progresscount_found *ret)
{
	const struct progresscount_shape *best = NULL;
	for (size_t i = 0; i < PROGRESSCOUNT_SHAPES; i++) {
		const struct progresscount_shape *x = &c->shape[i];
		if (x->hash && counts(x) && (!best || x->grown_ns > best->grown_ns))
			best = x;
	}
	const bool unfinished = best && best->total > 0 && best->value + 1 < best->total;
	if (!best || (c->over && !unfinished) || (best->total > 0 && !unfinished))
		return false;
	*ret = (struct progresscount_found){.value = best->value,
					    .total = best->total,
					    .at_ns = best->grown_ns,
					    .gap_ns = (best->grown_ns - best->first_ns) / best->grown};
	return true;
}
