/*
 * The entries of a dict's table of keys, read from outside: Include/internal/
 * pycore_dict.h of CPython (before 3.11 Objects/dict-common.h).
 */
#pragma once

#include "sense/python/pyrt.h"

struct pydict_keys {
	uint64_t entries; /* address of the first */
	uint64_t n; /* of entries, those that were deleted (key or value 0) among them */
	uint64_t row_bytes, key_at; /* the value follows the key; before a key that is not at 0 comes its hash */
};

/* addr: of the table. REMOTE_FAULT: it is none. */
int must_check pydict_keys(const struct pyrt *rt, struct remote *r, uint64_t addr, struct pydict_keys *ret);
