#include "base/mask.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define STARS 3
/* A number of a secret's name with fewer is a count, a flag or a length. */
#define SECRET_DIGITS 4
/* How far a password with slashes in it is looked for: texts of a job may have thousands of addresses in a row. */
#define PASSWORD_MAX 256
/* How far behind its line the end of a value is looked for: a program may have many that nobody ends. */
#define LINES_MAX ((size_t)8192)
/* What ends a value without quotes. */
#define BARE_STOPS ",;)]}\"'&"

/* ---- names ---- */

enum secrecy {
	PLAIN,
	SECRET_UNLESS_PATH, /* "pwd" */
	SECRET_IF_PAIR, /* "auth", where a user and a password follow */
	SECRET_BY_USE, /* a token, a key or a pass, which may be something else */
	SECRET,
};

/* An option of one letter that takes a password, in the same word ("-pSECRET") or the next. */
struct maskname_option {
	char letter;
	bool joined, separate;
};

/* In any part of a name: "db_password", "SecretName" has one. */
static const char *const secret_words[] = {"password", "passwd",     "passphrase",  "passcode", "secret",
					   "secrets",  "credential", "credentials", "apikey",	"authtoken",
					   "apikeys",  "passwords",  "passphrases"};
/* At the end of a name that is written as one word: "PGPASSWORD". */
static const char *const secret_ends[] = {
	"password",  "passwd",	    "passphrase", "passwort",  "secret",     "apikey",	     "accesskey",
	"secretkey", "accountkey",  "masterkey",  "sharedkey", "privatekey", "signingkey",   "encryptionkey",
	"authtoken", "accesstoken", "apitoken",	  "hftoken",   "bottoken",   "sessiontoken", "dbpw"};
/* Behind a word of a secret, these name something else than the secret itself: "SECRET_NAME", "token_file". */
static const char *const about_words[] = {"file",  "path", "dir",    "folder", "name",	  "len",    "length", "size",
					  "count", "type", "policy", "hash",   "timeout", "expiry", "url",    "env"};
/* At the end of a name, these say which of several it is: "API_KEY_PROD", "token_value". */
static const char *const which_words[] = {"value", "prod", "production", "dev",	   "staging", "read",
					  "write", "ro",   "rw",	 "backup", "v"};
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

/* Whose pass is a password: not of "forward_pass". */
static const char *const pass_words[] = {"user", "db",	  "admin", "root",  "login",
					 "smtp", "redis", "pg",	   "mysql", "auth"};
/* Several of these are secrets, too: not "sort_keys". */
static const char *const keys_words[] = {"api", "secret", "access", "private", "auth"};

/* By the last parts of a name, of which none is a secret's word. */
static enum secrecy secrecy_by_use(struct span last, struct span before, size_t parts)
{
	static const char *const token[] = {"token"}, *const key[] = {"key"}, *const pwd[] = {"pwd"};
	static const char *const pass[] = {"pass", "pw"}, *const keys[] = {"keys"}, *const auth[] = {"auth"};
	if (is_among(last, pwd, 1)) /* PWD alone is a folder mostly */
		return parts > 1 ? SECRET : SECRET_UNLESS_PATH;
	if (is_among(last, auth, 1))
		return SECRET_IF_PAIR;
	if (is_among(last, pass, 2) && parts > 1)
		return is_among(before, pass_words, ARRAY_SIZE(pass_words)) ? SECRET : PLAIN;
	if (is_among(last, keys, 1) && parts > 1)
		return is_among(before, keys_words, ARRAY_SIZE(keys_words)) ? SECRET_BY_USE : PLAIN;
	if (is_among(last, pass, 2) || (parts == 1 && is_among(last, token, 1)))
		return SECRET_BY_USE;
	const bool may_be = is_among(last, token, 1) || (is_among(last, key, 1) && parts > 1);
	return may_be && !is_among(before, plain_words, ARRAY_SIZE(plain_words)) ? SECRET_BY_USE : PLAIN;
}

/* Without digits at its end: "token_1", "password2". */
static struct span without_number(struct span part)
{
	while (part.len > 0 && isdigit((unsigned char)part.p[part.len - 1]))
		part.len--;
	return part;
}

