#include "base/mask.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define STARS 3
/* A number of a secret's name with fewer is a count, a flag or a length. */
#define SECRET_DIGITS 4

/* ---- names ---- */

/* In any part of a name: "db_password", "SecretName" has one. */
static const char *const secret_words[] = {"password", "passwd",     "passphrase",  "passcode", "secret",
					   "secrets",  "credential", "credentials", "apikey",	"authtoken",
					   "apikeys",  "passwords",  "passphrases"};
/* At the end of a name that is written as one word: "PGPASSWORD". */
static const char *const secret_ends[] = {"password",  "passwd",    "passphrase", "secret",    "apikey",
					  "accesskey", "secretkey", "privatekey", "authtoken", "accesstoken"};
/* Behind a word of a secret, these name something else than the secret itself: "SECRET_NAME", "token_file". */
static const char *const about_words[] = {"file",  "path", "dir",    "folder", "name",	  "len",    "length", "size",
					  "count", "type", "policy", "hash",   "timeout", "expiry", "url",    "env"};
/* A "token" or a "key" that belongs to one of these is no secret: "pad_token", "sort_key". */
static const char *const plain_words[] = {
	"pad",	   "eos",    "bos",  "unk",	"sep",	     "cls",	"mask",	 "next",   "prev",   "previous",
	"last",	   "first",  "cur",  "current", "new",	     "special", "stop",	 "start",  "end",    "image",
	"num",	   "max",    "min",  "per",	"text",	     "word",	"sub",	 "input",  "output", "target",
	"context", "prompt", "sort", "primary", "foreign",   "public",	"cache", "dict",   "group",  "state",
	"feature", "label",  "data", "index",	"partition", "lookup",	"hot",	 "metric", "query",  "row",
	"column",  "past",   "each", "one",	"any"};

static bool is_among(struct span word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == word.len && strncasecmp(word.p, list[i], word.len) == 0)
			return true;
	return false;
}

static bool is_ended_by(struct span word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(list[i]);
		if (word.len >= len && strncasecmp(word.p + word.len - len, list[i], len) == 0)
			return true;
	}
	return false;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c);
}

/* Takes the next part off a name: parts are divided by what is no letter or digit, and by "aB". */
static bool part_take(struct span *rest, struct span *ret)
{
	while (rest->len > 0 && !is_word_char(*rest->p)) {
		rest->p++;
		rest->len--;
	}
	size_t n = 0;
	while (n < rest->len && is_word_char(rest->p[n]) &&
	       !(n > 0 && islower((unsigned char)rest->p[n - 1]) && isupper((unsigned char)rest->p[n])))
		n++;
	*ret = (struct span){rest->p, n};
	rest->p += n;
	rest->len -= n;
	return n > 0;
}

enum secrecy {
	PLAIN,
	SECRET_BY_USE, /* a token, a key or a pass, which may be something else */
	SECRET,
};

/* Whose pass is a password: not of "forward_pass". */
static const char *const pass_words[] = {"user",  "db",	   "admin", "root",  "login",
					  "smtp", "redis", "pg",	   "mysql", "auth"};
/* Several of these are secrets, too: not "sort_keys". */
static const char *const keys_words[] = {"api", "secret", "access", "private", "auth"};

/* By the last parts of a name, of which none is a secret's word. */
static enum secrecy secrecy_by_use(struct span last, struct span before, size_t parts)
{
	static const char *const token[] = {"token"}, *const key[] = {"key"}, *const pwd[] = {"pwd"};
	static const char *const pass[] = {"pass"}, *const keys[] = {"keys"};
	if (is_among(last, pwd, 1)) /* PWD alone is a folder */
		return parts > 1 ? SECRET : PLAIN;
	if (is_among(last, pass, 1) && parts > 1)
		return is_among(before, pass_words, ARRAY_SIZE(pass_words)) ? SECRET : PLAIN;
	if (is_among(last, keys, 1) && parts > 1)
		return is_among(before, keys_words, ARRAY_SIZE(keys_words)) ? SECRET_BY_USE : PLAIN;
	if (is_among(last, pass, 1) || (parts == 1 && is_among(last, token, 1)))
		return SECRET_BY_USE;
	const bool may_be = is_among(last, token, 1) || (is_among(last, key, 1) && parts > 1);
	return may_be && !is_among(before, plain_words, ARRAY_SIZE(plain_words)) ? SECRET_BY_USE : PLAIN;
}

