/*
 * Finds many fixed texts in a stream at once: by Hyperscan (or Vectorscan,
 * which has the same interface) where that library is installed, by an
 * automaton of our own where it is not. The library is loaded when it is
 * asked for, so that nothing depends on it.
 *
 * Both tell at least of every occurrence; ours may tell of some that differ in
 * case, or of the first 16 bytes of a text only. Whoever asks looks closer.
 */
#pragma once

#include "base/base.h"
#include "base/text.h"

enum literal_engine { LITERAL_BEST, LITERAL_OWN, LITERAL_HYPERSCAN };

enum {
	LITERAL_ABSENT = 1, /* the engine that was asked for is not there */
};

struct literal {
	const char *text;
	bool ignore_case; /* text is in lower case then */
};

/* end: offset of the byte behind the text. Ends do not go down. */
typedef void literal_found(void *data, uint32_t id, size_t end);

struct literalset;

/* Ids are indices of the array, which is not kept. */
int must_check literalset_new(const struct literal *l, size_t n, enum literal_engine engine, struct literalset **ret);
struct literalset *literalset_free(struct literalset *s);
int must_check literalset_scan(struct literalset *s, struct span text, literal_found *found, void *data);
/* LITERAL_OWN or LITERAL_HYPERSCAN */
enum literal_engine literalset_engine(const struct literalset *s);
