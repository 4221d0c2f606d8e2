/* What names say: whether a secret is called so, and which option of a program takes a password. Pure. */
#pragma once

#include "base/base.h"
#include "base/text.h"

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

/* How sure it is that what is called so is a secret. *ret_parts: of how many words the name is. */
enum secrecy maskname_secrecy(struct span name, size_t *ret_parts);
/* True of "sig" and others that name a secret in the query of an address only. */
bool maskname_is_query_secret(struct span name);
/* The option of this program that takes a password; static, NULL: none is known. */
const struct maskname_option *maskname_option_of(struct span program);
/* True where the word is one of the list's n, in any case of letters. */
bool maskname_is_among(struct span word, const char *const *list, size_t n);
