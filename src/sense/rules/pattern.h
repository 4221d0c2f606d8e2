/*
 * Regular expressions in rules and settings: POSIX extended, with \d \s \S \w \W \b, and "(?i)" at the beginning for
 * any case. Three kinds of constructs are refused: those that make the time of matching depend on hostile text (back
 * references), those that make the memory of a pattern large (counted repeats of a group), and those that have another
 * meaning in other dialects (lazy quantifiers, look-around). Format: docs/formats/rules.md.
 *
 * A pattern that is searched for in gigabytes of text needs a literal: a fixed text that every match contains. Pure.
 */
#pragma once

#include <regex.h>

#include "base/base.h"
#include "base/text.h"

#define PATTERN_TEXT 320
#define PATTERN_LITERAL 48
#define PATTERN_GROUPS 8

struct pattern {
	char text[PATTERN_TEXT];
	char literal[PATTERN_LITERAL]; /* "": none; lower case if the pattern ignores case */
	bool ignore_case;
	bool plain; /* the pattern is just its literal */
	bool from_literal; /* every match begins with the literal */
	bool compiled;
	regex_t re;
};

/* -EINVAL: why says what is wrong, *ret_at is its offset in text. -ENOMEM. After an error no pattern_done is needed. */
int must_check pattern_init(struct pattern *p, struct span text, char why[static 160], size_t *ret_at);
void pattern_done(struct pattern *p);
/*
 * True if the pattern matches somewhere in text. ret_groups may be NULL; else [0] is the whole match and [n] is the
 * text of the n-th parentheses, with p NULL if they took no part in the match.
 */
bool pattern_match(const struct pattern *p, struct span text, struct span ret_groups[PATTERN_GROUPS]);
