#include "sense/log/logrank.h"

#include <string.h>
#include <strings.h>

/* A line's words before its rank, and bytes of them, that are looked at. */
#define MOST_WORDS 8
#define MOST_BYTES 160

/* True: s has this word at `at`, in whatever case. */
static bool logrank_has(struct span s, size_t at, const char *word)
{
	size_t n = strlen(word);
	return at + n <= s.len && strncasecmp(s.p + at, word, n) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool logrank_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool logrank_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t blanks_after(struct span s, size_t at)
{
	while (at < s.len && is_blank(s.p[at]))
		at++;
	return at;
}

/* "rank 3", "rank=3", "GPU3" from `at` on: where it ends; 0: it is none. */
static size_t number_at(struct span s, size_t at, uint64_t *ret, bool *ret_local)
{
	static const struct {
		const char *word;
		bool local;
	} names[] = {{"global_rank", false}, {"global rank", false}, {"local_rank", true}, {"local rank", true},
		     {"rank", false},        {"gpu", true},          {"cuda", true}};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t from, to;
		if (!logrank_has(s, at, names[i].word))
			continue;
		from = blanks_after(s, at + strlen(names[i].word));
		if (from < s.len && (s.p[from] == '=' || s.p[from] == ':' || s.p[from] == '#'))
			from = blanks_after(s, from + 1);
		for (to = from; to < s.len && to < from + 8 && logrank_is_digit(s.p[to]); to++)
			;
		if (to == from || (to < s.len && (logrank_is_digit(s.p[to]) || logrank_is_letter(s.p[to]))) ||
		    span_u64((struct span){s.p + from, to - from}, ret) < 0)
			return 0;
		*ret_local = names[i].local;
		return to;
	}
	return 0;
}

/* "/8" behind the number, of how many there are. */
static size_t of_how_many(struct span s, size_t at)
{
	size_t to = at + 1;
	if (at >= s.len || s.p[at] != '/')
		return at;
	while (to < s.len && logrank_is_digit(s.p[to]))
		to++;
	return to > at + 1 ? to : at;
}

/* "[rank 3]" from `at` on. *ret_end: behind it, if nothing else is in the brackets; else 0. */
static bool in_brackets(struct span s, size_t at, uint64_t *ret, bool *ret_local, size_t *ret_end)
{
	static const char open[] = "[(<", close[] = "])>";
	const char *o = at < s.len && s.p[at] ? strchr(open, s.p[at]) : NULL;
	size_t end = o ? number_at(s, at + 1, ret, ret_local) : 0;
	if (!end)
		return false;
	const char close_by = close[o - open];
	end = of_how_many(s, end);
	*ret_end = 0;
	if (end < s.len && s.p[end] == close_by) {
		end += end + 1 < s.len && s.p[end + 1] == ':' ? 2 : 1;
		*ret_end = blanks_after(s, end);
		return true;
	}
	return memchr(s.p + end, close_by, MIN(s.len - end, (size_t)MOST_BYTES)) != NULL;
}

/* "rank 3 | step 40" from `at` on, without brackets. */
static bool before_a_step(struct span s, size_t at, uint64_t *ret, bool *ret_local, size_t *ret_end)
{
	static const char *const words[] = {"step",  "epoch",       "iter",  "loss",  "batch",
					    "train", "global_step", "[step", "[epoch"};
	size_t end = number_at(s, at, ret, ret_local);
	if (!end || *ret_local)
		return false;
	end = of_how_many(s, end);
	while (end < s.len && (is_blank(s.p[end]) || strchr("|,;:-", s.p[end])))
		end++;
	*ret_end = end;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (logrank_has(s, end, words[i]))
			return true;
	return false;
}

static bool logrank_at(struct span s, size_t at, uint64_t *ret, bool *ret_local, size_t *ret_end)
{
	return in_brackets(s, at, ret, ret_local, ret_end) || before_a_step(s, at, ret, ret_local, ret_end);
}

/* ---- what loggers write before it ---- */

static bool only_of(struct span w, const char *chars)
{
	for (size_t i = 0; i < w.len; i++)
		if (!w.p[i] || !strchr(chars, w.p[i]))
			return false;
	return w.len > 0;
}

/* "INFO", "[INFO]", "WARNING:": its length, 0: none. */
static size_t level_at(struct span s, size_t at)
{
	static const char *const levels[] = {"debug", "info",  "warning",  "warn",   "error",
					     "trace", "fatal", "critical", "notice", "success"};
	size_t from = at + (at < s.len && (s.p[at] == '[' || s.p[at] == '('));
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		size_t end = from + strlen(levels[i]);
		const bool cut = end < s.len && (logrank_is_letter(s.p[end]) || logrank_is_digit(s.p[end]));
		if (!logrank_has(s, from, levels[i]) || cut)
			continue;
		while (end < s.len && strchr("]):,", s.p[end]))
			end++;
		return end - at;
	}
	return 0;
}

/* A word of a logger's head from `at` on: where the next one begins; 0: it is something else. */
static size_t head_word_end(struct span s, size_t at, bool *name_may_follow)
{
	size_t end = at, level = level_at(s, at);
	while (end < s.len && !is_blank(s.p[end]))
		end++;
	const struct span w = {s.p + at, end - at};
	const bool mark = only_of(w, "-|:>*");
	if (level) { /* "INFO:root:" has its logger's name behind it */
		const char *colon = s.p[at + level - 1] == ':' ? memchr(s.p + at + level, ':', end - at - level) : NULL;
		end = colon ? (size_t)(colon + 1 - s.p) : at + level;
	} else if (!mark && !only_of(w, "0123456789-:.,/TZ+[]()") && !*name_may_follow && w.p[w.len - 1] != ':') {
		return 0;
	}
	*name_may_follow = mark;
	return blanks_after(s, end);
}

bool logrank_find(struct span line, uint64_t *ret_rank, bool *ret_local, size_t *ret_end)
{
	const struct span s = {line.p, MIN(line.len, (size_t)MOST_BYTES)};
	size_t at = blanks_after(s, 0);
	bool name_may_follow = false;
	for (size_t i = 0; i < MOST_WORDS && at < s.len; i++) {
		if (logrank_at(s, at, ret_rank, ret_local, ret_end)) {
			*ret_end = i == 0 ? *ret_end : 0;
			return true;
		}
		if (!(at = head_word_end(s, at, &name_may_follow)))
			return false;
	}
	return false;
}
