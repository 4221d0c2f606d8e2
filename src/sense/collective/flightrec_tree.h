/*
 * A value of a Flight Recorder dump in whichever of its two forms: a pickle's
 * or a JSON one. An absent value has neither; every look into one is absent.
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
/* Numbers that stand in texts are numbers too: JSON has the status of groups so. */
bool frtree_i64(struct frtree t, int64_t *ret);
/* A bool, or a number that is not 0. */
bool frtree_true(struct frtree t);
bool frtree_text(struct frtree t, struct span *ret);
typedef int frtree_fn(void *ctx, struct span key, struct frtree value);
/* Each pair of a dict with a text or a number as its key. */
int frtree_each(struct frtree dict, frtree_fn *fn, void *ctx);
