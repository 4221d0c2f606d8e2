#include <string.h>

#include "sense/format/pickle_parts.h"

size_t pickle_len(const struct pickle_value *v)
{
	if (!v)
		return 0;
	switch (v->kind) {
	case PICKLE_LIST:
	case PICKLE_TUPLE:
	case PICKLE_SET:
		return v->node->n;
	case PICKLE_DICT:
		return v->node->n / 2;
	default:
		return 0;
	}
}

const struct pickle_value *pickle_at(const struct pickle_value *v, size_t i)
{
	if (i >= pickle_len(v))
		return NULL;
	return &v->node->items[v->kind == PICKLE_DICT ? 2 * i + 1 : i];
}

const struct pickle_value *pickle_key_at(const struct pickle_value *dict, size_t i)
{
	return dict && dict->kind == PICKLE_DICT && i < pickle_len(dict) ? &dict->node->items[2 * i] : NULL;
}

const struct pickle_value *pickle_get(const struct pickle_value *dict, const char *key)
{
	size_t len = strlen(key);
	if (!dict || dict->kind != PICKLE_DICT)
		return NULL;
	for (size_t i = pickle_len(dict); i-- > 0;) {
		const struct pickle_value *k = &dict->node->items[2 * i];
		if (k->kind == PICKLE_TEXT && k->len == len && memcmp(k->text, key, len) == 0)
			return k + 1;
	}
	return NULL;
}

struct span pickle_class(const struct pickle_value *v)
{
	struct span name = SPAN("");
	if (v && v->kind == PICKLE_OPAQUE)
		ignore(pickle_text(&v->node->items[OPAQUE_NAME], &name), "an opaque value has its name");
	return name;
}

const struct pickle_value *pickle_args(const struct pickle_value *v)
{
	return v && v->kind == PICKLE_OPAQUE ? &v->node->items[OPAQUE_ARGS] : NULL;
}

bool pickle_i64(const struct pickle_value *v, int64_t *ret)
{
	if (!v || (v->kind != PICKLE_INT && v->kind != PICKLE_BOOL))
		return false;
	*ret = v->kind == PICKLE_BOOL ? v->truth : v->integer;
	return true;
}

bool pickle_u64(const struct pickle_value *v, uint64_t *ret)
{
	int64_t n;
	if (v && v->kind == PICKLE_BYTES && v->len == 9 && v->text[8] == 0) {
		/* 2^63 and above take a ninth byte for the sign: addresses do */
		uint64_t sum = 0;
		for (unsigned i = 0; i < 8; i++)
			sum |= (uint64_t)(unsigned char)v->text[i] << (8 * i);
		*ret = sum;
		return true;
	}
	if (!pickle_i64(v, &n) || n < 0)
		return false;
	*ret = (uint64_t)n;
	return true;
}

bool pickle_double(const struct pickle_value *v, double *ret)
{
	int64_t n;
	if (v && v->kind == PICKLE_FLOAT)
		*ret = v->real;
	else if (pickle_i64(v, &n))
		*ret = (double)n;
	else
		return false;
	return true;
}

bool pickle_text(const struct pickle_value *v, struct span *ret)
{
	if (!v || v->kind != PICKLE_TEXT)
		return false;
	*ret = (struct span){v->text, v->len};
	return true;
}
