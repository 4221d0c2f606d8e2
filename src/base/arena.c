#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

#define ALIGN alignof(max_align_t)
/* Small documents take one small block; each later block is as large as all before it, up to this. */
#define BLOCK_FIRST (16 * KIB)
#define BLOCK_MAX (4 * MIB)

struct arena_block {
	struct arena_block *next;
	size_t len, cap;
	alignas(max_align_t) char data[];
};

static struct arena_block *block_new(struct arena *a, size_t bytes)
{
	size_t cap = MIN(MAX(a->held_bytes, (size_t)BLOCK_FIRST), (size_t)BLOCK_MAX);
	cap = MAX(cap, bytes);
	if (a->max_bytes && cap > a->max_bytes - MIN(a->held_bytes, a->max_bytes))
		cap = bytes;
	if (a->max_bytes && (a->held_bytes > a->max_bytes || cap > a->max_bytes - a->held_bytes)) {
		a->held_bytes = a->max_bytes + 1; /* refuses all later requests; arena_full reports it */
		return NULL;
	}
	struct arena_block *b = malloc(sizeof(*b) + cap);
	if (!b)
		return NULL;
	b->next = a->blocks;
	b->len = 0;
	b->cap = cap;
	a->blocks = b;
	a->held_bytes += cap;
	return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
	struct arena_block *b = a->blocks;
	if (!b || b->cap - b->len < bytes)
		b = block_new(a, bytes);
	if (!b)
		return NULL;
	void *p = b->data + b->len;
	b->len += bytes;
	a->used_bytes += bytes;
	memset(p, 0, bytes);
	return p;
}

void *arena_grow(struct arena *a, const void *old, size_t had, size_t n, size_t size)
{
	if (n > SIZE_MAX / 2 / size)
		return NULL;
	void *p = arena_alloc(a, n * size);
	if (p && had)
		memcpy(p, old, had * size);
	return p;
}

char *arena_text(struct arena *a, const char *p, size_t len)
{
	char *text = arena_alloc(a, len + 1);
	if (text && len)
		memcpy(text, p, len);
	return text;
}

bool arena_full(const struct arena *a)
{
	return a->max_bytes && a->held_bytes > a->max_bytes;
}

void arena_done(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;
		free(a->blocks);
		a->blocks = next;
	}
	a->used_bytes = a->held_bytes = 0;
}
