/*
 * Some members of a JSON object, without a tree of the others: reports are long, and lists need a few lines of each.
 *
 * What js_parse takes gives the same values here. What it would refuse may be taken, as far as the fault stands in a
 * member that is not asked for.
 */
#pragma once

#include "base/json.h"

struct jsonpart {
	const char *key;
	size_t most; /* of a list so many of its first values; 0: all */
};

/* *ret: an object with those of the n members that are there, owned by the caller. -EBADMSG: it is no such object. */
int must_check jsonpart_parse(const char *text, size_t len, const struct jsonpart *parts, size_t n, struct js **ret);
