/*
 * An error in a text written by a user: one full sentence (what, where, what was expected, what to do) and its
 * position. Filled only on failure; always the last parameter.
 */
#pragma once

#include "base/base.h"

struct fault {
	char text[512];
	char file[256]; /* empty: the text is not from a file */
	uint32_t line;  /* 1-based; 0: unknown */
	uint32_t column;
};

/* Fills *f and returns code, so that one statement does both. */
int fault_set(struct fault *f, int code, const char *fmt, ...) printf_like(3, 4);
