#include "sense/log/logline.h"

#include <string.h>

#include "sense/log/logprefix.h"
#include "sense/log/logrank.h"

/* Maximum number of prefixes of one line; text after that is taken as the message. */
#define MOST_PREFIXES 4
#define MOST_RANKS 10000000

static void drop(struct span *s, size_t n)
{
	s->p += n;
	s->len -= n;
	while (s->len > 0 && (s->p[0] == ' ' || s->p[0] == '\t')) {
		s->p++;
		s->len--;
	}
}

/* Takes "HEAD<number>TAIL" and blanks after it off the front of s. */
static bool numbered(struct span *s, const char *head, const char *tail, uint64_t *ret)
{
	size_t n = strlen(head), t = strlen(tail), digits = 0;
	uint64_t v;
	if (!span_starts(*s, head))
		return false;
	while (n + digits < s->len && s->p[n + digits] >= '0' && s->p[n + digits] <= '9')
		digits++;
	if (digits == 0 || span_u64((struct span){s->p + n, digits}, &v) < 0 || v > MOST_RANKS ||
	    n + digits + t > s->len || memcmp(s->p + n + digits, tail, t) != 0)
		return false;
	*ret = v;
	drop(s, n + digits + t);
	return true;
}

static bool mpi_prefix(struct span *s, uint64_t *ret)
{
	struct span rest = *s;
	uint64_t job, rank;
	if (!numbered(&rest, "[", ",", &job) || !numbered(&rest, "", "]<std", &rank))
		return false;
	struct span after = span_after(rest, ">:");
	if (!after.p || after.p - rest.p > 6)
		return false;
	*ret = rank;
	*s = after;
	drop(s, 0);
	return true;
}

static bool ray_prefix(struct span *s, uint64_t *ret_pid)
{
	const char *end = s->len > 0 && s->p[0] == '(' ? memchr(s->p, ')', MIN(s->len, (size_t)160)) : NULL;
	if (!end)
		return false;
	struct span pid = span_after((struct span){s->p, (size_t)(end - s->p)}, " pid=");
	if (!pid.p || span_u64_prefix(pid, ret_pid) < 0)
		return false;
	drop(s, (size_t)(end + 1 - s->p));
	return true;
}

static bool rank_prefix(struct span *s, struct logline *r)
{
	uint64_t v;
	bool own = numbered(s, "[rank", "]:", &v) || numbered(s, "[rank", "]", &v) || numbered(s, "[Rank ", "]", &v) ||
		   numbered(s, "Rank:", " ", &v) || numbered(s, "[Rank", "]", &v) || numbered(s, "rank ", ": ", &v) ||
		   numbered(s, "", ": ", &v) || mpi_prefix(s, &v);
	bool local = !own && numbered(s, "[default", "]:", &v);
	if (!own && !local)
		return false;
	if (r->rank == NO_RANK || r->local_rank) {
		r->rank = (int32_t)v;
		r->local_rank = local;
	}
	return true;
}

/* What the program itself writes before its lines. */
static bool own_prefix(struct span *s, struct logline *r)
{
	uint64_t v;
	size_t end;
	bool local;
	if (!logrank_find(*s, &v, &local, &end) || v > MOST_RANKS)
		return false;
	if (r->rank == NO_RANK || (r->local_rank && !local)) {
		r->rank = (int32_t)v;
		r->local_rank = local;
	}
	drop(s, end);
	return end > 0;
}

/* Finds "2026-11-20 10:04:41,123", also with 'T', in the first 96 bytes of the line. */
static void time_find(struct span s, struct logline *r)
{
	int64_t y, mo, d, h, mi, sec, ms = 0;
	s.len = MIN(s.len, (size_t)96);
	for (size_t i = 0; i + 19 <= s.len; i++) {
		if (s.p[i + 4] != '-' || s.p[i + 7] != '-' || s.p[i + 13] != ':' || s.p[i + 16] != ':' ||
		    !logprefix_digits(s, i, 4, &y) || !logprefix_digits(s, i + 5, 2, &mo) ||
		    !logprefix_digits(s, i + 8, 2, &d) || !logprefix_digits(s, i + 11, 2, &h) ||
		    !logprefix_digits(s, i + 14, 2, &mi) || !logprefix_digits(s, i + 17, 2, &sec))
			continue;
		if (y < 1970 || mo < 1 || mo > 12 || d < 1 || d > 31)
			continue;
		r->has_ms = i + 23 <= s.len && (s.p[i + 19] == '.' || s.p[i + 19] == ',') &&
			    logprefix_digits(s, i + 20, 3, &ms);
		if (!r->has_ms)
			ms = 0;
		r->has_time = true;
		r->time_unix_ms = (logprefix_days(y, mo, d) * 86400 + h * 3600 + mi * 60 + sec) * 1000 + ms;
		return;
	}
}

void logline_parse(struct span line, struct logline *ret)
{
	struct logline r = {.text = line, .rank = NO_RANK};
	time_find(line, &r);
	drop(&r.text, 0);
	for (int i = 0; i < MOST_PREFIXES; i++)
		if (!rank_prefix(&r.text, &r) && !ray_prefix(&r.text, &r.pid) && !own_prefix(&r.text, &r))
			break;
	*ret = r;
}

enum { PLAIN, ESCAPE, CONTROL, STRING, STRING_ESCAPE };

static uint8_t ansi_next(uint8_t state, uint8_t c)
{
	switch (state) {
	case ESCAPE:
		return c == '[' ? CONTROL : c == ']' || c == 'P' || c == '_' || c == '^' ? STRING : PLAIN;
	case CONTROL: /* parameters, then one letter; an invalid sequence ends with the line */
		return (c >= 0x40 && c <= 0x7e) || c == '\n' ? PLAIN : CONTROL;
	case STRING:
		return c == 7 || c == '\n' ? PLAIN : c == 27 ? STRING_ESCAPE : STRING;
	default: /* STRING_ESCAPE */
		return PLAIN;
	}
}

size_t ansi_strip(struct ansi *a, char *text, size_t len)
{
	size_t out = 0, at = 0;
	while (at < len) {
		if (a->state == PLAIN) {
			const char *esc = memchr(text + at, 27, len - at);
			size_t n = esc ? (size_t)(esc - text) - at : len - at;
			if (out != at)
				memmove(text + out, text + at, n);
			out += n;
			at += n;
			if (!esc)
				break;
			a->state = ESCAPE;
			at++;
			continue;
		}
		uint8_t c = (uint8_t)text[at++];
		a->state = ansi_next(a->state, c);
		if (c == '\n') {
			a->state = PLAIN;
			text[out++] = '\n';
		}
	}
	return out;
}
