#include "sense/rules/pattern.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

/* Maximum of a counted repeat. glibc copies the repeated item as often, so more would need too much memory. */
#define MOST_REPEATS 64

struct reader {
	struct span text;
	size_t at;
	char *why;
	size_t *ret_at;
	struct buf out; /* the pattern in the syntax of regcomp */
	int depth;
	char run[PATTERN_LITERAL];
	size_t run_len;
	char best[PATTERN_LITERAL];
	bool alternatives; /* '|' outside of parentheses: no text is part of every match */
	bool was_literal; /* the last item read is the last character of run */
	bool may_repeat; /* an item that can be repeated was read just before */
	bool group_before;
};

static int pattern_wrong(struct reader *r, const char *why)
{
	(void)text_format(r->why, 160, "%s", why);
	*r->ret_at = r->at;
	return -EINVAL;
}

static void run_end(struct reader *r)
{
	if (r->run_len > strlen(r->best)) {
		memcpy(r->best, r->run, r->run_len);
		r->best[r->run_len] = '\0';
	}
	r->run_len = 0;
	r->was_literal = false;
}

static void literal(struct reader *r, char c)
{
	if (r->depth == 0) {
		if (r->run_len == sizeof(r->run) - 1)
			run_end(r);
		r->run[r->run_len++] = c;
		r->was_literal = true;
	}
	r->may_repeat = true;
	r->group_before = false;
}

/* Handles an item that is not fixed text. */
static void piece(struct reader *r, bool group)
{
	run_end(r);
	r->may_repeat = true;
	r->group_before = group;
}

static int escape(struct reader *r)
{
	if (r->at + 1 == r->text.len)
		return pattern_wrong(r, "a backslash at the end escapes nothing");
	char c = r->text.p[++r->at];
	if (c == '\0' || c == '\n')
		return pattern_wrong(r, "a byte that no line has");
	if (c >= '0' && c <= '9')
		return pattern_wrong(r, "back references are not supported");
	if (c == 'd') {
		buf_add(&r->out, "[0-9]");
		piece(r, false);
	} else if (strchr("swSWb", c)) {
		buf_printf(&r->out, "\\%c", c);
		piece(r, false);
		r->may_repeat = c != 'b';
	} else if (strchr("^$.[]|()*+?{}\\/-\"'#:,=<> ", c)) {
		bool special = strchr("^$.[|()*+?{\\", c) != NULL;
		buf_printf(&r->out, "%s%c", special ? "\\" : "", c);
		literal(r, c);
	} else {
		return pattern_wrong(r, "this escape is not supported; there are "
					"\\d \\s \\S \\w \\W \\b and escaped punctuation");
	}
	r->at++;
	return 0;
}

static int bracket(struct reader *r)
{
	size_t at = r->at + 1;
	if (at < r->text.len && r->text.p[at] == '^')
		at++;
	if (at < r->text.len && r->text.p[at] == ']')
		at++;
	while (at < r->text.len && r->text.p[at] != ']') {
		char next = at + 1 < r->text.len ? r->text.p[at + 1] : '\0';
		if (r->text.p[at] == '\\')
			return pattern_wrong(r,
					     "inside [] a backslash is just a backslash in this dialect; leave it out");
		if (r->text.p[at] == '[' && next == ':') {
			const char *end = memmem(r->text.p + at + 2, r->text.len - at - 2, ":]", 2);
			if (!end)
				return pattern_wrong(r, "[: without :]");
			at = (size_t)(end - r->text.p) + 1;
		} else if (r->text.p[at] == '[' && (next == '.' || next == '=')) {
			return pattern_wrong(r, "collating elements are not supported");
		}
		at++;
	}
	if (at >= r->text.len)
		return pattern_wrong(r, "[ without ]");
	buf_add_n(&r->out, r->text.p + r->at, at + 1 - r->at);
	r->at = at + 1;
	piece(r, false);
	return 0;
}

static int counted(struct reader *r)
{
	const char *end = memchr(r->text.p + r->at, '}', r->text.len - r->at);
	uint64_t low = 0, high = 0;
	if (!end)
		return pattern_wrong(r, "{ without }; a plain brace is written \\{");
	struct span in = {r->text.p + r->at + 1, (size_t)(end - r->text.p) - r->at - 1};
	struct span first = span_before(in, ","), second = span_after(in, ",");
	if (span_u64(first, &low) < 0 || (second.p && second.len > 0 && span_u64(second, &high) < 0))
		return pattern_wrong(r, "a repeat is {2} or {2,} or {2,8}; a plain brace is written \\{");
	if (low > MOST_REPEATS || high > MOST_REPEATS)
		return pattern_wrong(r, "more than 64 repeats are not supported");
	if (second.p && second.len > 0 && high < low)
		return pattern_wrong(r, "the repeat ends before it begins");
	if (r->group_before)
		return pattern_wrong(r, "counted repeats of a group are not supported");
	buf_add_n(&r->out, r->text.p + r->at, in.len + 2);
	r->at += in.len + 2;
	return 0;
}

static int repeat(struct reader *r)
{
	char c = r->text.p[r->at];
	if (!r->may_repeat)
		return pattern_wrong(r, "there is nothing to repeat here");
	if (r->was_literal && c != '+')
		r->run_len--; /* a match may lack the character */
	run_end(r);
	int e = 0;
	if (c == '{') {
		e = counted(r);
	} else {
		buf_add_n(&r->out, &c, 1);
		r->at++;
	}
	if (e == 0 && r->at < r->text.len && strchr("*+?{", r->text.p[r->at]))
		return pattern_wrong(r, "lazy, possessive and doubled repeats are not supported");
	r->may_repeat = false;
	return e;
}

