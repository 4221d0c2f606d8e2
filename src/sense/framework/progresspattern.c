#include "sense/framework/progresspattern.h"

#include <string.h>

#include "base/buf.h"

static const char *const part_names[] = {"step", "total", "epoch", "loss"};

struct reader {
	struct span text;
	size_t at;
	char plain[PROGRESS_PATTERN_TEXT]; /* without the names */
	size_t len;
	uint32_t groups;
	struct {
		size_t at, len; /* a removed name: its position in plain, and its length */
	} cut[PROGRESS_PARTS];
	size_t n_cuts;
	char *why;
	size_t *ret_at;
};

static int progresspattern_wrong(struct reader *r, const char *why)
{
	(void)text_format(r->why, 160, "%s", why);
	*r->ret_at = r->at;
	return -EINVAL;
}

static struct span rest_of(const struct reader *r)
{
	return (struct span){r->text.p + r->at, r->text.len - r->at};
}

static void copy(struct reader *r, size_t n)
{
	n = MIN(n, r->text.len - r->at);
	memcpy(r->plain + r->len, r->text.p + r->at, n);
	r->len += n;
	r->at += n;
}

/* A bracket expression; parentheses in it open no group. */
static size_t bracket_len(struct span s)
{
	size_t at = 1;
	at += at < s.len && s.p[at] == '^';
	at += at < s.len && s.p[at] == ']';
	while (at < s.len && s.p[at] != ']') {
		const char *end = at + 1 < s.len && s.p[at] == '[' && s.p[at + 1] == ':'
					  ? memmem(s.p + at + 2, s.len - at - 2, ":]", 2)
					  : NULL;
		at = end ? (size_t)(end - s.p) + 2 : at + 1;
	}
	return at + 1;
}

/* For "(?<step>" or "(?P<step>", removes the name and keeps the group. */
static int named(struct reader *r, struct progress_pattern *p, size_t intro)
{
	struct span rest = rest_of(r);
	struct span name = span_before((struct span){rest.p + intro, rest.len - intro}, ">");
	for (size_t i = 0; i < PROGRESS_PARTS; i++) {
		if (!span_eq(name, part_names[i]) || intro + name.len >= rest.len)
			continue;
		if (p->group[i])
			return progresspattern_wrong(
				r, "this part is named twice; each of step, total, epoch and loss may stand once");
		if (r->groups + 1 >= PATTERN_GROUPS)
			return progresspattern_wrong(
				r, "too many groups stand before this part; at most 7 in all are kept");
		p->group[i] = (uint8_t)++r->groups;
		copy(r, 1);
		r->cut[r->n_cuts].at = r->len;
		r->cut[r->n_cuts++].len = intro + name.len;
		r->at += intro + name.len;
		return 0;
	}
	return progresspattern_wrong(r, "a named part is (?<step>…), (?<total>…), (?<epoch>…) or (?<loss>…)");
}

static int next(struct reader *r, struct progress_pattern *p)
{
	struct span rest = rest_of(r);
	char c = rest.p[0];
	if (c == '\\') {
		copy(r, 2);
	} else if (c == '[') {
		copy(r, bracket_len(rest));
	} else if (span_starts(rest, "(?<") || span_starts(rest, "(?P<")) {
		return named(r, p, rest.p[2] == 'P' ? 4 : 3);
	} else {
		r->groups += c == '(' && !span_starts(rest, "(?");
		copy(r, 1);
	}
	return 0;
}

int progress_pattern_init(struct progress_pattern *p, struct span text, char why[static 160], size_t *ret_at)
{
	struct reader r = {.text = text, .why = why, .ret_at = ret_at};
	*p = (struct progress_pattern){.group = {0}};
	if (text.len >= PROGRESS_PATTERN_TEXT)
		return progresspattern_wrong(&r, "the pattern is longer than 383 bytes");
	while (r.at < text.len) {
		int e = next(&r, p);
		if (e < 0)
			return e;
	}
	int e = pattern_init(&p->pattern, (struct span){r.plain, r.len}, why, ret_at);
	if (e < 0) {
		size_t at = *ret_at;
		for (size_t i = 0; i < r.n_cuts; i++)
			*ret_at += at >= r.cut[i].at ? r.cut[i].len : 0;
		return e;
	}
	if (p->group[PROGRESS_STEP] || p->group[PROGRESS_EPOCH] || p->group[PROGRESS_LOSS])
		return 0;
	progress_pattern_done(p);
	r.at = 0;
	return progresspattern_wrong(
		&r, "no part is named; at least one of (?<step>…), (?<epoch>…) and (?<loss>…) is needed");
}

void progress_pattern_done(struct progress_pattern *p)
{
	pattern_done(&p->pattern);
}
