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
	size_t used_bytes; /* of all blocks, what was asked for */
	size_t max_bytes; /* of all blocks together; 0: no bound */
	size_t held_bytes;
};

/* Zeroed, aligned for every type. NULL: no memory, or the bound is reached (arena_full tells which). */
void *arena_alloc(struct arena *a, size_t bytes);
/* Room for n things; the first `had` of the old ones copied over. The old room is not given back. */
void *arena_grow(struct arena *a, const void *old, size_t had, size_t n, size_t size);
/* A terminated copy. */
char *arena_text(struct arena *a, const char *p, size_t len);
/* The last failure was the bound, not the machine. */
bool arena_full(const struct arena *a);
void arena_done(struct arena *a);
