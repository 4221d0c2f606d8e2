/*
 * Talk for people, on stderr: "vigil: …". Only the roots (agent, cli, tui)
 * log; other layers return. Each message is one line and is written with one
 * write(2), so that it does not mix with the job's own output.
 */
#pragma once

#include "base/base.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level most);
void log_error(const char *fmt, ...) printf_like(1, 2);
void log_warning(const char *fmt, ...) printf_like(1, 2);
void log_info(const char *fmt, ...) printf_like(1, 2);
void log_debug(const char *fmt, ...) printf_like(1, 2);