static int special(struct reader *r)
{
	char c = r->text.p[r->at];
	if (c == '(') {
		if (r->at + 1 < r->text.len && r->text.p[r->at + 1] == '?')
			return pattern_wrong(r, "(?…) is not supported, but for (?i) in front of all");
		run_end(r);
		r->depth++;
		r->may_repeat = false;
	} else if (c == ')') {
		if (r->depth == 0)
			return pattern_wrong(r, ") without (");
		r->depth--;
		piece(r, true);
	} else if (c == '|') {
		r->alternatives |= r->depth == 0;
		run_end(r);
		r->may_repeat = false;
	} else if (c == '.') {
		piece(r, false);
	} else { /* ^ $ */
		run_end(r);
		r->may_repeat = false;
	}
	buf_add_n(&r->out, &c, 1);
	r->at++;
	return 0;
}

static int next_piece(struct reader *r)
{
	char c = r->text.p[r->at];
	if (c == '\0' || c == '\n')
		return pattern_wrong(r, "a byte that no line has");
	if (c == '\\')
		return escape(r);
	if (c == '[')
		return bracket(r);
	if (strchr("*+?{", c))
		return repeat(r);
	if (strchr("().|^$", c))
		return special(r);
	buf_add_n(&r->out, &c, 1);
	literal(r, c);
	r->at++;
	return 0;
}

/*
 * Sets plain and from_literal. posix is the pattern in the syntax of regcomp, in which special characters have a
 * backslash. The last character of the literal must not be followed by a repeat that allows its absence.
 */
static void literal_place(struct pattern *p, const char *posix)
{
	size_t n = strlen(p->literal);
	p->plain = !p->ignore_case && n > 0 && strcmp(posix, p->literal) == 0;
	p->from_literal = !p->ignore_case && n > 0 && strncmp(posix, p->literal, n) == 0 &&
			  (posix[n] == '\0' || !strchr("*?{", posix[n]));
}

static void literal_set(struct pattern *p, struct reader *r)
{
	run_end(r);
	TEXT_COPY(p->literal, r->alternatives ? "" : r->best);
	literal_place(p, r->out.text);
	for (char *c = p->literal; p->ignore_case && *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
}

int pattern_init(struct pattern *p, struct span text, char why[static 160], size_t *ret_at)
{
	char posix[PATTERN_TEXT * 6];
	struct reader r = {.text = text, .why = why, .ret_at = ret_at, .out = BUF_ON(posix)};
	*p = (struct pattern){.compiled = false};
	buf_reset(&r.out);
	if (text.len == 0 || text.len >= sizeof(p->text))
		return pattern_wrong(&r, text.len ? "the pattern is longer than 319 bytes" : "the pattern is empty");
	span_copy(text, p->text, sizeof(p->text));
	if (span_starts(text, "(?i)")) {
		p->ignore_case = true;
		r.at = 4;
	}
	while (r.at < text.len) {
		int e = next_piece(&r);
		if (e < 0)
			return e;
	}
	if (r.depth > 0)
		return pattern_wrong(&r, "( without )");
	int code = regcomp(&p->re, posix, REG_EXTENDED | (p->ignore_case ? REG_ICASE : 0));
	if (code == REG_ESPACE)
		return -ENOMEM;
	if (code != 0) {
		(void)regerror(code, &p->re, why, 160);
		*ret_at = 0;
		return -EINVAL;
	}
	p->compiled = true;
	literal_set(p, &r);
	return 0;
}

void pattern_done(struct pattern *p)
{
	if (p->compiled)
		regfree(&p->re);
	p->compiled = false;
}

static char pattern_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Searches text for the literal, which is in lower case, without regard to case. */
static bool has_ignoring_case(struct span text, const char *literal)
{
	size_t n = strlen(literal);
	for (size_t i = 0; i + n <= text.len; i++) {
		size_t k = 0;
		while (k < n && pattern_lower(text.p[i + k]) == literal[k])
			k++;
		if (k == n)
			return true;
	}
	return false;
}

bool pattern_match(const struct pattern *p, struct span text, struct span ret_groups[PATTERN_GROUPS])
{
	size_t n = strlen(p->literal);
	const char *at = n > 0 && !p->ignore_case ? memmem(text.p, text.len, p->literal, n) : NULL;
	/* Nearly every line lacks the literal, and searching for it is much faster than regexec. */
	if (n > 0 && (p->ignore_case ? !has_ignoring_case(text, p->literal) : !at))
		return false;
	if (p->plain) {
		for (size_t i = 0; ret_groups && i < PATTERN_GROUPS; i++)
			ret_groups[i] = i == 0 ? (struct span){at, n} : (struct span){NULL, 0};
		return true;
	}
	/* No match begins before the first literal. */
	regoff_t from = p->from_literal ? (regoff_t)MIN((size_t)(at - text.p), (size_t)INT32_MAX) : 0;
	regmatch_t m[PATTERN_GROUPS] = {{.rm_so = from, .rm_eo = (regoff_t)MIN(text.len, (size_t)INT32_MAX)}};
	/* Without groups glibc stops at the first match it finds; REG_STARTEND reads m[0] in both cases. */
	if (regexec(&p->re, text.p, ret_groups ? PATTERN_GROUPS : 0, m, REG_STARTEND) != 0)
		return false;
	for (size_t i = 0; ret_groups && i < PATTERN_GROUPS; i++)
		ret_groups[i] = m[i].rm_so < 0 ? (struct span){NULL, 0}
					       : (struct span){text.p + m[i].rm_so, (size_t)(m[i].rm_eo - m[i].rm_so)};
	return true;
}
