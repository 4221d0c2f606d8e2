/*
 * A value of a Flight Recorder dump in either form, pickle or JSON. An absent value has neither, and all values
 * inside an absent value are absent. Values are borrowed from the parsed file.
 */
#pragma once

#include "base/json.h"
#include "sense/format/pickle.h"

struct frtree {
	const struct pickle_value *pickle;
	const struct js *json;
};

static inline bool frtree_is(struct frtree t)
{
	return t.pickle || t.json;
}
struct frtree frtree_get(struct frtree t, const char *key);
size_t frtree_len(struct frtree t);
struct frtree frtree_at(struct frtree t, size_t i);
/* Also parses a number that is written as a text, as JSON dumps do in the status of groups. */
bool frtree_i64(struct frtree t, int64_t *ret);
/* A bool, or a number that is not 0. */
bool frtree_true(struct frtree t);
bool frtree_text(struct frtree t, struct span *ret);
typedef int frtree_fn(void *ctx, struct span key, struct frtree value);
/* Calls fn for each pair of a dict whose key is a text or a number, until fn returns non-zero; returns that. */
int frtree_each(struct frtree dict, frtree_fn *fn, void *ctx);
