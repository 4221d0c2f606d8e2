#include "sense/log/logprefix.h"

#include <string.h>

#include "sense/log/kmsg.h"

static void span_drop(struct span *s, size_t n)
{
	s->p += n;
	s->len -= n;
}

bool logprefix_digits(struct span s, size_t at, size_t n, int64_t *ret)
{
	uint64_t v;
	if (at + n > s.len || span_u64((struct span){s.p + at, n}, &v) < 0)
		return false;
	*ret = (int64_t)v;
	return true;
}

int64_t logprefix_days(int64_t y, int64_t m, int64_t d)
{
	y -= m <= 2;
	int64_t era = (y >= 0 ? y : y - 399) / 400, yoe = y - era * 400;
	int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

/* "2026-11-20T10:04:41.123456+09:00", also with ',' before the fraction or without a colon in the zone. */
static bool iso_time(struct span w, int64_t *ret_unix_ms)
{
	int64_t y, mo, d, h, mi, s, ms = 0, zh = 0, zm = 0;
	if (w.len < 20 || w.p[4] != '-' || w.p[10] != 'T' || w.p[13] != ':' || !logprefix_digits(w, 0, 4, &y) ||
	    !logprefix_digits(w, 5, 2, &mo) || !logprefix_digits(w, 8, 2, &d) || !logprefix_digits(w, 11, 2, &h) ||
	    !logprefix_digits(w, 14, 2, &mi) || !logprefix_digits(w, 17, 2, &s) || mo < 1 || mo > 12 || d < 1 || d > 31)
		return false;
	size_t at = 19;
	if (w.p[at] == '.' || w.p[at] == ',') {
		int64_t scale = 100;
		for (at++; at < w.len && w.p[at] >= '0' && w.p[at] <= '9'; at++, scale /= 10)
			ms += (w.p[at] - '0') * scale;
	}
	int64_t sign = 0;
	if (at < w.len && (w.p[at] == '+' || w.p[at] == '-'))
		sign = w.p[at] == '-' ? -1 : 1;
	else if (at >= w.len || w.p[at] != 'Z')
		return false;
	if (sign != 0) {
		bool colon = at + 3 < w.len && w.p[at + 3] == ':';
		if (!logprefix_digits(w, at + 1, 2, &zh) || !logprefix_digits(w, at + (colon ? 4 : 3), 2, &zm))
			return false;
	}
	int64_t secs = logprefix_days(y, mo, d) * 86400 + h * 3600 + mi * 60 + s - sign * (zh * 3600 + zm * 60);
	*ret_unix_ms = secs * 1000 + ms;
	return true;
}

/* "[ 1234.567890] " or "[Fri Nov 20 10:04:41 2026] "; false if the bracket holds neither. */
static bool bracket_time(struct span *s, struct logprefix *r)
{
	const char *end = s->len > 0 && s->p[0] == '[' ? memchr(s->p, ']', MIN(s->len, (size_t)32)) : NULL;
	if (!end)
		return false;
	struct span in = span_trim((struct span){s->p + 1, (size_t)(end - s->p - 1)});
	struct span secs = span_before(in, "."), frac = span_after(in, ".");
	uint64_t sec, us = 0;
	bool mono = frac.p && frac.len == 6 && span_u64(secs, &sec) == 0 && span_u64(frac, &us) == 0 &&
		    sec < UINT64_MAX / 2000000;
	bool dated = in.len == 24 && in.p[3] == ' ' && in.p[13] == ':' && in.p[16] == ':';
	if (!mono && !dated)
		return false;
	if (mono) {
		r->has_mono = true;
		r->mono_us = sec * 1000000 + us;
	}
	span_drop(s, (size_t)(end + 1 - s->p));
	if (s->len > 0 && s->p[0] == ' ')
		span_drop(s, 1);
	return true;
}

static bool name_like(struct span w)
{
	for (size_t i = 0; i < w.len; i++) {
		char c = w.p[i];
		bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
			    c == '_' || c == '.' || c == '/' || c == '@' || c == '(' || c == ')';
		if (!fine)
			return false;
	}
	return w.len > 0;
}

/* "systemd-oomd[588]:" or "kernel:" */
static bool ident_word(struct span w, struct span *ret_ident, pid_t *ret_pid)
{
	if (w.len < 2 || w.p[w.len - 1] != ':')
		return false;
	w.len--;
	struct span name = span_before(w, "["), num = span_after(w, "[");
	uint64_t pid = 0;
	if (num.p) {
		if (num.len < 2 || num.p[num.len - 1] != ']' || span_u64((struct span){num.p, num.len - 1}, &pid) < 0 ||
		    pid > INT32_MAX)
			return false;
	}
	if (!name_like(name))
		return false;
	*ret_ident = name;
	*ret_pid = (pid_t)pid;
	return true;
}

static bool has_clock(struct span w)
{
	return w.len >= 8 && memchr(w.p, ':', w.len - 1) != NULL && w.p[0] >= '0' && w.p[0] <= '9';
}

/* "<date words> <host> <ident>[pid]: ". A word with a clock time must precede the ident; otherwise it is prose. */
static void syslog_head(struct span *s, struct logprefix *r)
{
	struct span rest = *s, w, ident;
	bool clock = false;
	pid_t pid;
	for (int i = 0; i < 6 && span_word(&rest, &w); i++) {
		int64_t unix_ms;
		if (i == 0 && iso_time(w, &unix_ms)) {
			r->has_unix = clock = true;
			r->unix_ms = unix_ms;
		} else if (clock && ident_word(w, &ident, &pid)) {
			r->ident = ident;
			r->pid = pid;
			if (rest.len > 0 && rest.p[0] == ' ')
				span_drop(&rest, 1);
			*s = rest;
			return;
		} else if (has_clock(w)) {
			clock = true;
		}
	}
}

/* "kern  :err   : " of dmesg -x */
static void decode_head(struct span *s)
{
	struct span level = span_after(*s, ":");
	if (!span_starts(*s, "kern ") || !level.p)
		return;
	struct span text = span_after(level, ":");
	if (text.p && (size_t)(text.p - s->p) < 20)
		*s = span_trim(text);
}

void logprefix_parse(struct span line, struct logprefix *ret)
{
	struct logprefix r = {.text = line};
	struct kmsg_record k;
	if (line.len > 0 && line.p[line.len - 1] == '\r')
		line.len--;
	r.text = line;
	if (line.len > 0 && line.p[0] >= '0' && line.p[0] <= '9' && kmsg_parse(line, &k) == 0) {
		r.text = k.text;
		r.ident = k.facility == 0 ? SPAN("kernel") : (struct span){NULL, 0};
		r.facility = k.facility;
		r.has_mono = true;
		r.mono_us = k.mono_us;
		*ret = r;
		return;
	}
	if (r.text.len > 2 && r.text.p[0] == '<' && r.text.p[1] >= '0' && r.text.p[1] <= '9') {
		struct span after = span_after(r.text, ">");
		if (after.p && after.p - r.text.p <= 4)
			r.text = after;
	}
	decode_head(&r.text);
	if (bracket_time(&r.text, &r)) {
		r.ident = SPAN("kernel");
	} else {
		syslog_head(&r.text, &r);
		if (r.ident.p && span_eq(r.ident, "kernel"))
			ignore(bracket_time(&r.text, &r),
			       "some syslog daemons keep the kernel's own time, others do not");
	}
	*ret = r;
}