static enum secrecy secrecy_of(struct span name, size_t *ret_parts)
{
	struct span rest = name, part, last = {NULL, 0}, before = {NULL, 0};
	bool secret = false;
	*ret_parts = 0;
	while (part_take(&rest, &part)) {
		secret |= is_among(part, secret_words, ARRAY_SIZE(secret_words));
		before = last;
		last = part;
		++*ret_parts;
	}
	if (*ret_parts == 0 || is_among(last, about_words, ARRAY_SIZE(about_words)))
		return PLAIN;
	if (secret || is_ended_by(last, secret_ends, ARRAY_SIZE(secret_ends)))
		return SECRET;
	return secrecy_by_use(last, before, *ret_parts);
}

bool mask_is_secret(struct span name)
{
	size_t parts;
	return secrecy_of(name, &parts) != PLAIN;
}

/* ---- texts ---- */

/* A text that becomes shorter: what has been looked at is written back to its beginning. */
struct editing {
	const char *from, *end;
	char *to;
};

static void keep(struct editing *e, size_t n)
{
	memmove(e->to, e->from, n);
	e->to += n;
	e->from += n;
}

static void hide(struct editing *e, size_t n)
{
	size_t stars = MIN(n, (size_t)STARS);
	memset(e->to, '*', stars);
	e->to += stars;
	e->from += n;
}

static size_t mask_left(const struct editing *e)
{
	return (size_t)(e->end - e->from);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t run_until(const struct editing *e, size_t at, const char *stops)
{
	while (at < mask_left(e) && !is_blank(e->from[at]) && !strchr(stops, e->from[at] ? e->from[at] : ' '))
		at++;
	return at;
}

/* The '@' of an address whose text after "://" begins here; NULL: it has none. */
static const char *address_at(const struct editing *e, size_t from)
{
	const size_t end = run_until(e, from, "/\"'<>?#");
	const char *at = memrchr(e->from + from, '@', end - from);
	const char *colon = memchr(e->from + from, ':', end - from);
	if (at || !colon || end == mask_left(e) || e->from[end] != '/')
		return at;
	/* a password with a slash in it; digits are a port */
	for (const char *c = colon + 1; c < e->from + end; c++)
		if (!isdigit((unsigned char)*c))
			return memrchr(e->from + end, '@', run_until(e, end, "\"'<>?#") - end);
	return NULL;
}

/* "://user:password@host": the password; without a user, the whole where it looks like a token. */
static bool address(struct editing *e)
{
	static const char mark[] = "://";
	const size_t mark_len = sizeof(mark) - 1, token_len = 20;
	if (mask_left(e) < mark_len || memcmp(e->from, mark, mark_len) != 0)
		return false;
	const char *at = address_at(e, mark_len);
	if (!at)
		return false;
	const char *colon = memchr(e->from + mark_len, ':', (size_t)(at - e->from) - mark_len);
	size_t from = colon ? (size_t)(colon - e->from) + 1 : mark_len, to = (size_t)(at - e->from);
	keep(e, from);
	if (colon || to - from >= token_len)
		hide(e, to - from);
	return true;
}

/* Tokens that say themselves what they are. */
static bool known_form(struct editing *e)
{
	static const char *const forms[] = {"ghp_",  "gho_",  "github_pat_", "glpat-", "hf_", "sk-",
					    "xoxb-", "xoxp-", "AKIA",	     "npm_",   "eyJ"};
	const size_t rest_len = 16;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		size_t len = strlen(forms[i]), n = len;
		if (mask_left(e) < len || memcmp(e->from, forms[i], len) != 0)
			continue;
		while (n < mask_left(e) && (is_word_char(e->from[n]) || strchr("-_.", e->from[n] ? e->from[n] : ' ')))
			n++;
		if (n - len < rest_len)
			continue;
		keep(e, len);
		hide(e, n - len);
		return true;
	}
	return false;
}

