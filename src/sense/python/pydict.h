/*
 * The entries of a dict's key table, read from outside: Include/internal/pycore_dict.h of CPython (before 3.11
 * Objects/dict-common.h).
 */
#pragma once

#include "sense/python/pyrt.h"

struct pydict_keys {
	uint64_t entries; /* address of the first entry */
	uint64_t n; /* number of entries, deleted ones (key or value 0) included */
	uint64_t row_bytes, key_at; /* the value follows the key; the hash precedes a key that is not at 0 */
};

/* addr: of the table. REMOTE_FAULT: there is no valid table. */
int must_check pydict_keys(const struct pyrt *rt, struct remote *r, uint64_t addr, struct pydict_keys *ret);
