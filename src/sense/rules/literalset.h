/*
 * Searches a text for many fixed texts at once: with Hyperscan (or Vectorscan, which has the same interface) if that
 * library is installed, otherwise with an automaton of our own. The library is loaded at run time, so that vigil does
 * not depend on it.
 *
 * Both engines report every occurrence. The own engine may also report texts that differ in case, or of which only the
 * first 16 bytes match, so the caller must check each report.
 */
#pragma once

#include "base/base.h"
#include "base/text.h"
#include "sense/rules/literal.h"

enum literal_engine { LITERAL_BEST, LITERAL_OWN, LITERAL_HYPERSCAN };

struct literalset;

/* The id of a literal is its index in l. l is not kept. LITERAL_ABSENT, -ENOMEM, -E2BIG. */
int must_check literalset_new(const struct literal *l, size_t n, enum literal_engine engine, struct literalset **ret);
struct literalset *literalset_free(struct literalset *s);
int must_check literalset_scan(struct literalset *s, struct span text, literal_found *found, void *data);
