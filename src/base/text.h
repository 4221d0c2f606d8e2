/*
 * Parsing of foreign text: kernel files, logs, arguments.
 * Everything works on (pointer, length) pairs, allocates nothing and never
 * reads past the end. Numbers that do not fit are refused, not wrapped.
 */
#pragma once

#include "base/base.h"

struct span {
	const char *p;
	size_t len;
};

#define SPAN(literal) ((struct span){(literal), sizeof(literal) - 1})

/* Of ASCII alone, whatever the locale says. */
static inline bool char_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool char_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

struct span span_of(const char *text);
bool span_eq(struct span s, const char *text);
bool span_starts(struct span s, const char *prefix);
bool span_has(struct span s, const char *needle);
/* First occurrence of needle; NULL if absent. */
const char *span_find(struct span s, const char *needle);
const char *span_rfind(struct span s, const char *needle);
struct span span_trim(struct span s);
/* What follows the first occurrence of key up to the end; empty p if absent. */
struct span span_after(struct span s, const char *key);
/* What lies before the first occurrence of key; the whole of s if absent. */
struct span span_before(struct span s, const char *key);
/* Copy to a C string, cut to fit, with control bytes shown as '?'. */
void span_copy(struct span s, char *dst, size_t cap);

/* Take the next line (without its newline) off the front; false at the end. */
bool span_line(struct span *rest, struct span *ret_line);
/* Take the next blank-separated word off the front; false at the end. */
bool span_word(struct span *rest, struct span *ret_word);

/* Whole span must be one number; -EINVAL otherwise, -ERANGE if it does not fit. */
int must_check span_u64(struct span s, uint64_t *ret);
int must_check span_i64(struct span s, int64_t *ret);
/* A number at the front, the rest ignored. */
int must_check span_u64_prefix(struct span s, uint64_t *ret);

/*
 * "Key: 123 kB" or "key 123" line files (meminfo, status, memory.stat,
 * vmstat). Finds the line whose first word is exactly key (a trailing ':' in
 * the file is not part of the key). -ENOENT if there is none.
 */
int must_check text_field(struct span text, const char *key, struct span *ret_value);
int must_check text_field_u64(struct span text, const char *key, uint64_t *ret);
