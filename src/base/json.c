#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* struct js is jansson's json_t under our name: no wrapper object is needed. */
static json_t *in(const struct js *j)
{
	union {
		const struct js *ours;
		json_t *theirs;
	} u = {.ours = j};
	return u.theirs;
}

static struct js *out(json_t *j)
{
	return (struct js *)j;
}

struct js *js_object(void)
{
	return out(json_object());
}

struct js *js_array(void)
{
	return out(json_array());
}

void js_free(struct js *j)
{
	json_decref(in(j));
}

struct js *js_copy(const struct js *j)
{
	return out(json_deep_copy(in(j)));
}

void js_put(struct js *obj, const char *key, struct js *value)
{
	(void)json_object_set_new(in(obj), key, in(value));
}

/* Jansson refuses text that is not UTF-8; foreign bytes are therefore replaced. A name that is missing is no crash. */
static json_t *string_of(const char *text)
{
	json_t *s = json_string(text ? text : "");
	if (s)
		return s;
	size_t len = strlen(text);
	char *copy = malloc(len + 1);
	if (!copy)
		return NULL;
	for (size_t i = 0; i <= len; i++)
		copy[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
	s = json_string(copy);
	free(copy);
	return s;
}

void js_put_text(struct js *obj, const char *key, const char *text)
{
	js_put(obj, key, out(string_of(text)));
}

void js_put_text_if(struct js *obj, const char *key, const char *text)
{
	if (text && *text)
		js_put_text(obj, key, text);
}

void js_put_u64(struct js *obj, const char *key, uint64_t v)
{
	js_put(obj, key, out(json_integer((json_int_t)MIN(v, (uint64_t)INT64_MAX))));
}

void js_put_i64(struct js *obj, const char *key, int64_t v)
{
	js_put(obj, key, out(json_integer(v)));
}

void js_put_double(struct js *obj, const char *key, double v)
{
	js_put(obj, key, out(isfinite(v) ? json_real(v) : json_null()));
}

void js_put_bool(struct js *obj, const char *key, bool v)
{
	js_put(obj, key, out(json_boolean(v)));
}

void js_add(struct js *arr, struct js *value)
{
	(void)json_array_append_new(in(arr), in(value));
}

void js_add_text(struct js *arr, const char *text)
{
	js_add(arr, out(string_of(text)));
}

void js_add_i64(struct js *arr, int64_t v)
{
	js_add(arr, out(json_integer(v)));
}

void js_add_double(struct js *arr, double v)
{
	js_add(arr, out(json_real(v)));
}

#define DUMP_FLAGS (JSON_REAL_PRECISION(12))

char *js_text(const struct js *j, int indent)
{
	return json_dumps(in(j), DUMP_FLAGS | JSON_INDENT(indent));
}

int js_write(const struct js *j, FILE *to, int indent)
{
	if (json_dumpf(in(j), to, DUMP_FLAGS | JSON_INDENT(indent)) < 0 || fputc('\n', to) == EOF)
		return -EIO;
	return 0;
}

int js_parse(const char *text, size_t len, struct js **ret, struct fault *f)
{
	json_error_t e;
	json_t *j = json_loadb(text, len, 0, &e);
	if (!j) {
		if (f) {
			f->line = e.line > 0 ? (uint32_t)e.line : 0;
			f->column = e.column > 0 ? (uint32_t)e.column : 0;
		}
		return fault_set(f, -EBADMSG, "not valid JSON: %s", e.text);
	}
	*ret = out(j);
	return 0;
}

const struct js *js_get(const struct js *obj, const char *key)
{
	return out(json_object_get(in(obj), key));
}

int js_each(const struct js *obj, int (*fn)(void *ctx, const char *key, const struct js *value), void *ctx)
{
	const char *key;
	json_t *value;
	json_object_foreach(in(obj), key, value)
	{
		int r = fn(ctx, key, out(value));
		if (r)
			return r;
	}
	return 0;
}

static void texts_change(json_t *j, void (*fn)(char *text))
{
	const char *key;
	json_t *value;
	size_t i;
	if (json_is_string(j)) {
		char *copy = strdup(json_string_value(j));
		if (!copy)
			return;
		fn(copy);
		if (strcmp(copy, json_string_value(j)) != 0)
			(void)json_string_set(j, copy);
		free(copy);
	}
	json_object_foreach(j, key, value)
	{
		texts_change(value, fn);
	}
	json_array_foreach(j, i, value)
	{
		texts_change(value, fn);
	}
}

void js_change_texts(struct js *j, void (*fn)(char *text))
{
	texts_change(in(j), fn);
}

const char *js_as_text(const struct js *j, const char *fallback)
{
	const char *s = json_string_value(in(j));
	return s ? s : fallback;
}

int64_t js_as_i64(const struct js *j, int64_t fallback)
{
	return json_is_integer(in(j)) ? json_integer_value(in(j)) : fallback;
}

const char *js_get_text(const struct js *obj, const char *key, const char *fallback)
{
	return js_as_text(js_get(obj, key), fallback);
}

int64_t js_get_i64(const struct js *obj, const char *key, int64_t fallback)
{
	return js_as_i64(js_get(obj, key), fallback);
}

double js_get_double(const struct js *obj, const char *key, double fallback)
{
	json_t *v = json_object_get(in(obj), key);
	return json_is_number(v) ? json_number_value(v) : fallback;
}

bool js_get_bool(const struct js *obj, const char *key, bool fallback)
{
	json_t *v = json_object_get(in(obj), key);
	return json_is_boolean(v) ? json_boolean_value(v) : fallback;
}

size_t js_len(const struct js *arr)
{
	return json_array_size(in(arr));
}

const struct js *js_at(const struct js *arr, size_t i)
{
	return out(json_array_get(in(arr), i));
}

bool js_as_bool(const struct js *j, bool fallback)
{
	return json_is_boolean(in(j)) ? json_boolean_value(in(j)) : fallback;
}
