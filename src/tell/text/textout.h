/*
 * Text laid out for a terminal: headings, wrapped paragraphs, labelled values,
 * colours when wanted. Whatever a foreign program wrote (a command line, a log
 * line) passes through here and loses its control characters, so that it
 * cannot move the reader's cursor or change its colours.
 *
 * Borrowed stream; write errors are the stream's (ferror).
 */
#pragma once

#include <stdio.h>

#include "base/base.h"
#include "base/columns.h"

#define TEXTOUT_WIDTH 96

enum textout_ink { INK_PLAIN, INK_BOLD, INK_DIM, INK_RED, INK_GREEN, INK_YELLOW };

struct textout {
	FILE *to;
	bool colour;
	size_t width; /* columns; 0: TEXTOUT_WIDTH */
};

void textout_ink(const struct textout *p, enum textout_ink ink);
/* Writes an empty line and a bold title. */
void textout_heading(const struct textout *p, const char *fmt, ...) printf_like(2, 3);
/* Wrapped; every line but the first starts at indent, which the first has already reached. */
void textout_text(const struct textout *p, size_t indent, const char *fmt, ...) printf_like(3, 4);
/* "  label          value", the value wrapped under itself. */
void textout_value(const struct textout *p, const char *label, const char *fmt, ...) printf_like(3, 4);
/* At most columns wide (cut with "…"), without control characters, no newline; returns the columns used. */
size_t textout_cut(const struct textout *p, const char *text, size_t columns);
/* The same, padded with blanks to `columns`. */
void textout_cell(const struct textout *p, const char *text, size_t columns);
/* A line of its own at indent: on a terminal wrapped below itself, else cut at `columns`. */
void textout_line(const struct textout *p, size_t indent, const char *text, size_t columns);
void textout_blank(const struct textout *p, size_t columns);
/* Columns that a text takes: one a code point. */
size_t textout_columns(const char *text, size_t len);
/* Columns of the terminal that `to` is (base/columns); 0 if it is none. */
size_t textout_width(FILE *to);
/* Copy without control characters (those that turn the direction of writing too) and broken UTF-8. */
void textout_clean(const char *text, char *dst, size_t cap);
/* Writes it so, whatever its length; '?' for each byte that is left out, for ends of lines too. */
void textout_put(FILE *to, const char *text);
/* Writes lines that are wider than `width` columns as several (base/columns). */
void textout_fold(FILE *to, const char *text, size_t len, size_t width);
