#include "base/jsonpart.h"

#include <string.h>

/* What is left of the text. */
struct rest {
	const char *p, *end;
};

static void blanks_pass(struct rest *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
		r->p++;
}

/* Passes one character behind blanks; false: something else stands there. */
static bool sign_pass(struct rest *r, char sign)
{
	blanks_pass(r);
	if (r->p == r->end || *r->p != sign)
		return false;
	r->p++;
	return true;
}

/* From behind the opening quote to behind the closing one. */
static bool string_pass(struct rest *r)
{
	for (; r->p < r->end; r->p++) {
		if (*r->p == '"') {
			r->p++;
			return true;
		}
		if (*r->p == '\\' && ++r->p == r->end)
			return false;
	}
	return false;
}

/* To what follows the value: a comma or a bracket, as far as it is one. */
static bool value_pass(struct rest *r)
{
	size_t depth = 0;
	while (r->p < r->end) {
		char c = *r->p;
		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			return true;
		r->p++;
		if (c == '"' && !string_pass(r))
			return false;
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
	}
	return false;
}

/* A key with an escape may be any. */
static bool is_wanted(const char *key, size_t len, const char *const *keys, size_t n)
{
	if (memchr(key, '\\', len))
		return true;
	for (size_t i = 0; i < n; i++)
		if (strlen(keys[i]) == len && memcmp(keys[i], key, len) == 0)
			return true;
	return false;
}

/* One member, from its key to behind its value; *ret_wanted: it is asked for. */
static bool member_pass(struct rest *r, const char *const *keys, size_t n, bool *ret_wanted)
{
	const char *key = r->p + 1;
	if (!sign_pass(r, '"') || !string_pass(r))
		return false;
	*ret_wanted = is_wanted(key, (size_t)(r->p - key) - 1, keys, n);
	return sign_pass(r, ':') && value_pass(r);
}

/* The members that are wanted as an object of their own, not longer than the text; its length, 0: the text is no object. */
static size_t members_copy(struct rest *r, const char *const *keys, size_t n, char *dst)
{
	size_t used = 0;
	if (!sign_pass(r, '{'))
		return 0;
	dst[used++] = '{';
	bool empty = sign_pass(r, '}');
	for (bool more = !empty; more; more = sign_pass(r, ',')) {
		blanks_pass(r);
		const char *from = r->p;
		bool wanted;
		if (!member_pass(r, keys, n, &wanted))
			return 0;
		if (!wanted)
			continue;
		if (used > 1)
			dst[used++] = ',';
		memcpy(dst + used, from, (size_t)(r->p - from));
		used += (size_t)(r->p - from);
	}
	bool closed = empty || sign_pass(r, '}');
	blanks_pass(r);
	dst[used++] = '}';
	return closed && r->p == r->end ? used : 0;
}

int jsonpart_parse(const char *text, size_t len, const char *const *keys, size_t n, struct js **ret)
{
	struct rest r = {text, text + len};
	cleanup(freep) char *part = malloc(len + 1);
	if (!part)
		return -ENOMEM;
	size_t used = members_copy(&r, keys, n, part);
	return used > 0 ? js_parse(part, used, ret, NULL) : -EBADMSG;
}
