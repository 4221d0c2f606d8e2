/*
 * Whom a person would rather see ended when memory runs out, and whom rather not (--prefer, --avoid). A wish orders the
 * candidates and spares nobody for good: if only avoided ones are left, they are ended. Pure, no allocation.
 *
 * A pattern is a pattern (* for any text, ? for one character) for the name of a process (as ps shows it, 15
 * characters), or, with a key before it, for something else: "name:", "command:" (arguments joined by blanks),
 * "user:" (the number of a user), "rank:" (a number).
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"

enum wish { WISH_NONE, WISH_PREFER, WISH_AVOID };

#define WISHES_MAX 64 /* as many as --prefer and --avoid take together */
#define WISH_TEXT 96

struct wishes {
	struct {
		char text[WISH_TEXT];
		enum wish wish;
	} item[WISHES_MAX];
	size_t n;
};

/* What is known of a process; the guard fills it while memory is not short. */
struct wish_process {
	const char *name, *command;
	bool has_uid;
	uid_t uid;
	int32_t rank; /* NO_RANK */
};

/* What is beyond the table, or longer than a pattern may be, is left out: false. */
bool wishes_add(struct wishes *w, const char *pattern, enum wish wish);
/* Of one that is both avoided and preferred, WISH_AVOID. */
enum wish wishes_of(const struct wishes *w, const struct wish_process *p);
