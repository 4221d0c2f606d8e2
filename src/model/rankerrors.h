/*
 * Errors that ended some ranks' output while the job lives: the others wait
 * for them. What only follows from a loss elsewhere does not count, and
 * neither does an error that most ranks have. Pure.
 */
#pragma once

#include "sense/facts.h" /* NO_RANK */

#define RANKERRORS_MAX 256

struct rankerror {
	int32_t rank;
	bool follows; /* of a loss elsewhere */
	bool exited; /* its process ended, not with 0 */
	char text[200];
};

struct rankerrors {
	struct rankerror of[RANKERRORS_MAX];
	size_t n;
};

/* The rank's latest error takes the place of an earlier one; text "": it has none. */
void rankerrors_set(struct rankerrors *e, int32_t rank, bool follows, bool exited, const char *text);
/*
 * "rank_error 1 ranks=3: RuntimeError: …" for the cause book's source counter.
 * n_ranks: how many the job has here. "" when there is no such error, or when
 * more than half of several ranks have one.
 */
void rankerrors_line(const struct rankerrors *e, size_t n_ranks, char *dst, size_t cap);
