/*
 * A regular expression as rules and users write it: POSIX extended, plus \d \s
 * \w \b, plus "(?i)" in front. What would make the time of matching depend on
 * hostile text (back references) or the memory on the pattern (a repeated
 * group of counted repeats) is refused, and so is what other dialects read
 * otherwise (lazy quantifiers, look-around). Described in docs/formats/rules.md.
 *
 * Every pattern that has to be searched for in gigabytes needs a literal: a
 * piece of text that each match contains. Pure.
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
	char literal[PATTERN_LITERAL]; /* "" none; lower case when the pattern ignores case */
	bool ignore_case;
	bool plain; /* it is its literal and nothing else */
	bool from_literal; /* every match begins with the literal */
	bool compiled;
	regex_t re;
};

/*
 * -EINVAL with a sentence in why and the offset of the mistake in *ret_at;
 * -ENOMEM. A pattern that failed needs no pattern_done.
 */
int must_check pattern_init(struct pattern *p, struct span text, char why[static 160], size_t *ret_at);
void pattern_done(struct pattern *p);
/*
 * Does it match somewhere in the text? ret_groups, which may be NULL, gets
 * what the parentheses matched: [0] the whole, p NULL where a group is empty.
 */
bool pattern_match(const struct pattern *p, struct span text, struct span ret_groups[PATTERN_GROUPS]);
