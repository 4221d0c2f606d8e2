/*
 * The error that a program's output ends with: the last Python exception, or another fatal message that
 * sense/death/deathlog knows, after which no more progress is printed. An exception followed by further steps was
 * caught and is not reported. Pure; reads the whole text given, which should be the end of a log.
 */
#pragma once

#include "base/text.h"
#include "sense/framework/progresspattern.h"

struct lasterror {
	int32_t rank; /* from the prefix of the line, else that of the stream; NO_RANK */
	bool follows; /* the text says that the cause is elsewhere: a lost peer, a time-out, a signal */
	char text[200];
};

#define LASTERROR_RANKS 65

enum {
	LASTERROR_NONE = 1,
};

/* user: further patterns of progress lines; may be NULL. */
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
