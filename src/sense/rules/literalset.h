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
#include "sense/rules/literal.h"

enum literal_engine { LITERAL_BEST, LITERAL_OWN, LITERAL_HYPERSCAN };

struct literalset;

/* Ids are indices of the array, which is not kept. */
int must_check literalset_new(const struct literal *l, size_t n, enum literal_engine engine, struct literalset **ret);
struct literalset *literalset_free(struct literalset *s);
int must_check literalset_scan(struct literalset *s, struct span text, literal_found *found, void *data);
