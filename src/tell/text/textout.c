#include "tell/text/textout.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/buf.h"
#include "base/text.h"
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
	size_t n = 0;
	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

size_t textout_width(FILE *to)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	uint64_t width = 80;
	int fd = to == stdout ? STDOUT_FILENO : fileno(to); /* what is kept for the pager has no number */
	if (fd < 0 || !isatty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		width = size.ws_col;
	else if (columns && (span_u64(span_of(columns), &width) < 0 || width == 0 || width > UINT16_MAX))
		width = 80;
	return MAX((size_t)width, (size_t)TEXTOUT_WIDTH_LEAST);
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

/* ---- lines that were made without a width ---- */

/* Bytes of the colour at s; 0 if there is none. */
static size_t colour_at(const char *s, size_t len)
{
	size_t n = 2;
	if (len < 3 || s[0] != '\033' || s[1] != '[')
		return 0;
	while (n < len && ((s[n] >= '0' && s[n] <= '9') || s[n] == ';'))
		n++;
	return n < len && s[n] == 'm' ? n + 1 : 0;
}

/* Bytes of what fits into `columns`: up to the last blank or behind the last '/', else as much as there is room for. */
static size_t fold_at(const char *s, size_t len, size_t columns)
{
	size_t seen = 0, blank = 0, slash = 0, at = 0;
	while (at < len) {
		const size_t code = colour_at(s + at, len - at);
		if (code) {
			at += code;
			continue;
		}
		seen += ((unsigned char)s[at] & 0xc0) != 0x80;
		if (seen > columns)
			break;
		if (s[at] == ' ')
			blank = at;
		at++;
		if (s[at - 1] == '/')
			slash = at;
	}
	if (at == len || s[at] == ' ')
		return at;
	/* A path that does not fit behind the words before it begins on a line of its own only if it fits there. */
	const size_t word = blank ? blank + 1 : 0;
	const char *next = memchr(s + word, ' ', len - word);
	const size_t end = next ? (size_t)(next - s) : len;
	if (blank && (textout_columns(s + word, end - word) <= columns || slash <= blank))
		return blank;
	return slash ? slash : at;
}

static void line_fold(FILE *to, const char *s, size_t len, size_t width)
{
	const struct textout p = {.to = to};
	size_t indent = 0;
	while (indent < len && s[indent] == ' ')
		indent++;
	const size_t further = MIN(indent + 4, width / 2);
	fwrite(s, 1, indent, to);
	for (size_t at = indent, column = indent; at < len; column = further) {
		const size_t n = fold_at(s + at, len - at, width - MIN(column, width - 1));
		fwrite(s + at, 1, n, to);
		at += n;
		while (at < len && s[at] == ' ')
			at++;
		if (at < len) {
			fputc('\n', to);
			textout_blank(&p, further);
		}
	}
	fputc('\n', to);
}

void textout_fold(FILE *to, const char *text, size_t len, size_t width)
{
	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		const size_t n = end ? (size_t)(end - (text + at)) : len - at;
		line_fold(to, text + at, n, width);
		at += n + 1;
	}
}
