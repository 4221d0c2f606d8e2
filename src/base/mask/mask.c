#include "base/mask/mask.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/mask/edit.h"
#include "base/mask/maskname.h"
#include "base/mask/maskvalue.h"

/* How far a password with slashes in it is looked for: texts of a job may have thousands of addresses in a row. */
#define PASSWORD_MAX 256

/* ---- forms ---- */

/* The '@' of an address whose text after "://" begins here; NULL: it has none. */
static const char *address_at(const struct edit *e, size_t from)
{
	const size_t end = edit_run(e, from, "/\"'<>?#");
	const char *at = memrchr(e->from + from, '@', end - from);
	const char *colon = memchr(e->from + from, ':', end - from);
	if (at || !colon || end == edit_left(e) || !strchr("/?#", e->from[end]))
		return at;
	/* a password with a slash or the like in it; digits are a port */
	const struct edit part = {.from = e->from, .end = MIN(e->end, e->from + end + PASSWORD_MAX)};
	for (const char *c = colon + 1; c < e->from + end; c++)
		if (!isdigit((unsigned char)*c))
			return memrchr(e->from + end, '@', edit_run(&part, end, "\"'<>") - end);
	return NULL;
}

/* "://user:password" of an address that was cut off before its '@': what stands behind the colon and is no port. */
static bool address_cut(struct edit *e, size_t mark_len)
{
	static const char *const port[] = {"port"};
	const size_t end = edit_run(e, mark_len, "/\"'<>?#,;)]}");
	const char *colon = memchr(e->from + mark_len, ':', end - mark_len);
	if (!colon || edit_is_of(edit_char(e, end), "/?#") || colon == e->from + mark_len ||
	    edit_is_of(e->from[mark_len], "[{$"))
		return false;
	struct span v = {colon + 1, (size_t)(e->from + end - colon) - 1};
	while (v.len > 0 && edit_is_of(v.p[v.len - 1], ".:!"))
		v.len--;
	if (maskvalue_is_number(v) || edit_is_of(*v.p, "{$%*:") || maskname_is_among(v, port, ARRAY_SIZE(port)))
		return false;
	edit_keep(e, (size_t)(v.p - e->from));
	edit_hide(e, v.len);
	return true;
}

/* "://user:password@host": the password; without a user, the whole where it looks like a token. */
static bool address(struct edit *e)
{
	static const char mark[] = "://";
	const size_t mark_len = sizeof(mark) - 1, token_len = 20;
	if (edit_left(e) < mark_len || memcmp(e->from, mark, mark_len) != 0)
		return false;
	const char *at = address_at(e, mark_len);
	if (!at)
		return address_cut(e, mark_len);
	const char *colon = memchr(e->from + mark_len, ':', (size_t)(at - e->from) - mark_len);
	const size_t password_len = colon ? (size_t)(at - colon) - 1 : 0,
		     user_len = (size_t)(at - e->from) - mark_len - (colon ? password_len + 1 : 0);
	edit_keep(e, mark_len);
	/* a token may stand in the user's place, before a password that says nothing */
	if (user_len >= token_len)
		edit_hide(e, user_len);
	else
		edit_keep(e, user_len);
	if (colon) {
		edit_keep(e, 1);
		edit_hide(e, password_len);
	}
	return true;
}

/* Tokens, and addresses that are as good as one, that say themselves what they are. */
static bool known_form(struct edit *e)
{
	static const char *const forms[] = {
		"ghp_",	 "gho_",     "ghs_",	  "ghu_",    "ghr_",	 "github_pat_", "glpat-",
		"glrt-", "hf_",	     "api_org_",  "sk-",     "sk_live_", "sk_test_",	"rk_live_",
		"xoxb-", "xoxp-",    "xoxa-",	  "xoxs-",   "xapp-",	 "AKIA",	"ASIA",
		"npm_",	 "eyJ",	     "AIza",	  "ya29.",   "nvapi-",	 "gsk_",	"hvs.",
		"SG.",	 "pypi-AgE", "dckr_pat_", "dop_v1_", "shpat_",	 "r8_",		"AGE-SECRET-KEY-",
		"xai-",	 "tskey-",   "wandb_v1_", "tgp_v1_", "lin_api_", "lsv2_pt_",	"lsv2_sk_",
		"PMAK-", "pcsk_",    "sntrys_",	  "hvb."};
	static const char *const addresses[] = {"hooks.slack.com/services/", "discord.com/api/webhooks/",
						"discordapp.com/api/webhooks/", "api.telegram.org/bot"};
	const size_t rest_len = 16, n_forms = ARRAY_SIZE(forms);
	for (size_t i = 0; i < n_forms + ARRAY_SIZE(addresses); i++) {
		const char *form = i < n_forms ? forms[i] : addresses[i - n_forms];
		if (*form != *e->from)
			continue;
		const char *also = i < n_forms ? "-_." : "-_./:";
		size_t len = strlen(form), n = len;
		if (edit_left(e) < len || memcmp(e->from, form, len) != 0)
			continue;
		while (n < edit_left(e) && (edit_is_word(e->from[n]) || strchr(also, e->from[n] ? e->from[n] : ' ')))
			n++;
		if (n - len < rest_len)
			continue;
		edit_keep(e, len);
		edit_hide(e, n - len);
		return true;
	}
	return false;
}

