/*
 * A text builder over memory that the caller owns. It never allocates, never
 * overflows and is always NUL-terminated; what did not fit is cut and `cut`
 * is set. That makes it fit for the guard's path and for signal context.
 */
#pragma once

#include <stdarg.h>

#include "base/base.h"

struct buf {
	char *text;  /* borrowed; cap bytes */
	size_t len;  /* without the NUL */
	size_t cap;
	bool cut;
};

#define BUF_ON(array) ((struct buf){.text = (array), .cap = sizeof(array)})

void buf_reset(struct buf *b);
void buf_add(struct buf *b, const char *text);
void buf_add_n(struct buf *b, const char *text, size_t len);
void buf_printf(struct buf *b, const char *fmt, ...) printf_like(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) printf_like(2, 0);
/*
 * Numbers in rising order as runs: "0-2, 4 and 7". In front of the last part stands last (", " or " and "). Returns how
 * many of the numbers were written: those of the first `most` parts.
 */
size_t buf_runs(struct buf *b, const int32_t *rising, size_t n, size_t most, const char *last);

/* Copy text into a fixed array, cut to fit on a UTF-8 boundary; returns dst. */
char *text_copy(char *dst, size_t cap, const char *src);
#define TEXT_COPY(array, src) text_copy((array), sizeof(array), (src))
int text_format(char *dst, size_t cap, const char *fmt, ...) printf_like(3, 4);
/* Makes the first letter of a sentence a capital; others than a to z stay. */
void text_capital(char *text);
#define TEXT_FORMAT(array, ...) ((void)text_format((array), sizeof(array), __VA_ARGS__))