static enum secrecy maskname_secrecy(struct span name, size_t *ret_parts)
{
	struct span rest = name, part, last = {NULL, 0}, before = {NULL, 0};
	bool secret = false, about = false;
	*ret_parts = 0;
	while (part_take(&rest, &part)) {
		const struct span word = without_number(part);
		secret |= is_among(word, secret_words, ARRAY_SIZE(secret_words));
		if (*ret_parts > 0 && (word.len == 0 || is_among(word, which_words, ARRAY_SIZE(which_words))))
			continue;
		about = is_among(word, about_words, ARRAY_SIZE(about_words));
		before = last;
		last = word;
		++*ret_parts;
	}
	if (*ret_parts == 0 || about)
		return PLAIN;
	if (secret || is_ended_by(last, secret_ends, ARRAY_SIZE(secret_ends)))
		return SECRET;
	return secrecy_by_use(last, before, *ret_parts);
}

static bool maskname_is_query_secret(struct span name)
{
	static const char *const words[] = {"sig", "signature", "key", "code", "auth", "sid", "session"};
	struct span part, last = {NULL, 0};
	while (part_take(&name, &part))
		last = part;
	return is_among(last, words, ARRAY_SIZE(words));
}

/* ---- programs ---- */

struct maskname_program {
	const char *name;
	bool prefix; /* others begin so as well: mysqldump */
	struct maskname_option option;
};

static const struct maskname_program programs[] = {
	{"sshpass", false, {'p', true, true}},	   {"mysql", true, {'p', true, false}},
	{"mariadb", true, {'p', true, false}},	   {"mongo", true, {'p', false, true}},
	{"login", false, {'p', false, true}},	   {"redis-cli", false, {'a', false, true}},
	{"ldapsearch", false, {'w', false, true}}, {"ldapadd", false, {'w', false, true}},
	{"ldapmodify", false, {'w', false, true}}, {"sqlcmd", false, {'P', true, true}},
	{"unzip", false, {'P', true, true}},	   {"zip", false, {'P', true, true}},
	{"7z", false, {'p', true, false}},
};

static const struct maskname_option *maskname_option_of(struct span program)
{
	if (program.len == 0 || memchr(program.p, '.', program.len))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		const size_t len = strlen(programs[i].name);
		if (program.len >= len && memcmp(program.p, programs[i].name, len) == 0 &&
		    (program.len == len || programs[i].prefix))
			return &programs[i].option;
	}
	return NULL;
}

bool mask_is_secret(struct span name)
{
	size_t parts;
	return maskname_secrecy(name, &parts) >= SECRET_BY_USE;
}

/* ---- texts ---- */

/* A text that becomes shorter: what has been looked at is written back to its beginning. */
struct editing {
	const char *from, *end;
	char *to;
	const struct maskname_option *option; /* of the program that this line of a shell begins with; NULL: none */
	bool named; /* "name": "DB_PASSWORD" came before, its "value" follows */
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
	if (at || !colon || end == mask_left(e) || !strchr("/?#", e->from[end]))
		return at;
	/* a password with a slash or the like in it; digits are a port */
	const struct editing part = {.from = e->from, .end = MIN(e->end, e->from + end + PASSWORD_MAX)};
	for (const char *c = colon + 1; c < e->from + end; c++)
		if (!isdigit((unsigned char)*c))
			return memrchr(e->from + end, '@', run_until(&part, end, "\"'<>") - end);
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
	const size_t password_len = colon ? (size_t)(at - colon) - 1 : 0,
		     user_len = (size_t)(at - e->from) - mark_len - (colon ? password_len + 1 : 0);
	keep(e, mark_len);
	/* a token may stand in the user's place, before a password that says nothing */
	if (user_len >= token_len)
		hide(e, user_len);
	else
		keep(e, user_len);
	if (colon) {
		keep(e, 1);
		hide(e, password_len);
	}
	return true;
}

