#include "base/mask/maskvalue.h"

#include <ctype.h>
#include <string.h>

/* A number of a secret's name with fewer is a count, a flag or a length. */
#define SECRET_DIGITS 4

bool maskvalue_is_number(struct span v)
{
	size_t digits = 0;
	while (digits < v.len && isdigit((unsigned char)v.p[digits]))
		digits++;
	return digits == v.len;
}

/* "a1b2c3d4" */
bool maskvalue_is_random(struct span v)
{
	size_t digits = 0;
	for (size_t i = 0; i < v.len; i++)
		digits += isdigit((unsigned char)v.p[i]) != 0;
	return v.len >= 8 && digits > 0 && digits < v.len;
}

/* "-----BEGIN RSA PRIVATE KEY-----" to "-----END", or to the end where that is missing. */
bool maskvalue_key(struct edit *e)
{
	static const char begin[] = "-----BEGIN ", mark[] = "PRIVATE KEY-----", end[] = "-----END";
	const size_t begin_len = sizeof(begin) - 1, mark_len = sizeof(mark) - 1, kind_len = 32;
	if (edit_left(e) < begin_len || memcmp(e->from, begin, begin_len) != 0)
		return false;
	const char *at = memmem(e->from, MIN(edit_left(e), begin_len + kind_len + mark_len), mark, mark_len);
	if (!at)
		return false;
	edit_keep(e, (size_t)(at - e->from) + mark_len);
	const char *to = memmem(e->from, edit_left(e), end, sizeof(end) - 1);
	edit_hide(e, (size_t)((to ? to : e->end) - e->from));
	return true;
}

/* A folder in the place of a "pwd", no pair in that of an "auth". */
static bool is_other_thing(struct span v, enum secrecy how)
{
	if (how == SECRET_UNLESS_PATH)
		return v.len == 0 || edit_is_of(v.p[0], ".~$") || memchr(v.p, '/', v.len) || memchr(v.p, '\\', v.len);
	return how == SECRET_IF_PAIR && !memchr(v.p, ':', v.len);
}

/* A word of Python is no secret, nor is a number where a token or a key may be one: key=None, token=50256. */
static bool is_plain_value(struct span v, enum secrecy how)
{
	static const char *const words[] = {"None", "True", "False", "null", "true", "false"};
	return v.len == 0 || (maskvalue_is_number(v) && (how != SECRET || v.len < SECRET_DIGITS)) ||
	       maskname_is_among(v, words, ARRAY_SIZE(words)) || is_other_thing(v, how);
}

/* A value without quotes: with what stands behind a comma, unless that is the next name or argument. */
static size_t bare_len(const struct edit *e)
{
	size_t n = edit_run(e, 0, BARE_STOPS);
	while (edit_char(e, n) == ',') {
		const size_t more = edit_run(e, n + 1, BARE_STOPS "=:");
		if (more == n + 1 || edit_is_of(edit_char(e, more), "=:\"'"))
			break;
		n = more;
	}
	return n;
}

static void value_bare(struct edit *e, enum secrecy how)
{
	const size_t n = edit_run(e, 0, BARE_STOPS);
	if (is_plain_value((struct span){e->from, n}, how))
		edit_keep(e, n);
	else if (!maskvalue_key(e))
		edit_hide(e, bare_len(e));
}

/* All of a list or a dictionary. Numbers alone may be tokens of a text. */
static void value_bracketed(struct edit *e, enum secrecy how)
{
	edit_keep(e, 1);
	const size_t n = edit_bracketed(e);
	const bool texts = memchr(e->from, '"', n) || memchr(e->from, '\'', n);
	if (texts || how == SECRET)
		edit_hide(e, n);
	else
		edit_keep(e, n);
}

static void value_quoted(struct edit *e, enum secrecy how, bool escaped)
{
	const char quote = *e->from;
	edit_keep(e, 1);
	const size_t n = edit_quoted(e, quote, escaped);
	if (is_other_thing((struct span){e->from, n}, how)) {
		edit_keep(e, n);
		return;
	}
	edit_hide(e, n);
	/* 'it''s' of a shell or of SQL, and """ of Python */
	while (edit_char(e, 0) == quote && edit_char(e, 1) == quote) {
		edit_keep(e, 2);
		edit_hide(e, edit_quoted(e, quote, escaped));
	}
	if (edit_char(e, 0) == quote && edit_is_word(edit_char(e, 1))) {
		edit_keep(e, 1);
		edit_hide(e, edit_run(e, 0, BARE_STOPS));
	}
}

/* The value at this distance: what is between quotes or brackets, else up to a blank or what ends it. Hides it. */
void maskvalue_hide(struct edit *e, size_t at, enum secrecy how)
{
	edit_keep(e, at);
	/* b'…' is a text too, and a quote in JSON in JSON has a backslash before it */
	bool escaped = false;
	while (edit_left(e) > 1 &&
	       (*e->from == '\\' || (edit_is_of(*e->from, "bBrRuUfF") && edit_is_of(e->from[1], "'\"")))) {
		escaped |= *e->from == '\\';
		edit_keep(e, 1);
	}
	if (edit_is_of(edit_char(e, 0), "'\""))
		value_quoted(e, how, escaped);
	else if (edit_is_of(edit_char(e, 0), "([{"))
		value_bracketed(e, how);
	else if (edit_left(e) > 0)
		value_bare(e, how);
}
