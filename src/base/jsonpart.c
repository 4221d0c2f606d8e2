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

/* Up to behind the list, or behind so many values of it, and the bracket is yours to add (*ret_cut). */
static bool list_pass(struct rest *r, size_t most, bool *ret_cut)
{
	r->p++; /* the bracket that opens it */
	for (size_t n = 0; value_pass(r); r->p++) {
		if (*r->p == ']' || ++n == most) {
			*ret_cut = *r->p == ',';
			r->p += !*ret_cut;
			return true;
		}
		if (*r->p != ',')
			return false;
	}
	return false;
}

/* A key with an escape may be any. NULL: it is not asked for. */
static const struct jsonpart *jsonpart_part_of(const char *key, size_t len, const struct jsonpart *parts, size_t n)
{
	static const struct jsonpart any = {.most = 0};
	if (memchr(key, '\\', len))
		return &any;
	for (size_t i = 0; i < n; i++)
		if (strlen(parts[i].key) == len && memcmp(parts[i].key, key, len) == 0)
			return &parts[i];
	return NULL;
}

/* From the quote of a key to behind its colon; *ret: what is asked of the member, NULL: nothing. */
static bool key_pass(struct rest *r, const struct jsonpart *parts, size_t n, const struct jsonpart **ret)
{
	const char *key = r->p + 1;
	if (!sign_pass(r, '"') || !string_pass(r))
		return false;
	*ret = jsonpart_part_of(key, (size_t)(r->p - key) - 1, parts, n);
	bool colon = sign_pass(r, ':');
	blanks_pass(r);
	return colon;
}

/* Copies one member, if it is asked for; its length, 0 if not. False: it is none. */
static bool member_copy(struct rest *r, const struct jsonpart *parts, size_t n, char *dst, size_t *ret)
{
	const struct jsonpart *part;
	const char *from = r->p;
	struct rest list;
	bool cut = false;
	*ret = 0;
	if (!key_pass(r, parts, n, &part))
		return false;
	list = *r;
	if (!value_pass(r))
		return false;
	if (!part)
		return true;
	const char *end = r->p;
	if (part->most > 0 && *list.p == '[' && list_pass(&list, part->most, &cut) && cut)
		end = list.p;
	*ret = (size_t)(end - from);
	memcpy(dst, from, *ret);
	if (cut)
		dst[(*ret)++] = ']';
	return true;
}

/* The members that are wanted, as an object not longer than the text; its length, 0: the text is no object. */
static size_t members_copy(struct rest *r, const struct jsonpart *parts, size_t n, char *dst)
{
	size_t used = 0, len = 0;
	if (!sign_pass(r, '{'))
		return 0;
	dst[used++] = '{';
	bool empty = sign_pass(r, '}');
	for (bool more = !empty; more; more = sign_pass(r, ',')) {
		blanks_pass(r);
		if (!member_copy(r, parts, n, dst + used + (used > 1), &len))
			return 0;
		if (len > 0 && used > 1)
			dst[used++] = ',';
		used += len;
	}
	bool closed = empty || sign_pass(r, '}');
	blanks_pass(r);
	dst[used++] = '}';
	return closed && r->p == r->end ? used : 0;
}

int jsonpart_parse(const char *text, size_t len, const struct jsonpart *parts, size_t n, struct js **ret)
{
	struct rest r = {text, text + len};
	cleanup(freep) char *part = malloc(len + 1);
	if (!part)
		return -ENOMEM;
	size_t used = members_copy(&r, parts, n, part);
	return used > 0 ? js_parse(part, used, ret, NULL) : -EBADMSG;
}
