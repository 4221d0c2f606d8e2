/*
 * str objects read from outside (PEP 393): their characters as numbers, for callers that need another form than
 * pystr_read's UTF-8.
 */
#pragma once

#include "sense/python/pycode.h"

/*
 * Reads up to max characters as code points, malloc'ed; *ret_length: the length of the str. PYCODE_GARBAGE: it is no
 * str. REMOTE_FAULT, WORLD_*, -ENOMEM.
 */
int must_check pystr_chars(const struct pyrt *rt, struct remote *r, uint64_t addr, size_t max, uint32_t **ret,
			   size_t *ret_n, uint64_t *ret_length);
/*
 * Writes one character as UTF-8 and returns the number of bytes (at most 4). Surrogates and invalid code points give
 * '?'.
 */
size_t pystr_utf8(uint32_t c, char *dst);
