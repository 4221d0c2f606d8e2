/*
 * JSON values, read and written. The only user of jansson.
 *
 * A struct js is owned by whoever made it until it is put into another (js_put, js_add: ownership moves, also on
 * failure). Out of memory while building is remembered and reported once, by js_text/js_write, so that builders need no
 * check at every field. In text that is not UTF-8, each foreign byte is replaced by '?'.
 */
#pragma once

#include <stdio.h>

#include "base/base.h"
#include "base/fault.h"

struct js;

struct js *js_object(void);
struct js *js_array(void);
void js_free(struct js *j);
static inline void js_freep(struct js **j)
{
	js_free(*j);
}

/* A value of its own, with all below it; owned by the caller. */
struct js *js_copy(const struct js *j);

void js_put(struct js *obj, const char *key, struct js *value);
void js_put_text(struct js *obj, const char *key, const char *text);
/* Leaves the key out when text is empty: a value that does not apply is absent. */
void js_put_text_if(struct js *obj, const char *key, const char *text);
void js_put_u64(struct js *obj, const char *key, uint64_t v);
void js_put_i64(struct js *obj, const char *key, int64_t v);
void js_put_double(struct js *obj, const char *key, double v);
void js_put_bool(struct js *obj, const char *key, bool v);
void js_add(struct js *arr, struct js *value);
void js_add_text(struct js *arr, const char *text);
void js_add_i64(struct js *arr, int64_t v);
void js_add_double(struct js *arr, double v);

/* malloc'ed text; indent 0 gives one line. NULL on lack of memory. */
char *js_text(const struct js *j, int indent);
int must_check js_write(const struct js *j, FILE *to, int indent);

int must_check js_parse(const char *text, size_t len, struct js **ret, struct fault *f);
/* Borrowed values inside j; NULL, or the given fallback, when absent or of another type. */
const struct js *js_get(const struct js *obj, const char *key);
const char *js_get_text(const struct js *obj, const char *key, const char *fallback);
int64_t js_get_i64(const struct js *obj, const char *key, int64_t fallback);
double js_get_double(const struct js *obj, const char *key, double fallback);
bool js_get_bool(const struct js *obj, const char *key, bool fallback);
size_t js_len(const struct js *arr);
const struct js *js_at(const struct js *arr, size_t i);
/* Each key of an object with its value, in their order; ends early when fn gives non-zero, which is returned. */
int js_each(const struct js *obj, int (*fn)(void *ctx, const char *key, const struct js *value), void *ctx);
/*
 * Has fn change each text below j, in place and never longer: in objects and arrays of any depth, not the keys. Out of
 * memory: the text stays as it was.
 */
void js_change_texts(struct js *j, void (*fn)(char *text));
const char *js_as_text(const struct js *j, const char *fallback);
int64_t js_as_i64(const struct js *j, int64_t fallback);
bool js_as_bool(const struct js *j, bool fallback);
