#include "tell/text/textout.h"

#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/columns.h"
#include "base/utf8.h"

void textout_ink(const struct textout *p, enum textout_ink ink)
{
	static const char *const codes[] = {"\033[0m", "\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m"};
	if (p->colour)
		fputs(codes[ink], p->to);
}

/* Length of the UTF-8 sequence at s; 0 if it is none, or controls how a text is shown (base/utf8). */
static size_t sequence(const char *s, size_t len)
{
	uint32_t code;
	size_t n = utf8_char(s, len, &code);
	return n > 0 && !utf8_hidden(code) ? n : 0;
}

void textout_clean(const char *text, char *dst, size_t cap)
{
	size_t at = 0, n;
	for (size_t left = strlen(text); left > 0 && at + 1 < cap; text += n, left -= n) {
		n = sequence(text, left);
		if (n == 0) {
			dst[at++] = *text == '\n' || *text == '\t' ? ' ' : '?';
			n = 1;
			continue;
		}
		if (at + n >= cap)
			break;
		memcpy(dst + at, text, n);
		at += n;
	}
	dst[at] = '\0';
}

void textout_put(FILE *to, const char *text)
{
	for (size_t left = strlen(text), n; left > 0; text += n, left -= n) {
		n = sequence(text, left);
		if (n > 0)
			fwrite(text, 1, n, to);
		else
			fputc('?', to);
		n = MAX(n, (size_t)1);
	}
}

size_t textout_columns(const char *text, size_t len)
{
	return columns_of(text, len);
}

size_t textout_width(FILE *to)
{
	/* what is kept for the pager has no number */
	return columns_terminal(to == stdout ? STDOUT_FILENO : fileno(to));
}

void textout_blank(const struct textout *p, size_t columns)
{
	static const char blanks[] = "                                ";
	for (size_t n; columns > 0; columns -= n) { /* printf(3) takes half the time of a long list for this */
		n = MIN(columns, sizeof(blanks) - 1);
		fwrite(blanks, 1, n, p->to);
	}
}

void textout_heading(const struct textout *p, const char *fmt, ...)
{
	char raw[512], text[512];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	textout_clean(raw, text, sizeof(text));
	fputc('\n', p->to);
	textout_ink(p, INK_BOLD);
	fputs(text, p->to);
	textout_ink(p, INK_PLAIN);
	fputc('\n', p->to);
}

/* Bytes of the first `columns` code points. */
static size_t prefix_of(const char *text, size_t columns)
{
	size_t n = 0, seen = 0;
	while (text[n] && (seen += ((unsigned char)text[n] & 0xc0) != 0x80) <= columns)
		n++;
	return n;
}

static void wrap(const struct textout *p, size_t indent, const char *text)
{
	size_t width = p->width ? p->width : TEXTOUT_WIDTH, column = indent;
	for (const char *word = text; *word;) {
		size_t n = strcspn(word, " "), columns = textout_columns(word, n);
		if (column > indent && column + 1 + columns > width) {
			fputc('\n', p->to);
			textout_blank(p, indent);
			column = indent;
		} else if (column > indent) {
			fputc(' ', p->to);
			column++;
		}
		size_t room = width > column ? width - column : 1;
		if (columns > room) { /* a word longer than a line is broken at the line's end */
			n = prefix_of(word, room);
			columns = room;
		}
		fwrite(word, 1, n, p->to);
		column += columns;
		word += n;
		word += strspn(word, " ");
	}
	fputc('\n', p->to);
}

static void wrap_formatted(const struct textout *p, size_t indent, const char *fmt, va_list ap) printf_like(3, 0);
static void wrap_formatted(const struct textout *p, size_t indent, const char *fmt, va_list ap)
{
	char raw[2048], text[2048];
	(void)vsnprintf(raw, sizeof(raw), fmt, ap);
	textout_clean(raw, text, sizeof(text));
	wrap(p, indent, text);
}

void textout_text(const struct textout *p, size_t indent, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	wrap_formatted(p, indent, fmt, ap);
	va_end(ap);
}

void textout_value(const struct textout *p, const char *label, const char *fmt, ...)
{
	enum { VALUE_COLUMN = 20 };
	textout_ink(p, INK_DIM);
	fprintf(p->to, "  %-*s", VALUE_COLUMN - 2, label);
	textout_ink(p, INK_PLAIN);
	va_list ap;
	va_start(ap, fmt);
	wrap_formatted(p, VALUE_COLUMN, fmt, ap);
	va_end(ap);
}

size_t textout_cut(const struct textout *p, const char *text, size_t columns)
{
	char clean[2048];
	textout_clean(text, clean, sizeof(clean));
	size_t len = strlen(clean), all = textout_columns(clean, len);
	if (all <= columns) {
		fputs(clean, p->to);
		return all;
	}
	fwrite(clean, 1, prefix_of(clean, columns - MIN(columns, (size_t)1)), p->to);
	fputs("…", p->to);
	return columns;
}

void textout_cell(const struct textout *p, const char *text, size_t columns)
{
	size_t used = textout_cut(p, text, columns);
	textout_blank(p, columns - MIN(used, columns));
}

void textout_line(const struct textout *p, size_t indent, const char *text, size_t columns)
{
	char clean[2048];
	textout_clean(text, clean, sizeof(clean));
	textout_blank(p, indent);
	if (p->width > 0 && indent + textout_columns(clean, strlen(clean)) > p->width) {
		wrap(p, indent, clean);
		return;
	}
	(void)textout_cut(p, clean, columns);
	fputc('\n', p->to);
}

static void fold_put(void *ctx, const char *text, size_t len)
{
	fwrite(text, 1, len, ctx);
}

void textout_fold(FILE *to, const char *text, size_t len, size_t width)
{
	columns_fold(text, len, width, fold_put, to);
}
