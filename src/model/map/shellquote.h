/*
 * Where a place of a shell's script stands: outside of quotes, or inside of which. Of nested ones ("$(echo "…")") the
 * innermost is not known, so what is put there must be harmless wherever it stands: template.c puts the names of
 * variables there, never a value.
 *
 * Source: POSIX.1-2017, Shell Command Language, 2.2 Quoting. Pure.
 */
#pragma once

#include "base/text.h"

enum shell_quote { SHELL_BARE, SHELL_SINGLE, SHELL_DOUBLE };

/* Zeroed at the beginning of a script. */
struct shell_scan {
	enum shell_quote in;
	bool escaped; /* the next character */
	bool comment;
	bool inside_word;
};

/* Goes on over the next piece of the script. */
void shell_scan(struct shell_scan *s, struct span text);
/*
 * True if s has quotes, or may begin a comment (#), a document (<<) or arithmetic ((, so that what follows may be
 * read otherwise than as a bare word. A comment ends with an input's first newline; in arithmetic quotes do not quote.
 */
bool shell_has_quotes(struct span s);
