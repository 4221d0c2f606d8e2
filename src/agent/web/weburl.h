/*
 * The target of a request, "/api/v1/jobs/x?limit=5", taken apart: path segments and parameters, decoded. Pure, and
 * strict, because whoever can reach the port can write it: what is not plain is refused and never repaired.
 *
 * Refused: a target that does not begin with '/', "." and ".." and empty segments, an escape that is none, a decoded
 * '/' or '\' or control character in the path, text that is not UTF-8, a parameter that is given twice, too much of
 * anything.
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"

#define WEBURL_MOST_BYTES 4096
#define WEBURL_SEGMENTS 8
#define WEBURL_PARAMS 24

struct weburl {
	char text[WEBURL_MOST_BYTES]; /* what the pointers point into */
	const char *segment[WEBURL_SEGMENTS];
	size_t n_segments; /* 0: "/" */
	struct {
		const char *name, *value;
	} param[WEBURL_PARAMS];
	size_t n_params;
};

/* -EINVAL with a sentence. */
int must_check weburl_parse(const char *target, struct weburl *ret, struct fault *f);
/* The parameter's value; NULL if it was not given. */
const char *weburl_get(const struct weburl *u, const char *name);
/* A number from least to most; fallback if it was not given. -EINVAL with a sentence. */
int must_check weburl_u64(const struct weburl *u, const char *name, uint64_t fallback, uint64_t least, uint64_t most,
			  uint64_t *ret, struct fault *f);
/* "1" or "0"; false if it was not given. -EINVAL with a sentence. */
int must_check weburl_flag(const struct weburl *u, const char *name, bool *ret, struct fault *f);
/* The index of the value in a list that ends with NULL; fallback if it was not given. -EINVAL with a sentence. */
int must_check weburl_choice(const struct weburl *u, const char *name, const char *const *choices, size_t fallback,
			     size_t *ret, struct fault *f);
/* True if text is an id as vigil makes them: letters, digits, '.', '_', '-', ':' and '@', at most 128 bytes. */
bool weburl_is_id(const char *text);