/* Tokens, and addresses that are as good as one, that say themselves what they are. */
static bool known_form(struct editing *e)
{
	static const char *const forms[] = {
		"ghp_",	 "gho_",     "ghs_",	  "ghu_",    "ghr_",	 "github_pat_", "glpat-",
		"glrt-", "hf_",	     "api_org_",  "sk-",     "sk_live_", "sk_test_",	"rk_live_",
		"xoxb-", "xoxp-",    "xoxa-",	  "xoxs-",   "xapp-",	 "AKIA",	"ASIA",
		"npm_",	 "eyJ",	     "AIza",	  "ya29.",   "nvapi-",	 "gsk_",	"hvs.",
		"SG.",	 "pypi-AgE", "dckr_pat_", "dop_v1_", "shpat_",	 "r8_",		"AGE-SECRET-KEY-"};
	static const char *const addresses[] = {"hooks.slack.com/services/", "discord.com/api/webhooks/",
						"discordapp.com/api/webhooks/", "api.telegram.org/bot"};
	const size_t rest_len = 16, n_forms = ARRAY_SIZE(forms);
	for (size_t i = 0; i < n_forms + ARRAY_SIZE(addresses); i++) {
		const char *form = i < n_forms ? forms[i] : addresses[i - n_forms];
		const char *also = i < n_forms ? "-_." : "-_./:";
		size_t len = strlen(form), n = len;
		if (mask_left(e) < len || memcmp(e->from, form, len) != 0)
			continue;
		while (n < mask_left(e) && (is_word_char(e->from[n]) || strchr(also, e->from[n] ? e->from[n] : ' ')))
			n++;
		if (n - len < rest_len)
			continue;
		keep(e, len);
		hide(e, n - len);
		return true;
	}
	return false;
}

/* "-----BEGIN RSA PRIVATE KEY-----" to "-----END", or to the end where that is missing. */
static bool private_key(struct editing *e)
{
	static const char begin[] = "-----BEGIN ", mark[] = "PRIVATE KEY-----", end[] = "-----END";
	const size_t begin_len = sizeof(begin) - 1, mark_len = sizeof(mark) - 1, kind_len = 32;
	if (mask_left(e) < begin_len || memcmp(e->from, begin, begin_len) != 0)
		return false;
	const char *at = memmem(e->from, MIN(mask_left(e), begin_len + kind_len + mark_len), mark, mark_len);
	if (!at)
		return false;
	keep(e, (size_t)(at - e->from) + mark_len);
	const char *to = memmem(e->from, mask_left(e), end, sizeof(end) - 1);
	hide(e, (size_t)((to ? to : e->end) - e->from));
	return true;
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

static bool is_char_of(char c, const char *list)
{
	return c && strchr(list, c);
}

static bool is_word_of(struct span word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == word.len && strncasecmp(word.p, list[i], word.len) == 0)
			return true;
	return false;
}

static bool is_number(struct span v)
{
	size_t digits = 0;
	while (digits < v.len && isdigit((unsigned char)v.p[digits]))
		digits++;
	return digits == v.len;
}

/* "a1b2c3d4" */
static bool is_random(struct span v)
{
	size_t digits = 0;
	for (size_t i = 0; i < v.len; i++)
		digits += isdigit((unsigned char)v.p[i]) != 0;
	return v.len >= 8 && digits > 0 && digits < v.len;
}

/* ---- values ---- */

/* A folder in the place of a "pwd", no pair in that of an "auth". */
static bool is_other_thing(struct span v, enum secrecy how)
{
	if (how == SECRET_UNLESS_PATH)
		return v.len == 0 || is_char_of(v.p[0], ".~$") || memchr(v.p, '/', v.len) || memchr(v.p, '\\', v.len);
	return how == SECRET_IF_PAIR && !memchr(v.p, ':', v.len);
}

/* A word of Python is no secret, nor is a number where a token or a key may be one: key=None, token=50256. */
static bool is_plain_value(struct span v, enum secrecy how)
{
	static const char *const words[] = {"None", "True", "False", "null", "true", "false"};
	return v.len == 0 || (is_number(v) && (how != SECRET || v.len < SECRET_DIGITS)) ||
	       is_word_of(v, words, ARRAY_SIZE(words)) || is_other_thing(v, how);
}

/* How far from here the end of a value is looked for. *ret: where it ends if there is none. */
static size_t value_most(const struct editing *e, size_t *ret)
{
	const char *nl = memchr(e->from, '\n', mask_left(e));
	const size_t line = nl ? (size_t)(nl - e->from) : mask_left(e), most = line + LINES_MAX;
	*ret = most < mask_left(e) ? most : line; /* it may still come: all that was looked at */
	return MIN(mask_left(e), most);
}

/*
 * Up to the closing quote, before which there is a backslash if there was one before the opening quote. Where it is
 * missing, to the end of the line, or of what was looked at.
 */
