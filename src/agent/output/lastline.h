/*
 * The last line of a stream of output that was not empty, and the line that has just begun. Lines end at '\n' or '\r'
 * (progress bars); of each the first LASTLINE_MAX bytes are kept. The cost is that of the last line, not of the stream.
 */
#pragma once

#include "base/base.h"

#define LASTLINE_MAX 256

struct lastline {
	char last[LASTLINE_MAX]; /* the last line that has ended and was not empty */
	size_t last_len;
	char line[LASTLINE_MAX]; /* the one that has begun */
	size_t line_len;
};

void lastline_add(struct lastline *l, const char *p, size_t n);
/* Hash of the line that has begun, or else of the last one; false when nothing was printed. */
bool lastline_hash(const struct lastline *l, uint64_t *ret);
