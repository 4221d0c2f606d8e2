/*
 * The error that a program's output ends with: the last Python exception, or
 * another fatal message that sense/deathlog knows, behind which no progress
 * is printed any more. An exception that was caught and logged is followed by
 * further steps, and is none. Pure; looks at what it is given, so hand it the
 * end of a log.
 */
#pragma once

#include "base/text.h"

struct lasterror {
	int32_t rank; /* of the line's prefix, else of the stream; NO_RANK */
	bool follows; /* tells that something else failed: a peer was lost, a time-out, somebody ended it */
	char text[200];
};

enum {
	LASTERROR_NONE = 1,
};

int must_check lasterror_find(struct span tail, int32_t stream_rank, struct lasterror *ret);
/* Does an exception's text say that the reason is somewhere else? Pure. */
bool lasterror_follows(const char *text);
