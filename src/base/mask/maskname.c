#include "base/mask/maskname.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/mask/edit.h"
#include "base/mask/mask.h"

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

bool maskname_is_among(struct span word, const char *const *list, size_t n)
{
	const int first = word.len > 0 ? tolower((unsigned char)*word.p) : 0;
	for (size_t i = 0; i < n; i++)
		if (tolower((unsigned char)*list[i]) == first && strlen(list[i]) == word.len &&
		    strncasecmp(word.p, list[i], word.len) == 0)
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

/* Takes the next part off a name: parts are divided by what is no letter or digit, and by "aB". */
static bool part_take(struct span *rest, struct span *ret)
{
	while (rest->len > 0 && !edit_is_word(*rest->p)) {
		rest->p++;
		rest->len--;
	}
	size_t n = 0;
	while (n < rest->len && edit_is_word(rest->p[n]) &&
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
	if (maskname_is_among(last, pwd, 1)) /* PWD alone is a folder mostly */
		return parts > 1 ? SECRET : SECRET_UNLESS_PATH;
	if (maskname_is_among(last, auth, 1))
		return SECRET_IF_PAIR;
	if (maskname_is_among(last, pass, 2) && parts > 1)
		return maskname_is_among(before, pass_words, ARRAY_SIZE(pass_words)) ? SECRET : PLAIN;
	if (maskname_is_among(last, keys, 1) && parts > 1)
		return maskname_is_among(before, keys_words, ARRAY_SIZE(keys_words)) ? SECRET_BY_USE : PLAIN;
	if (maskname_is_among(last, pass, 2) || (parts == 1 && maskname_is_among(last, token, 1)))
		return SECRET_BY_USE;
	const bool may_be = maskname_is_among(last, token, 1) || (maskname_is_among(last, key, 1) && parts > 1);
	return may_be && !maskname_is_among(before, plain_words, ARRAY_SIZE(plain_words)) ? SECRET_BY_USE : PLAIN;
}

/* Without digits at its end: "token_1", "password2". */
static struct span without_number(struct span part)
{
	while (part.len > 0 && isdigit((unsigned char)part.p[part.len - 1]))
		part.len--;
	return part;
}

enum secrecy maskname_secrecy(struct span name, size_t *ret_parts)
{
	struct span rest = name, part, last = {NULL, 0}, before = {NULL, 0};
	bool secret = false, about = false;
	*ret_parts = 0;
	while (part_take(&rest, &part)) {
		const struct span word = without_number(part);
		secret |= maskname_is_among(word, secret_words, ARRAY_SIZE(secret_words));
		if (*ret_parts > 0 && (word.len == 0 || maskname_is_among(word, which_words, ARRAY_SIZE(which_words))))
			continue;
		about = maskname_is_among(word, about_words, ARRAY_SIZE(about_words));
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

bool maskname_is_query_secret(struct span name)
{
	static const char *const words[] = {"sig", "signature", "key", "code", "auth", "sid", "session"};
	struct span part, last = {NULL, 0};
	while (part_take(&name, &part))
		last = part;
	return maskname_is_among(last, words, ARRAY_SIZE(words));
}

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

const struct maskname_option *maskname_option_of(struct span program)
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
