/*
 * str objects read from outside (PEP 393): the characters themselves, for
 * those who write them in another form than pystr_read does.
 */
#pragma once

#include "sense/python/pycode.h"

/*
 * Up to max characters as code points, malloc'ed; *ret_length: how many the
 * str has. PYCODE_GARBAGE: it is not a str. REMOTE_FAULT, WORLD_*, -ENOMEM.
 */
int must_check pystr_chars(const struct pyrt *rt, struct remote *r, uint64_t addr, size_t max, uint32_t **ret,
			   size_t *ret_n, uint64_t *ret_length);
/* One character as UTF-8: bytes written (at most 4). Halves of surrogate pairs and what is no character: '?'. */
size_t pystr_utf8(uint32_t c, char *dst);
