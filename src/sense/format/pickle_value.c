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

bool pickle_i64(const struct pickle_value *v, int64_t *ret)
{
	if (!v || (v->kind != PICKLE_INT && v->kind != PICKLE_BOOL))
		return false;
	*ret = v->kind == PICKLE_BOOL ? v->truth : v->integer;
	return true;
}

bool pickle_text(const struct pickle_value *v, struct span *ret)
{
	if (!v || v->kind != PICKLE_TEXT)
		return false;
	*ret = (struct span){v->text, v->len};
	return true;
}
