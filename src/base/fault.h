/*
 * An error in text that a person wrote: a full sentence (what, where, what was
 * expected, what to do), and the place.
 * Filled only on failure, always the last parameter.
 */
#pragma once

#include "base/base.h"

struct fault {
	char text[512];
	char file[256]; /* empty: not from a file */
	uint32_t line;  /* 1-based; 0: unknown */
	uint32_t column;
};

/* Fill in and return code, so that one line reports and returns. */
int fault_set(struct fault *f, int code, const char *fmt, ...) printf_like(3, 4);
