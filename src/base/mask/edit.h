/*
 * A text that becomes shorter in place: what has been looked at is kept or hidden, and the next is looked at. All
 * lengths and distances are in bytes from where the look is. Pure, without allocation.
 */
#pragma once

#include "base/base.h"

/* What ends a value without quotes. */
#define BARE_STOPS ",;)]}\"'&"

struct maskname_option;

/* A text that becomes shorter: what has been looked at is written back to its beginning. */
struct edit {
	const char *from, *end;
	char *to;
	const struct maskname_option *option; /* of the program that this line of a shell begins with; NULL: none */
	bool named; /* "name": "DB_PASSWORD" came before, its "value" follows */
};

void edit_keep(struct edit *e, size_t n);
void edit_hide(struct edit *e, size_t n); /* three stars at most, and no more than n */
size_t edit_left(const struct edit *e);
char edit_char(const struct edit *e, size_t at); /* NUL behind the end */
/* How long the code of a terminal is ("ESC[31m") that is at this distance; 0: there is none. */
size_t edit_colour(const struct edit *e, size_t at);
/* Where what begins at this distance ends: the first blank or one of stops, the first that is no space, no quote. */
size_t edit_run(const struct edit *e, size_t at, const char *stops);
size_t edit_blanks(const struct edit *e, size_t at);
size_t edit_quotes(const struct edit *e, size_t at);
size_t edit_name(const struct edit *e, size_t at); /* how long the name there is */
/*
 * How long it is to the closing quote, before which there is a backslash if there was one before the opening quote, or
 * to the bracket that closes the one before. Where it is missing, to the end of the line, or of what was looked at.
 */
size_t edit_quoted(const struct edit *e, char quote, bool escaped);
size_t edit_bracketed(const struct edit *e);

bool edit_is_blank(char c);
bool edit_is_word(char c); /* a letter or a digit */
bool edit_is_name(char c); /* or one of _-. */
bool edit_is_of(char c, const char *list);
