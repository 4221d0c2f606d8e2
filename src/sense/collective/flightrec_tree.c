#include "sense/collective/flightrec_tree.h"

#include <string.h>

#include "base/buf.h"

struct frtree frtree_get(struct frtree t, const char *key)
{
	return (struct frtree){.pickle = t.pickle ? pickle_get(t.pickle, key) : NULL,
			       .json = t.json ? js_get(t.json, key) : NULL};
}

size_t frtree_len(struct frtree t)
{
	return t.json ? js_len(t.json) : pickle_len(t.pickle);
}

struct frtree frtree_at(struct frtree t, size_t i)
{
	return (struct frtree){.pickle = t.pickle ? pickle_at(t.pickle, i) : NULL,
			       .json = t.json ? js_at(t.json, i) : NULL};
}

bool frtree_i64(struct frtree t, int64_t *ret)
{
	struct span text;
	if (t.pickle && pickle_i64(t.pickle, ret))
		return true;
	if (frtree_text(t, &text))
		return span_i64(text, ret) == 0;
	if (!t.json)
		return false;
	int64_t one = js_as_i64(t.json, INT64_MIN);
	if (one == INT64_MIN)
		return false;
	*ret = one;
	return true;
}

bool frtree_true(struct frtree t)
{
	int64_t n = 0;
	struct span text;
	if (frtree_i64(t, &n))
		return n != 0;
	if (frtree_text(t, &text))
		return span_eq(text, "true") || span_eq(text, "True");
	return t.json && js_as_bool(t.json, false);
}

bool frtree_text(struct frtree t, struct span *ret)
{
	if (t.pickle)
		return pickle_text(t.pickle, ret);
	const char *text = t.json ? js_as_text(t.json, NULL) : NULL;
	if (!text)
		return false;
	*ret = span_of(text);
	return true;
}

struct each {
	frtree_fn *fn;
	void *ctx;
};

static int each_json(void *ctx, const char *key, const struct js *value)
{
	struct each *e = ctx;
	return e->fn(e->ctx, span_of(key), (struct frtree){.json = value});
}

int frtree_each(struct frtree dict, frtree_fn *fn, void *ctx)
{
	struct each e = {fn, ctx};
	if (dict.json)
		return js_each(dict.json, each_json, &e);
	for (size_t i = 0; i < pickle_len(dict.pickle); i++) {
		const struct pickle_value *key = pickle_key_at(dict.pickle, i);
		char number[32] = "";
		struct span text = span_of(number);
		int64_t n;
		if (pickle_i64(key, &n)) {
			TEXT_FORMAT(number, "%lld", (long long)n);
			text = span_of(number);
		} else if (!pickle_text(key, &text)) {
			continue;
		}
		int r = fn(ctx, text, (struct frtree){.pickle = pickle_at(dict.pickle, i)});
		if (r)
			return r;
	}
	return 0;
}