/* "Bearer x", "Basic x" with something long behind it. */
static bool scheme(struct editing *e)
{
	static const char *const schemes[] = {"Bearer ", "bearer ", "Basic "};
	const size_t value_len = 8;
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t len = strlen(schemes[i]);
		if (mask_left(e) <= len || memcmp(e->from, schemes[i], len) != 0)
			continue;
		size_t end = run_until(e, len, "\"',;");
		if (end - len < value_len)
			continue;
		keep(e, len);
		hide(e, end - len);
		return true;
	}
	return false;
}

static bool is_name_char(char c)
{
	return is_word_char(c) || c == '_' || c == '-' || c == '.';
}

/* A word of Python is no secret, nor is a number where a token or a key may be one: key=None, token=50256. */
static bool is_plain_value(struct span v, enum secrecy how)
{
	static const char *const words[] = {"None", "True", "False", "null", "true", "false"};
	size_t digits = 0;
	while (digits < v.len && isdigit((unsigned char)v.p[digits]))
		digits++;
	return v.len == 0 || (digits == v.len && (how != SECRET || v.len < SECRET_DIGITS)) ||
	       is_among(v, words, ARRAY_SIZE(words));
}

/* Up to the closing quote, before which there is a backslash if there was one before the opening quote. */
static size_t quoted_len(const struct editing *e, char quote, bool escaped)
{
	size_t n = 0;
	while (n < mask_left(e) && e->from[n] != quote && e->from[n] != '\n') {
		bool backslash = e->from[n] == '\\' && n + 1 < mask_left(e);
		if (backslash && escaped && e->from[n + 1] == quote)
			break;
		n += backslash ? 2 : 1;
	}
	return MIN(n, mask_left(e));
}

/* The value at this distance: what is between quotes, else up to a blank or what ends it. Hides it. */
static void value(struct editing *e, size_t at, enum secrecy how)
{
	keep(e, at);
	/* b'…' is a text too, and a quote in JSON in JSON has a backslash before it */
	bool escaped = false;
	while (mask_left(e) > 1 && (*e->from == '\\' || (strchr("bBrRuUfF", *e->from) && strchr("'\"", e->from[1])))) {
		escaped |= *e->from == '\\';
		keep(e, 1);
	}
	if (mask_left(e) == 0)
		return;
	char quote = *e->from;
	if (quote != '\'' && quote != '"') {
		size_t n = run_until(e, 0, ",;)]}\"'&");
		if (is_plain_value((struct span){e->from, n}, how))
			keep(e, n);
		else
			hide(e, n);
		return;
	}
	keep(e, 1);
	hide(e, quoted_len(e, quote, escaped));
}

static size_t blanks_after(const struct editing *e, size_t at)
{
	while (at < mask_left(e) && e->from[at] == ' ')
		at++;
	return at;
}

static char char_at(const struct editing *e, size_t at)
{
	return at < mask_left(e) ? e->from[at] : '\0';
}

/* "a1b2c3d4" */
static bool is_random(struct span v)
{
	size_t digits = 0;
	for (size_t i = 0; i < v.len; i++)
		digits += isdigit((unsigned char)v.p[i]) != 0;
	return v.len >= 8 && digits > 0 && digits < v.len;
}

/* After a colon only where a value follows for certain: not in 'Invalid token: unexpected', 'First pass: begins'. */
static bool is_colon_of_value(const struct editing *e, size_t value_at, enum secrecy how, size_t parts, bool quoted)
{
	const struct span v = {e->from + value_at, run_until(e, value_at, ",;)]}\"'&") - value_at};
	return quoted || how == SECRET || parts > 1 || is_random(v);
}

/* Where the value of a secret's name of n letters begins; 0: none follows. */
static size_t value_begin(const struct editing *e, size_t n, enum secrecy how, size_t parts)
{
	const bool option = n > 1 && e->from[0] == '-';
	size_t at = n;
	while (strchr("\\\"'", char_at(e, at)) && char_at(e, at))
		at++;
	const bool quoted = at > n;
	const size_t sign = blanks_after(e, at), begin = blanks_after(e, sign + 1);
	switch (char_at(e, sign)) {
	case '=': /* not a comparison */
		return char_at(e, sign + 1) == '=' ? 0 : begin;
	case ':':
		return is_colon_of_value(e, begin, how, parts, quoted) ? begin : 0;
	case ',': /* a list of arguments */
		return option && quoted && strchr("\"'", char_at(e, begin)) && char_at(e, begin + 1) != '-' ? begin : 0;
	default:
		return option && !quoted && sign > at && char_at(e, sign) != '-' ? sign : 0;
	}
}