/*
 * A line of a key in PEM's form that stands by itself, or another long text that was drawn by lot: kinds of letters
 * that change at each second letter, which words, paths, names of functions and hexadecimal numbers have not.
 */
static bool drawn_by_lot(struct edit *e)
{
	const size_t least = 40, few = 4;
	size_t n = 0, changes = 0, of_kind[5] = {0};
	for (int kind, last = 0; n < edit_left(e); n++, last = kind) {
		const unsigned char c = (unsigned char)e->from[n];
		const bool sign = edit_is_of((char)c, "+/");
		kind = isupper(c) ? 1 : islower(c) ? 2 : isdigit(c) ? 3 : sign ? 4 : 0;
		if (kind == 0)
			break;
		changes += kind != last;
		of_kind[kind]++;
	}
	if (n < least || of_kind[1] < few || of_kind[2] < few || of_kind[3] < few - 1 || of_kind[4] > 2 + n / 10 ||
	    changes * 100 < n * 45)
		return false;
	edit_hide(e, n);
	return true;
}

/* "Bearer x", "Basic x" with something long behind it. */
static bool scheme(struct edit *e)
{
	static const char *const schemes[] = {"Bearer ", "bearer ", "Basic ", "bearer: "};
	const size_t value_len = 8;
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t len = strlen(schemes[i]);
		if (edit_left(e) <= len || strncasecmp(e->from, schemes[i], len) != 0)
			continue;
		size_t end = edit_run(e, len, "\"',;");
		const struct span v = {e->from + len, end - len};
		if (v.len < value_len || (memcmp(e->from, schemes[i], len) != 0 && !maskvalue_is_random(v)))
			continue;
		edit_keep(e, len);
		edit_hide(e, end - len);
		return true;
	}
	return false;
}

/* ---- names and what follows them ---- */

/* After a colon only where a value follows for certain: not in 'Invalid token: unexpected', 'First pass: begins'. */
static bool is_colon_of_value(const struct edit *e, size_t value_at, enum secrecy how, size_t parts, bool quoted)
{
	const struct span v = {e->from + value_at, edit_run(e, value_at, BARE_STOPS) - value_at};
	return quoted || how == SECRET || parts > 1 || maskvalue_is_random(v);
}

/* ("name", "value"), as an item of a dictionary is shown and a call is written: the value is the last of its list. */
static bool is_last_of_list(const struct edit *e, size_t value_at)
{
	const char quote = edit_char(e, value_at);
	const struct edit rest = {.from = e->from + MIN(value_at + 1, edit_left(e)), .end = e->end};
	return edit_is_of(quote, "\"'") && edit_is_of(edit_char(&rest, edit_quoted(&rest, quote, false) + 1), ")");
}

