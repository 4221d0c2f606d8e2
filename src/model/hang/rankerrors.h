/*
 * Errors that ended the output of some ranks while the job lives: the other ranks wait for these. An error that only
 * follows from a loss elsewhere does not count, and neither does one that more than half of the ranks have. The error
 * with the earliest known time is the root; later errors may be consequences of it. Pure.
 */
#pragma once

#include "sense/death/facts.h" /* struct rank_error */

#define RANKERRORS_MAX 256

struct rankerror {
	int32_t rank;
	bool follows; /* the error is a consequence of a loss elsewhere */
	bool exited; /* its process ended with a status other than 0 */
	int64_t time_unix_ms; /* 0: unknown */
	char text[200];
};

struct rankerrors {
	struct rankerror of[RANKERRORS_MAX];
	size_t n;
};

/* Replaces the rank's earlier error; an empty text removes it. A rank beyond 256 is left out. */
void rankerrors_set(struct rankerrors *e, const struct rankerror *one);
/*
 * "rank_error 1 ranks=3: RuntimeError: …" for the source "counter" of the rule book. n_ranks: number of the job's
 * ranks on this node. "" for fewer than 2 ranks, without an error, or if more than half of the ranks have one.
 */
void rankerrors_line(const struct rankerrors *e, size_t n_ranks, char *dst, size_t cap);

/* The earliest error, preferring those whose text does not blame another rank; NULL if n is 0. */
const struct rank_error *rank_error_root(const struct rank_error *e, size_t n);
/* "RuntimeError: boom, at /srv/train.py:40 (step)" */
void rank_error_text(const struct rank_error *e, char *dst, size_t cap);
