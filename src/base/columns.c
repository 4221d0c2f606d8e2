#include "base/columns.h"

#include <string.h>
#include <sys/ioctl.h>

#include "base/text.h"

size_t columns_of(const char *text, size_t len)
{
	size_t n = 0;
	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

size_t columns_terminal(int fd)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	uint64_t width = 80;
	if (fd < 0 || !isatty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		width = size.ws_col;
	else if (columns && (span_u64(span_of(columns), &width) < 0 || width == 0 || width > UINT16_MAX))
		width = 80;
	return MAX((size_t)width, (size_t)COLUMNS_LEAST);
}

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
	if (blank && (columns_of(s + word, end - word) <= columns || slash <= blank))
		return blank;
	return slash ? slash : at;
}

static void line_fold(const char *s, size_t len, size_t width, columns_put_fn *put, void *ctx)
{
	static const char blanks[] = "\n                                                                ";
	size_t indent = 0;
	while (indent < len && s[indent] == ' ')
		indent++;
	const size_t further = MIN(MIN(indent + 4, width / 2), sizeof(blanks) - 2);
	put(ctx, s, indent);
	for (size_t at = indent, column = indent; at < len; column = further) {
		const size_t n = fold_at(s + at, len - at, width - MIN(column, width - 1));
		put(ctx, s + at, n);
		at += n;
		while (at < len && s[at] == ' ')
			at++;
		if (at < len)
			put(ctx, blanks, 1 + further);
	}
	put(ctx, "\n", 1);
}

void columns_fold(const char *text, size_t len, size_t width, columns_put_fn *put, void *ctx)
{
	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		const size_t n = end ? (size_t)(end - (text + at)) : len - at;
		line_fold(text + at, n, width, put, ctx);
		at += n + 1;
	}
}