/* Where the value of a secret's name of n letters begins; 0: none follows. */
static size_t value_begin(const struct edit *e, size_t n, enum secrecy how, size_t parts)
{
	const bool option = n > 1 && e->from[0] == '-';
	const size_t name_end = edit_quotes(e, n);
	const bool quoted = name_end > n;
	const size_t at = name_end + (quoted && edit_char(e, name_end) == ']'); /* environ["NAME"] = */
	const size_t sign = edit_blanks(e, at), two = edit_blanks(e, sign + 2);
	size_t begin = edit_blanks(e, sign + 1);
	const char next = edit_char(e, sign + 1);
	while (quoted && begin < edit_left(e) && edit_is_blank(e->from[begin])) /* JSON may go on in the next line */
		begin++;
	switch (edit_char(e, sign)) {
	case '=': /* not a comparison */
		return next == '=' ? 0 : next == '>' ? two : begin;
	case '+':
		return next == '=' ? two : 0;
	case ':':
		return next == '=' ? two : is_colon_of_value(e, begin, how, parts, quoted) ? begin : 0;
	case ',': /* a list of arguments */
		if (quoted && !option && (how == SECRET || parts > 1) && is_last_of_list(e, begin))
			return begin;
		return option && quoted && edit_is_of(edit_char(e, begin), "\"'") && edit_char(e, begin + 1) != '-'
			       ? begin
			       : 0;
	case '%': /* an address within an address */
		return !quoted && strncasecmp(e->from + sign, "%3d", MIN(edit_left(e) - sign, (size_t)3)) == 0
			       ? sign + 3
			       : 0;
	default:
		return option && !quoted && sign > at && edit_char(e, sign) != '-' ? sign : 0;
	}
}

/* Of the value of "Authorization": what follows the scheme. An end in quotes, else 0. */
static void credentials(struct edit *e, size_t end)
{
	static const char *const schemes[] = {"Basic", "Bearer", "Token", "ApiKey", "Negotiate", "NTLM"};
	static const char *const lists[] = {"Digest", "AWS4-HMAC-SHA256", "OAuth", "Hawk"};
	const size_t n = edit_run(e, 0, "\"',;"), begin = edit_blanks(e, n);
	const struct span word = {e->from, n};
	const bool of_one = maskname_is_among(word, schemes, ARRAY_SIZE(schemes));
	const size_t line = end ? end : edit_run(e, begin, "");
	if (maskname_is_among(word, lists, ARRAY_SIZE(lists)) && begin > n) {
		const char *nl = memchr(e->from, '\n', edit_left(e));
		edit_keep(e, begin);
		edit_hide(e, end ? sub_floor(end, begin) : (size_t)((nl ? nl : e->end) - e->from));
	} else if (of_one && begin > n && line > begin) {
		const struct span rest = {e->from + begin, line - begin};
		edit_keep(e, begin);
		if (rest.len >= 8 || maskvalue_is_random(rest))
			edit_hide(e, rest.len);
	} else if (!of_one && (maskvalue_is_random(word) || n >= 16)) {
		edit_hide(e, end ? end : n);
	}
}

/* "a=b; c=d" */
static void cookies(struct edit *e, size_t end)
{
	size_t n = edit_run(e, 0, "\"'");
	while (n > 0 && e->from[n - 1] == ';' && edit_char(e, n) == ' ' && edit_char(e, n + 1) != ' ')
		n = edit_run(e, n + 1, "\"'");
	edit_hide(e, end ? end : n);
}

/* Headers of HTTP whose name has n letters; before: the letter before it. */
static bool header(struct edit *e, size_t n, char before)
{
	static const char *const of_secrets[] = {"Authorization", "Proxy-Authorization"};
	static const char *const of_cookies[] = {"Cookie", "Set-Cookie"};
	const struct span name = {e->from, n};
	const bool cookie = maskname_is_among(name, of_cookies, ARRAY_SIZE(of_cookies));
	const size_t sign = edit_blanks(e, edit_quotes(e, n));
	size_t begin = edit_blanks(e, sign + 1);
	char quote = edit_is_of(before, "\"'") && sign == n ? before : '\0';
	if ((!cookie && !maskname_is_among(name, of_secrets, ARRAY_SIZE(of_secrets))) ||
	    !edit_is_of(edit_char(e, sign), ":=") || edit_char(e, sign + 1) == '=')
		return false;
	begin += edit_is_of(edit_char(e, begin), "bfu") && edit_is_of(edit_char(e, begin + 1), "\"'");
	if (edit_is_of(edit_char(e, begin), "\"'"))
		quote = edit_char(e, begin++);
	if (begin > edit_left(e) || edit_is_of(edit_char(e, begin), "([{") ||
	    (cookie && !memchr(e->from + begin, '=', edit_run(e, begin, BARE_STOPS) - begin)))
		return false;
	edit_keep(e, begin);
	const size_t end = quote ? edit_quoted(e, quote, false) : 0;
	if (cookie)
		cookies(e, end);
	else
		credentials(e, end);
	return true;
}

