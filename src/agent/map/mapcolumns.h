/*
 * Parts inputs into columns (--colsep), as GNU parallel does: at each match of a regular expression, and blanks at both
 * ends of a column do not count. Expressions are those of sense/rules/pattern, with \t, \n, \r and \f besides.
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"
#include "base/text.h"
#include "sense/rules/pattern.h"

struct mapcolumns {
	struct pattern pattern;
};

/* -EINVAL with a sentence, -ENOMEM. After an error no mapcolumns_done is needed. */
int must_check mapcolumns_init(struct mapcolumns *c, const char *expression, struct fault *f);
void mapcolumns_done(struct mapcolumns *c);
/* Takes the next column off the input; false: there is none. An input has one at least. */
bool mapcolumns_next(const struct mapcolumns *c, struct span *rest, struct span *ret);