/* A name at this place, what follows it and, where it is a secret's, its value. */
static void named_value(struct editing *e)
{
	size_t n = 0, parts;
	while (n < mask_left(e) && is_name_char(e->from[n]))
		n++;
	const enum secrecy how = secrecy_of((struct span){e->from, n}, &parts);
	const size_t begin = how == PLAIN ? 0 : value_begin(e, n, how, parts);
	if (begin == 0 || begin > mask_left(e))
		keep(e, n);
	else
		value(e, begin, how);
}

/* Masks len bytes; returns how many are left. */
static size_t edit(char *text, size_t len)
{
	struct editing e = {.from = text, .end = text + len, .to = text};
	char before = ' ';
	while (mask_left(&e) > 0) {
		bool begins = !is_word_char(before);
		before = *e.from;
		if (address(&e) || (begins && (known_form(&e) || scheme(&e)))) {
			before = '*';
		} else if (is_name_char(*e.from)) {
			named_value(&e);
			before = e.to > text ? e.to[-1] : ' ';
		} else {
			keep(&e, 1);
		}
	}
	return (size_t)(e.to - text);
}

void mask_text(char *text)
{
	text[edit(text, strlen(text))] = '\0';
}

void mask_value(const char *name, char *value_text)
{
	const char *quote = strpbrk(value_text, "'\"");
	bool text = quote && quote - value_text <= 1;
	size_t parts;
	const enum secrecy how = secrecy_of(span_of(name), &parts);
	struct editing whole = {.from = value_text, .end = value_text + strlen(value_text), .to = value_text};
	const bool number = isdigit((unsigned char)*value_text) && run_until(&whole, 0, "") == mask_left(&whole);
	if (how == SECRET && number) {
		value(&whole, 0, how);
		*whole.to = '\0';
		return;
	}
	if (!text || how == PLAIN) {
		mask_text(value_text);
		return;
	}
	size_t at = (size_t)(quote - value_text) + 1;
	struct editing e = {.from = value_text + at, .end = value_text + strlen(value_text), .to = value_text + at};
	const char *end = memrchr(e.from, *quote, mask_left(&e));
	hide(&e, end ? (size_t)(end - e.from) : mask_left(&e));
	keep(&e, mask_left(&e));
	*e.to = '\0';
}

/* ---- arguments ---- */

/* The name of an option whose value is the next argument; empty: none. */
static struct span option_name(struct span arg)
{
	struct span none = {arg.p, 0};
	if (arg.len < 3 || arg.p[0] != '-' || memchr(arg.p, '=', arg.len) || memchr(arg.p, ' ', arg.len))
		return none;
	return arg;
}

/* Masks one argument of n bytes, returns how many are left: of NAME=value all that follows, blanks too. */
static size_t argument(char *arg, size_t n)
{
	const char *sign = memchr(arg, '=', n);
	size_t name = sign ? (size_t)(sign - arg) : 0;
	bool is_name = name > 0;
	for (size_t i = 0; i < name; i++)
		is_name &= is_name_char(arg[i]);
	if (!is_name || !mask_is_secret((struct span){arg, name}))
		return edit(arg, n);
	struct editing e = {.from = arg + name + 1, .end = arg + n, .to = arg + name + 1};
	hide(&e, mask_left(&e));
	return (size_t)(e.to - arg);
}

size_t mask_args(char *args, size_t len)
{
	char *to = args;
	bool next_is_secret = false;
	for (size_t at = 0; at < len;) {
		const char *end = memchr(args + at, '\0', len - at);
		size_t n = end ? (size_t)(end - (args + at)) : len - at, was = n;
		bool is_option = n > 2 && args[at] == '-' && args[at + 1] == '-';
		memmove(to, args + at, n);
		if (next_is_secret && !is_option) {
			n = MIN(n, (size_t)STARS);
			memset(to, '*', n);
			next_is_secret = false;
		} else {
			struct span name = option_name((struct span){to, n});
			next_is_secret = name.len > 0 && mask_is_secret(name);
			n = argument(to, n);
		}
		to += n;
		at += was + (end ? 1 : 0);
		if (end)
			*to++ = '\0';
	}
	return (size_t)(to - args);
}
