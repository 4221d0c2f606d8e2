#include "base/mask/edit.h"

#include <ctype.h>
#include <string.h>

#define STARS 3
/* How far behind its line the end of a value is looked for: a program may have many that nobody ends. */
#define LINES_MAX ((size_t)8192)

bool edit_is_word(char c)
{
	return isalnum((unsigned char)c);
}

void edit_keep(struct edit *e, size_t n)
{
	memmove(e->to, e->from, n);
	e->to += n;
	e->from += n;
}

void edit_hide(struct edit *e, size_t n)
{
	size_t stars = MIN(n, (size_t)STARS);
	memset(e->to, '*', stars);
	e->to += stars;
	e->from += n;
}

size_t edit_left(const struct edit *e)
{
	return (size_t)(e->end - e->from);
}

bool edit_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

size_t edit_run(const struct edit *e, size_t at, const char *stops)
{
	while (at < edit_left(e) && !edit_is_blank(e->from[at]) && !strchr(stops, e->from[at] ? e->from[at] : ' '))
		at++;
	return at;
}

bool edit_is_name(char c)
{
	return edit_is_word(c) || c == '_' || c == '-' || c == '.';
}

size_t edit_colour(const struct edit *e, size_t at)
{
	size_t n = at + 2;
	if (n >= edit_left(e) || e->from[at] != '\033' || e->from[at + 1] != '[')
		return 0;
	while (n < edit_left(e) && edit_is_of(e->from[n], "0123456789;:?"))
		n++;
	return n < edit_left(e) ? n + 1 - at : n - at;
}

size_t edit_blanks(const struct edit *e, size_t at)
{
	for (size_t n = 1; at < edit_left(e) && n > 0; at += n)
		n = e->from[at] == ' ' ? 1 : edit_colour(e, at);
	return at;
}

char edit_char(const struct edit *e, size_t at)
{
	return at < edit_left(e) ? e->from[at] : '\0';
}

bool edit_is_of(char c, const char *list)
{
	return c && strchr(list, c);
}

size_t edit_quotes(const struct edit *e, size_t at)
{
	while (edit_is_of(edit_char(e, at), "\\\"'"))
		at++;
	return at;
}

size_t edit_name(const struct edit *e, size_t at)
{
	size_t n = at;
	while (n < edit_left(e) && edit_is_name(e->from[n]))
		n++;
	return n - at;
}

/* How far from here the end of a value is looked for. *ret: where it ends if there is none. */
static size_t value_most(const struct edit *e, size_t *ret)
{
	const char *nl = memchr(e->from, '\n', edit_left(e));
	const size_t line = nl ? (size_t)(nl - e->from) : edit_left(e), most = line + LINES_MAX;
	*ret = most < edit_left(e) ? most : line; /* it may still come: all that was looked at */
	return MIN(edit_left(e), most);
}

/*
 * Up to the closing quote, before which there is a backslash if there was one before the opening quote. Where it is
 * missing, to the end of the line, or of what was looked at.
 */
size_t edit_quoted(const struct edit *e, char quote, bool escaped)
{
	size_t n = 0, without;
	const size_t most = value_most(e, &without);
	while (n < most && e->from[n] != quote) {
		bool backslash = e->from[n] == '\\' && n + 1 < edit_left(e);
		if (backslash && escaped && e->from[n + 1] == quote)
			break;
		n += backslash ? 2 : 1;
	}
	return n < most ? n : without;
}

/* Up to the bracket that closes the one before; where it is missing, as with quotes. */
size_t edit_bracketed(const struct edit *e)
{
	size_t depth = 1, without;
	const size_t most = value_most(e, &without);
	char quote = '\0';
	for (size_t n = 0; n < most; n++) {
		const char c = e->from[n];
		if (edit_is_of(c, "\"'") && (!quote || quote == c))
			quote = quote ? '\0' : c;
		depth += !quote && edit_is_of(c, "([{");
		depth -= !quote && edit_is_of(c, ")]}");
		if (depth == 0)
			return n;
	}
	return without;
}
