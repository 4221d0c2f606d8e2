/*
 * The rule book as it is in use: the rules that came with vigil, then those
 * of the user, which may replace them by name. Errors are -errno with a
 * sentence in f.
 */
#pragma once

#include "base/fault.h"
#include "sense/rules/rule.h"
#include "sense/world.h"

/* Adds the rules of one file. f names the line and column of a mistake. */
int must_check rulefiles_add(struct rulebook *b, const char *path, struct fault *f);
/* Adds several files, their paths with ',' between, and checks the whole book; list NULL: no files. */
int must_check rulefiles_add_list(struct rulebook *b, const char *list, struct fault *f);
/* Reads all rules that a job would use and drops them, so that a mistake is reported before the job begins. */
int must_check rulefiles_try(const struct world *w, const char *list, struct fault *f);
/* -ENOENT, with the sentence of rulefiles_own, if vigil's own rules are missing. */
int must_check rulefiles_there(const struct world *w, struct fault *f);
/* Adds vigil's own rules. -ENOENT: f says where they were searched. */
int must_check rulefiles_own(const struct world *w, struct rulebook *b, struct fault *f);