/* Of "user:password" the password, unless both are numbers (1000:1000) or it is an address. */
static bool pair_hide(struct edit *e, size_t n)
{
	const char *colon = memchr(e->from, ':', n);
	const size_t user = colon ? (size_t)(colon - e->from) : 0;
	if (user == 0 || user + 1 == n || colon[1] == '/' ||
	    (maskvalue_is_number((struct span){e->from, user}) &&
	     maskvalue_is_number((struct span){colon + 1, n - user - 1})))
		return false;
	edit_keep(e, user + 1);
	edit_hide(e, n - user - 1);
	return true;
}

static bool is_user_option(struct span name)
{
	static const char *const options[] = {"-u", "--user", "--proxy-user"};
	return maskname_is_among(name, options, ARRAY_SIZE(options)) && name.p[1] != 'U';
}

/* "-u user:password" */
static bool user_option(struct edit *e, size_t n)
{
	size_t begin = edit_char(e, n) == '=' ? n + 1 : edit_blanks(e, n);
	if (!is_user_option((struct span){e->from, n}) || begin == n)
		return false;
	const bool quoted = edit_is_of(edit_char(e, begin), "\"'");
	begin += quoted;
	if (begin >= edit_left(e))
		return false;
	edit_keep(e, begin);
	(void)pair_hide(e, quoted ? edit_quoted(e, e->from[-1], false) : edit_run(e, 0, "\"'"));
	return true;
}

/* "-pSECRET" or "-p SECRET" of a program that is known for it. */
static bool program_option(struct edit *e, size_t n)
{
	const struct maskname_option *o = e->option;
	if (!o || n < 2 || e->from[0] != '-' || e->from[1] != o->letter)
		return false;
	const size_t begin = edit_blanks(e, 2);
	const bool next = n == 2 && begin > 2;
	if (next ? !o->separate || begin >= edit_left(e)
		 : !o->joined || (n == 2 && !edit_is_of(edit_char(e, 2), "\"'")))
		return false;
	maskvalue_hide(e, next ? begin : 2, SECRET);
	return true;
}

/* "?sig=…" in the query of an address. */
static bool query(struct edit *e, size_t n, char before)
{
	if (!edit_is_of(before, "?&") || edit_char(e, n) != '=' || !maskname_is_query_secret((struct span){e->from, n}))
		return false;
	const struct span v = {e->from + n + 1, edit_run(e, n + 1, BARE_STOPS "#") - n - 1};
	if (v.len < 16 && !maskvalue_is_random(v))
		return false;
	edit_keep(e, n + 1);
	edit_hide(e, v.len);
	return true;
}

/* "api key: …": how long the name is with its second word; n: it has none. */
static size_t second_word(const struct edit *e, size_t n)
{
	static const char *const first[] = {"api", "secret", "access", "auth", "private", "account"};
	static const char *const second[] = {"key", "token", "password"};
	const size_t more = edit_name(e, n + 1);
	if (edit_char(e, n) != ' ' || !maskname_is_among((struct span){e->from, n}, first, ARRAY_SIZE(first)) ||
	    !maskname_is_among((struct span){e->from + n + 1, more}, second, ARRAY_SIZE(second)))
		return n;
	return n + 1 + more;
}

/* {"name": "DB_PASSWORD", "value": …}: true where the value is a secret. */
static bool named_before(struct edit *e, size_t n)
{
	static const char *const names[] = {"name", "key"}, *const values[] = {"value"};
	const struct span word = {e->from, n};
	const size_t at = edit_quotes(e, n), sign = edit_blanks(e, at), begin = edit_blanks(e, sign + 1);
	const size_t text = edit_quotes(e, begin);
	if (at == n || edit_char(e, sign) != ':')
		return false;
	if (maskname_is_among(word, names, ARRAY_SIZE(names)) && text > begin)
		e->named = mask_is_secret((struct span){e->from + text, edit_name(e, text)});
	return e->named && maskname_is_among(word, values, ARRAY_SIZE(values));
}

/* A name at this place, what follows it and, where it is a secret's, its value. */
static void named_value(struct edit *e, char before)
{
	size_t n = edit_name(e, 0), parts;
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
	if (begin == 0 || begin > edit_left(e))
		edit_keep(e, n);
	else
		maskvalue_hide(e, begin, how);
}