static size_t quoted_len(const struct editing *e, char quote, bool escaped)
{
	size_t n = 0, without;
	const size_t most = value_most(e, &without);
	while (n < most && e->from[n] != quote) {
		bool backslash = e->from[n] == '\\' && n + 1 < mask_left(e);
		if (backslash && escaped && e->from[n + 1] == quote)
			break;
		n += backslash ? 2 : 1;
	}
	return n < most ? n : without;
}

/* Up to the bracket that closes the one before; where it is missing, as with quotes. */
static size_t bracketed_len(const struct editing *e)
{
	size_t depth = 1, without;
	const size_t most = value_most(e, &without);
	char quote = '\0';
	for (size_t n = 0; n < most; n++) {
		const char c = e->from[n];
		if (is_char_of(c, "\"'") && (!quote || quote == c))
			quote = quote ? '\0' : c;
		depth += !quote && is_char_of(c, "([{");
		depth -= !quote && is_char_of(c, ")]}");
		if (depth == 0)
			return n;
	}
	return without;
}

/* A value without quotes: with what stands behind a comma, unless that is the next name or argument. */
static size_t bare_len(const struct editing *e)
{
	size_t n = run_until(e, 0, BARE_STOPS);
	while (char_at(e, n) == ',') {
		const size_t more = run_until(e, n + 1, BARE_STOPS "=:");
		if (more == n + 1 || is_char_of(char_at(e, more), "=:\"'"))
			break;
		n = more;
	}
	return n;
}

static void value_bare(struct editing *e, enum secrecy how)
{
	const size_t n = run_until(e, 0, BARE_STOPS);
	if (is_plain_value((struct span){e->from, n}, how))
		keep(e, n);
	else if (!private_key(e))
		hide(e, bare_len(e));
}

/* All of a list or a dictionary. Numbers alone may be tokens of a text. */
static void value_bracketed(struct editing *e, enum secrecy how)
{
	keep(e, 1);
	const size_t n = bracketed_len(e);
	const bool texts = memchr(e->from, '"', n) || memchr(e->from, '\'', n);
	if (texts || how == SECRET)
		hide(e, n);
	else
		keep(e, n);
}

static void value_quoted(struct editing *e, enum secrecy how, bool escaped)
{
	const char quote = *e->from;
	keep(e, 1);
	const size_t n = quoted_len(e, quote, escaped);
	if (is_other_thing((struct span){e->from, n}, how)) {
		keep(e, n);
		return;
	}
	hide(e, n);
	/* 'it''s' of a shell or of SQL, and """ of Python */
	while (char_at(e, 0) == quote && char_at(e, 1) == quote) {
		keep(e, 2);
		hide(e, quoted_len(e, quote, escaped));
	}
	if (char_at(e, 0) == quote && is_word_char(char_at(e, 1))) {
		keep(e, 1);
		hide(e, run_until(e, 0, BARE_STOPS));
	}
}

/* The value at this distance: what is between quotes or brackets, else up to a blank or what ends it. Hides it. */
static void value(struct editing *e, size_t at, enum secrecy how)
{
	keep(e, at);
	/* b'…' is a text too, and a quote in JSON in JSON has a backslash before it */
	bool escaped = false;
	while (mask_left(e) > 1 &&
	       (*e->from == '\\' || (is_char_of(*e->from, "bBrRuUfF") && is_char_of(e->from[1], "'\"")))) {
		escaped |= *e->from == '\\';
		keep(e, 1);
	}
	if (is_char_of(char_at(e, 0), "'\""))
		value_quoted(e, how, escaped);
	else if (is_char_of(char_at(e, 0), "([{"))
		value_bracketed(e, how);
	else if (mask_left(e) > 0)
		value_bare(e, how);
}

/* ---- names and what follows them ---- */

/* After a colon only where a value follows for certain: not in 'Invalid token: unexpected', 'First pass: begins'. */
static bool is_colon_of_value(const struct editing *e, size_t value_at, enum secrecy how, size_t parts, bool quoted)
{
	const struct span v = {e->from + value_at, run_until(e, value_at, BARE_STOPS) - value_at};
	return quoted || how == SECRET || parts > 1 || is_random(v);
}

static size_t quotes_after(const struct editing *e, size_t at)
{
	while (is_char_of(char_at(e, at), "\\\"'"))
		at++;
	return at;
}

