/*
 * Lines that fit a terminal. Widths are columns, one a code point; colours (ESC [ … m) take none.
 */
#pragma once

#include "base/base.h"

#define COLUMNS_LEAST 40

/* Code points of a text, colours counted as text. */
size_t columns_of(const char *text, size_t len);
/* Columns of the terminal fd: the terminal's own number, else COLUMNS, else 80; at least 40. 0 if it is none. */
size_t columns_terminal(int fd);

typedef void columns_put_fn(void *ctx, const char *text, size_t len);
/*
 * Hands lines that are wider than `width` columns to put as several, broken before a word or, within a long one, behind
 * a '/'; they go on four columns further in. `text` is clean, may be of many lines, and ends with the end of a line in
 * what is put even where it does not itself.
 */
void columns_fold(const char *text, size_t len, size_t width, columns_put_fn *put, void *ctx);
