#include "base/log.h"

#include <stdarg.h>

#include "base/buf.h"
#include "base/columns.h"
#include "base/file.h"

static enum log_level log_most = LOG_LEVEL_INFO;

void log_set_level(enum log_level most)
{
	log_most = most;
}

static log_sink_fn *log_sink;
static void *log_sink_ctx;

void log_set_sink(log_sink_fn *sink, void *ctx)
{
	log_sink = sink;
	log_sink_ctx = ctx;
}

static void log_put(const char *text, size_t len)
{
	if (log_sink)
		log_sink(log_sink_ctx, text, len);
	else
		ignore(file_write_all(STDERR_FILENO, text, len), "there is nowhere left to complain");
}

static void folded_add(void *ctx, const char *text, size_t len)
{
	buf_add_n(ctx, text, len);
}

/*
 * Lines of a message that is wider than the terminal are broken by words. A line is at least half full or makes one
 * with the next that is, so that the blanks before the lines are never more than three times the text. JSON stays
 * whole.
 */
void log_text(const char *text, size_t len)
{
	const bool folds = len > COLUMNS_LEAST && text[0] != '{' && text[len - 1] == '\n';
	const size_t width = folds ? columns_terminal(STDERR_FILENO) : 0;
	struct buf b = {.cap = 4 * len};
	cleanup(freep) char *folded = width > 0 ? malloc(b.cap) : NULL;
	if (folded) {
		b.text = folded;
		buf_reset(&b);
		columns_fold(text, len, width, folded_add, &b);
	}
	if (folded && !b.cut)
		log_put(folded, b.len);
	else
		log_put(text, len);
}

/* A message may quote what others have named: nothing in it speaks to a terminal. */
static void plain_make(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 127)
			text[i] = '?';
}

static void log_line(enum log_level level, const char *fmt, va_list ap) printf_like(2, 0);
static void log_line(enum log_level level, const char *fmt, va_list ap)
{
	if (level > log_most)
		return;
	char text[4096];
	struct buf b = BUF_ON(text);
	b.cap--; /* room for the newline */
	buf_add(&b, "vigil: ");
	buf_vprintf(&b, fmt, ap);
	plain_make(text, b.len);
	text[b.len] = '\n';
	log_text(text, b.len + 1);
}

#define LOG_FUNCTION(name, level)             \
	void name(const char *fmt, ...)       \
	{                                     \
		va_list ap;                   \
		va_start(ap, fmt);            \
		log_line(level, fmt, ap);     \
		va_end(ap);                   \
	}

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warning, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)
