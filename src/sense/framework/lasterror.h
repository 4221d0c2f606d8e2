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
 * The same for an output of several ranks (stream_rank NO_RANK): one error for each rank that the lines name, and one
 * for the lines without a rank. Later steps of a rank cancel its own error only. *ret_named: some lines name a rank.
 * scratch has room for the length of tail. Returns the number of errors.
 */
size_t lasterror_each(struct span tail, int32_t stream_rank, const struct progress_patterns *user, char *scratch,
		      struct lasterror *ret, size_t cap, bool *ret_named);
/* True if the text of an exception says that the cause is elsewhere. Pure. */
bool lasterror_follows(const char *text);