/* Where the value of a secret's name of n letters begins; 0: none follows. */
static size_t value_begin(const struct editing *e, size_t n, enum secrecy how, size_t parts)
{
	const bool option = n > 1 && e->from[0] == '-';
	const size_t at = quotes_after(e, n);
	const bool quoted = at > n;
	const size_t sign = blanks_after(e, at), two = blanks_after(e, sign + 2);
	size_t begin = blanks_after(e, sign + 1);
	const char next = char_at(e, sign + 1);
	while (quoted && begin < mask_left(e) && is_blank(e->from[begin])) /* JSON may go on in the next line */
		begin++;
	switch (char_at(e, sign)) {
	case '=': /* not a comparison */
		return next == '=' ? 0 : next == '>' ? two : begin;
	case '+':
		return next == '=' ? two : 0;
	case ':':
		return next == '=' ? two : is_colon_of_value(e, begin, how, parts, quoted) ? begin : 0;
	case ',': /* a list of arguments */
		return option && quoted && is_char_of(char_at(e, begin), "\"'") && char_at(e, begin + 1) != '-' ? begin
														: 0;
	default:
		return option && !quoted && sign > at && char_at(e, sign) != '-' ? sign : 0;
	}
}

static size_t name_len(const struct editing *e, size_t at)
{
	size_t n = at;
	while (n < mask_left(e) && is_name_char(e->from[n]))
		n++;
	return n - at;
}

/* Of the value of "Authorization": what follows the scheme. An end in quotes, else 0. */
static void credentials(struct editing *e, size_t end)
{
	static const char *const schemes[] = {"Basic", "Bearer", "Token", "ApiKey", "Negotiate", "NTLM"};
	static const char *const lists[] = {"Digest", "AWS4-HMAC-SHA256", "OAuth", "Hawk"};
	const size_t n = run_until(e, 0, "\"',;"), begin = blanks_after(e, n);
	const struct span word = {e->from, n};
	const bool of_one = is_word_of(word, schemes, ARRAY_SIZE(schemes));
	const size_t line = end ? end : run_until(e, begin, "");
	if (is_word_of(word, lists, ARRAY_SIZE(lists)) && begin > n) {
		const char *nl = memchr(e->from, '\n', mask_left(e));
		keep(e, begin);
		hide(e, end ? sub_floor(end, begin) : (size_t)((nl ? nl : e->end) - e->from));
	} else if (of_one && begin > n && line > begin) {
		const struct span rest = {e->from + begin, line - begin};
		keep(e, begin);
		if (rest.len >= 8 || is_random(rest))
			hide(e, rest.len);
	} else if (!of_one && (is_random(word) || n >= 16)) {
		hide(e, end ? end : n);
	}
}

/* "a=b; c=d" */
static void cookies(struct editing *e, size_t end)
{
	size_t n = run_until(e, 0, "\"'");
	while (n > 0 && e->from[n - 1] == ';' && char_at(e, n) == ' ' && char_at(e, n + 1) != ' ')
		n = run_until(e, n + 1, "\"'");
	hide(e, end ? end : n);
}

/* Headers of HTTP whose name has n letters; before: the letter before it. */
static bool header(struct editing *e, size_t n, char before)
{
	static const char *const of_secrets[] = {"Authorization", "Proxy-Authorization"};
	static const char *const of_cookies[] = {"Cookie", "Set-Cookie"};
	const struct span name = {e->from, n};
	const bool cookie = is_word_of(name, of_cookies, ARRAY_SIZE(of_cookies));
	const size_t sign = blanks_after(e, quotes_after(e, n));
	size_t begin = blanks_after(e, sign + 1);
	char quote = is_char_of(before, "\"'") && sign == n ? before : '\0';
	if ((!cookie && !is_word_of(name, of_secrets, ARRAY_SIZE(of_secrets))) || !is_char_of(char_at(e, sign), ":=") ||
	    char_at(e, sign + 1) == '=')
		return false;
	begin += is_char_of(char_at(e, begin), "bfu") && is_char_of(char_at(e, begin + 1), "\"'");
	if (is_char_of(char_at(e, begin), "\"'"))
		quote = char_at(e, begin++);
	if (begin > mask_left(e) || is_char_of(char_at(e, begin), "([{") ||
	    (cookie && !memchr(e->from + begin, '=', run_until(e, begin, BARE_STOPS) - begin)))
		return false;
	keep(e, begin);
	const size_t end = quote ? quoted_len(e, quote, false) : 0;
	if (cookie)
		cookies(e, end);
	else
		credentials(e, end);
	return true;
}

