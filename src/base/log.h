/*
 * Messages for people, on stderr: "vigil: …". Only the top layers (agent, cli, tui)
 * log; other layers return. Each message is one line, broken by words where stderr
 * is a terminal that is narrower, and is written with one write(2), so that it does
 * not mix with the job's own output.
 */
#pragma once

#include "base/base.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level most);

/*
 * Writes text of several lines, broken in the same way. A sink receives all messages instead of
 * stderr, in order; NULL: stderr again. One thread at a time.
 */
void log_text(const char *text, size_t len);
typedef void log_sink_fn(void *ctx, const char *text, size_t len);
void log_set_sink(log_sink_fn *sink, void *ctx);

void log_error(const char *fmt, ...) printf_like(1, 2);
void log_warning(const char *fmt, ...) printf_like(1, 2);
void log_info(const char *fmt, ...) printf_like(1, 2);
void log_debug(const char *fmt, ...) printf_like(1, 2);
