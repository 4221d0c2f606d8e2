/*
 * Errors that ended some ranks' output while the job lives: the others wait
 * for them. What only follows from a loss elsewhere does not count, and
 * neither does an error that most ranks have. Of errors whose time is known
 * the first is the root: those behind it may be its work. Pure.
 */
#pragma once

#include "sense/death/facts.h" /* struct rank_error */

#define RANKERRORS_MAX 256

struct rankerror {
	int32_t rank;
	bool follows; /* of a loss elsewhere */
	bool exited; /* its process ended, not with 0 */
	int64_t time_unix_ms; /* 0 unknown */
	char text[200];
};

struct rankerrors {
	struct rankerror of[RANKERRORS_MAX];
	size_t n;
};

/* The rank's latest error takes the place of an earlier one; text "": it has none. */
void rankerrors_set(struct rankerrors *e, const struct rankerror *one);
/*
 * "rank_error 1 ranks=3: RuntimeError: …" for the cause book's source counter.
 * n_ranks: how many the job has here. "" when there is no such error, or when
 * more than half of several ranks have one.
 */
void rankerrors_line(const struct rankerrors *e, size_t n_ranks, char *dst, size_t cap);

/* The one that failed first of those whose words do not say that another did; NULL: n is 0. */
const struct rank_error *rank_error_root(const struct rank_error *e, size_t n);
/* "RuntimeError: boom, at /srv/train.py:40 (step)" */
void rank_error_text(const struct rank_error *e, char *dst, size_t cap);