/* Of "user:password" the password, unless both are numbers (1000:1000) or it is an address. */
static bool pair_hide(struct editing *e, size_t n)
{
	const char *colon = memchr(e->from, ':', n);
	const size_t user = colon ? (size_t)(colon - e->from) : 0;
	if (user == 0 || user + 1 == n || colon[1] == '/' ||
	    (is_number((struct span){e->from, user}) && is_number((struct span){colon + 1, n - user - 1})))
		return false;
	keep(e, user + 1);
	hide(e, n - user - 1);
	return true;
}

static bool is_user_option(struct span name)
{
	static const char *const options[] = {"-u", "--user", "--proxy-user"};
	return is_word_of(name, options, ARRAY_SIZE(options)) && name.p[1] != 'U';
}

/* "-u user:password" */
static bool user_option(struct editing *e, size_t n)
{
	size_t begin = char_at(e, n) == '=' ? n + 1 : blanks_after(e, n);
	if (!is_user_option((struct span){e->from, n}) || begin == n)
		return false;
	const bool quoted = is_char_of(char_at(e, begin), "\"'");
	begin += quoted;
	if (begin >= mask_left(e))
		return false;
	keep(e, begin);
	(void)pair_hide(e, quoted ? quoted_len(e, e->from[-1], false) : run_until(e, 0, "\"'"));
	return true;
}

/* "-pSECRET" or "-p SECRET" of a program that is known for it. */
static bool program_option(struct editing *e, size_t n)
{
	const struct maskname_option *o = e->option;
	if (!o || n < 2 || e->from[0] != '-' || e->from[1] != o->letter)
		return false;
	const size_t begin = blanks_after(e, 2);
	const bool next = n == 2 && begin > 2;
	if (next ? !o->separate || begin >= mask_left(e) : !o->joined || (n == 2 && !is_char_of(char_at(e, 2), "\"'")))
		return false;
	value(e, next ? begin : 2, SECRET);
	return true;
}

/* "?sig=…" in the query of an address. */
static bool query(struct editing *e, size_t n, char before)
{
	if (!is_char_of(before, "?&") || char_at(e, n) != '=' || !maskname_is_query_secret((struct span){e->from, n}))
		return false;
	const struct span v = {e->from + n + 1, run_until(e, n + 1, BARE_STOPS "#") - n - 1};
	if (v.len < 16 && !is_random(v))
		return false;
	keep(e, n + 1);
	hide(e, v.len);
	return true;
}

/* "api key: …": how long the name is with its second word; n: it has none. */
static size_t second_word(const struct editing *e, size_t n)
{
	static const char *const first[] = {"api", "secret", "access", "auth", "private", "account"};
	static const char *const second[] = {"key", "token", "password"};
	const size_t more = name_len(e, n + 1);
	if (char_at(e, n) != ' ' || !is_word_of((struct span){e->from, n}, first, ARRAY_SIZE(first)) ||
	    !is_word_of((struct span){e->from + n + 1, more}, second, ARRAY_SIZE(second)))
		return n;
	return n + 1 + more;
}

/* {"name": "DB_PASSWORD", "value": …}: true where the value is a secret. */
static bool named_before(struct editing *e, size_t n)
{
	static const char *const names[] = {"name", "key"}, *const values[] = {"value"};
	const struct span word = {e->from, n};
	const size_t at = quotes_after(e, n), sign = blanks_after(e, at), begin = blanks_after(e, sign + 1);
	const size_t text = quotes_after(e, begin);
	if (at == n || char_at(e, sign) != ':')
		return false;
	if (is_word_of(word, names, ARRAY_SIZE(names)) && text > begin)
		e->named = mask_is_secret((struct span){e->from + text, name_len(e, text)});
	return e->named && is_word_of(word, values, ARRAY_SIZE(values));
}

