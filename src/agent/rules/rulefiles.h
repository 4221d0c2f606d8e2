/*
 * The cause book as it is in use: the rules that came with vigil, then those
 * of the user, which may replace them by name.
 */
#pragma once

#include "base/fault.h"
#include "sense/rules/rule.h"
#include "sense/world.h"

/* One file. Its faults name line and column. */
int must_check rulefiles_add(struct rulebook *b, const char *path, struct fault *f);
/* Several with ',' between; NULL: none. */
int must_check rulefiles_add_list(struct rulebook *b, const char *list, struct fault *f);
/* All that a job would use, read and thrown away: the user hears of mistakes before the job begins. */
int must_check rulefiles_try(const struct world *w, const char *list, struct fault *f);
/* Vigil's own; -ENOENT with a sentence where they were looked for. */
/* Are they there at all? -ENOENT with the sentence that rulefiles_own would say. */
int must_check rulefiles_there(const struct world *w, struct fault *f);
int must_check rulefiles_own(const struct world *w, struct rulebook *b, struct fault *f);
