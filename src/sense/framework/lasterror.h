/*
 * The error that a program's output ends with: the last Python exception, or
 * another fatal message that sense/death/deathlog knows, behind which no progress
 * is printed any more. An exception that was caught and logged is followed by
 * further steps, and is none. Pure; looks at what it is given, so hand it the
 * end of a log.
 */
#pragma once

#include "base/text.h"
#include "sense/framework/progresspattern.h"

struct lasterror {
	int32_t rank; /* of the line's prefix, else of the stream; NO_RANK */
	bool follows; /* tells that something else failed: a peer was lost, a time-out, somebody ended it */
	char text[200];
};

#define LASTERROR_RANKS 65

enum {
	LASTERROR_NONE = 1,
};

/* user: how progress may look as well; may be NULL. */
int must_check lasterror_find(struct span tail, int32_t stream_rank, const struct progress_patterns *user,
			      struct lasterror *ret);
/*
 * The same of an output that several ranks write into (stream_rank NO_RANK): one for each rank that its lines name, and one
 * for those that name none. A rank's steps take back its own error only. *ret_named: some lines name a rank. scratch has
 * room for as much as the tail. How many.
 */
size_t lasterror_each(struct span tail, int32_t stream_rank, const struct progress_patterns *user, char *scratch,
		      struct lasterror *ret, size_t cap, bool *ret_named);
/* Does an exception's text say that the reason is somewhere else? Pure. */
bool lasterror_follows(const char *text);
