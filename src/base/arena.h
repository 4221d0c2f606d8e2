/*
 * Memory that is freed all at once, for parsers of foreign bytes: no part is
 * freed alone, and the total stays below a bound. Blocks never move, so pointers into an arena stay valid until
 * arena_done. Not for the guard: it allocates.
 */
#pragma once

#include "base/base.h"

struct arena_block;
struct arena {
	struct arena_block *blocks;
	size_t used_bytes; /* sum of the requests */
	size_t max_bytes; /* upper bound of all blocks together; 0: no bound */
	size_t held_bytes;
};

/* Zeroed memory, aligned for every type. NULL: out of memory or over the bound (arena_full distinguishes them). */
void *arena_alloc(struct arena *a, size_t bytes);
/* Room for n items of size bytes, with the first `had` of the old ones copied. The old room is not freed. */
void *arena_grow(struct arena *a, const void *old, size_t had, size_t n, size_t size);
/* A terminated copy. */
char *arena_text(struct arena *a, const char *p, size_t len);
/* True if the last failure was due to the bound and not to lack of memory. */
bool arena_full(const struct arena *a);
void arena_done(struct arena *a);