/* A name at this place, what follows it and, where it is a secret's, its value. */
static void named_value(struct editing *e, char before)
{
	size_t n = name_len(e, 0), parts;
	const struct maskname_option *option = maskname_option_of((struct span){e->from, n});
	e->option = option ? option : e->option;
	if (header(e, n, before) || user_option(e, n) || program_option(e, n) || query(e, n, before))
		return;
	const size_t one = n;
	n = second_word(e, n);
	enum secrecy how = maskname_secrecy((struct span){e->from, n}, &parts);
	if (n > one) { /* words of a sentence */
		how = MIN(how, SECRET_BY_USE);
		parts = 1;
	} else if (named_before(e, n)) {
		how = SECRET;
	}
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
		const char last = before;
		const bool begins = !is_word_char(last);
		before = *e.from;
		if (address(&e) || (begins && (known_form(&e) || scheme(&e))) || private_key(&e)) {
			before = '*';
		} else if (is_name_char(*e.from)) {
			named_value(&e, last);
			before = e.to > text ? e.to[-1] : ' ';
		} else {
			e.option = is_char_of(*e.from, ";|&\n") ? NULL : e.option;
			e.named &= *e.from != '}';
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
	size_t parts;
	const enum secrecy how = maskname_secrecy(span_of(name), &parts);
	const bool text = quote && (how == SECRET || quote - value_text <= 1);
	struct editing whole = {.from = value_text, .end = value_text + strlen(value_text), .to = value_text};
	const bool number = isdigit((unsigned char)*value_text) && run_until(&whole, 0, "") == mask_left(&whole);
	const bool by_value = how == SECRET_UNLESS_PATH || how == SECRET_IF_PAIR;
	if ((how == SECRET && number) || by_value) {
		value(&whole, 0, how);
		keep(&whole, mask_left(&whole));
		*whole.to = '\0';
	}
	if (how == SECRET && number)
		return;
	if (!text || how == PLAIN || by_value) {
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

/* Of the next argument. */
enum next_arg { NEXT_PLAIN, NEXT_SECRET, NEXT_PAIR };

/* What an argument says of the next one; *option: of the last program among the arguments, as in "sudo mysql -p". */
static enum next_arg next_by(struct span arg, const struct maskname_option **option)
{
	const char *slash = memrchr(arg.p, '/', arg.len);
	const size_t at = slash ? (size_t)(slash - arg.p) + 1 : 0;
	const struct maskname_option *known = maskname_option_of((struct span){arg.p + at, arg.len - at});
	*option = known ? known : *option;
	const struct maskname_option *o = *option;
	if (o && o->separate && arg.len == 2 && arg.p[0] == '-' && arg.p[1] == o->letter)
		return NEXT_SECRET;
	if (is_user_option(arg))
		return NEXT_PAIR;
	const struct span name = option_name(arg);
	return name.len > 0 && mask_is_secret(name) ? NEXT_SECRET : NEXT_PLAIN;
}

static size_t secret_argument(char *arg, size_t n)
{
	n = MIN(n, (size_t)STARS);
	memset(arg, '*', n);
	return n;
}

static size_t pair_argument(char *arg, size_t n)
{
	struct editing e = {.from = arg, .end = arg + n, .to = arg};
	return pair_hide(&e, n) ? (size_t)(e.to - arg) : edit(arg, n);
}

size_t mask_args(char *args, size_t len)
{
	char *to = args;
	enum next_arg next = NEXT_PLAIN;
	const struct maskname_option *option = NULL;
	for (size_t at = 0; at < len;) {
		const char *end = memchr(args + at, '\0', len - at);
		size_t n = end ? (size_t)(end - (args + at)) : len - at, was = n;
		const bool is_option = n > 2 && args[at] == '-' && args[at + 1] == '-';
		memmove(to, args + at, n);
		if (next == NEXT_SECRET && !is_option) {
			n = secret_argument(to, n);
			next = NEXT_PLAIN;
		} else if (next == NEXT_PAIR && !is_option) {
			n = pair_argument(to, n);
			next = NEXT_PLAIN;
		} else {
			next = next_by((struct span){to, n}, &option);
			const bool joined =
				option && option->joined && n > 2 && to[0] == '-' && to[1] == option->letter;
			n = joined ? 2 + secret_argument(to + 2, n - 2) : argument(to, n);
		}
		to += n;
		at += was + (end ? 1 : 0);
		if (end)
			*to++ = '\0';
	}
	return (size_t)(to - args);
}
