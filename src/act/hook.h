/*
 * Runs a program of the user: an argument vector, no shell, text
 * on its standard input, a bare environment (PATH, HOME, LANG, TZ and what is
 * given), a session of its own, a deadline for it and its children.
 */
#pragma once

#include "base/base.h"

struct hook {
	const char *const *argv; /* ends with NULL */
	const char *const *environment; /* "NAME=value" besides, ends with NULL; or NULL */
	const char *input;
	size_t input_len;
	uint64_t timeout_ms;
};

struct hook_result {
	bool timed_out;
	int wait_status;
	char said[200]; /* the beginning of what it wrote, one line */
};

/* Blocks until the program ended or was killed. Negative: it could not be started. */
int must_check hook_run(const struct hook *h, struct hook_result *ret);