/* Masks len bytes; returns how many are left. */
static size_t edit(char *text, size_t len)
{
	struct edit e = {.from = text, .end = text + len, .to = text};
	char before = ' ';
	while (edit_left(&e) > 0) {
		const char last = before;
		const bool begins = !edit_is_word(last);
		before = *e.from;
		const size_t code = edit_colour(&e, 0);
		if (code > 0) {
			edit_keep(&e, code);
			before = ' ';
		} else if (*e.from == '%' && isxdigit((unsigned char)edit_char(&e, 1)) &&
			   isxdigit((unsigned char)edit_char(&e, 2))) {
			edit_keep(&e, 3); /* "%3Ftoken" is called "token" */
			before = ' ';
		} else if (address(&e) || (begins && (known_form(&e) || scheme(&e))) || maskvalue_key(&e) ||
			   (begins && !edit_is_of(last, "+/") && drawn_by_lot(&e))) {
			before = '*';
		} else if (edit_is_name(*e.from)) {
			named_value(&e, last);
			before = e.to > text ? e.to[-1] : ' ';
		} else {
			e.option = edit_is_of(*e.from, ";|&\n") ? NULL : e.option;
			e.named &= *e.from != '}';
			edit_keep(&e, 1);
		}
	}
	return (size_t)(e.to - text);
}

void mask_text(char *text)
{
	text[edit(text, strlen(text))] = '\0';
}

void mask_name(char *name)
{
	if (strpbrk(name, "=: ")) /* most have no sign, and too few bytes for a token's form; names are read often */
		mask_text(name);
}

bool mask_key_begun(struct span text, bool open)
{
	static const char begin[] = "-----BEGIN ", kind[] = "PRIVATE KEY-----", end[] = "-----END ";
	const size_t kind_most = 32 + sizeof(kind);
	const char *at, *const stop = text.p + text.len;
	for (const char *p = text.p; (at = memmem(p, (size_t)(stop - p), "-----", 5)); p = at + 1) {
		const size_t left = (size_t)(stop - at);
		if (left >= sizeof(end) - 1 && memcmp(at, end, sizeof(end) - 1) == 0)
			open = false;
		else if (left >= sizeof(begin) - 1 && memcmp(at, begin, sizeof(begin) - 1) == 0)
			open |= memmem(at, MIN(left, sizeof(begin) + kind_most), kind, sizeof(kind) - 1) != NULL;
	}
	return open;
}

void mask_value(const char *name, char *value_text)
{
	const char *quote = strpbrk(value_text, "'\"");
	size_t parts;
	const enum secrecy how = maskname_secrecy(span_of(name), &parts);
	const bool text = quote && (how == SECRET || quote - value_text <= 1);
	struct edit whole = {.from = value_text, .end = value_text + strlen(value_text), .to = value_text};
	const bool number = isdigit((unsigned char)*value_text) && edit_run(&whole, 0, "") == edit_left(&whole);
	const bool by_value = how == SECRET_UNLESS_PATH || how == SECRET_IF_PAIR;
	if ((how == SECRET && number) || by_value) {
		maskvalue_hide(&whole, 0, how);
		edit_keep(&whole, edit_left(&whole));
		*whole.to = '\0';
	}
	if (how == SECRET && number)
		return;
	if (!text || how == PLAIN || by_value) {
		mask_text(value_text);
		return;
	}
	size_t at = (size_t)(quote - value_text) + 1;
	struct edit e = {.from = value_text + at, .end = value_text + strlen(value_text), .to = value_text + at};
	const char *end = memrchr(e.from, *quote, edit_left(&e));
	edit_hide(&e, end ? (size_t)(end - e.from) : edit_left(&e));
	edit_keep(&e, edit_left(&e));
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
		is_name &= edit_is_name(arg[i]);
	if (!is_name || !mask_is_secret((struct span){arg, name}))
		return edit(arg, n);
	struct edit e = {.from = arg + name + 1, .end = arg + n, .to = arg + name + 1};
	edit_hide(&e, edit_left(&e));
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
	struct edit e = {.from = arg, .end = arg + n, .to = arg};
	edit_hide(&e, n);
	return (size_t)(e.to - arg);
}

static size_t pair_argument(char *arg, size_t n)
{
	struct edit e = {.from = arg, .end = arg + n, .to = arg};
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
