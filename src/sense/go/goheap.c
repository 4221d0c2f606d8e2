#include "sense/go/goheap.h"

#include <string.h>

#define PAGE_SHIFT 13
#define ARENA_SHIFT 26
#define ARENA_PAGES 8192
#define ARENAS (UINT64_C(1) << 22)
/* Addresses count from the lowest canonical one. */
#define ARENA_BASE UINT64_C(0x800000000000)
#define SPAN_BYTES 128
#define SPAN_START 24
#define SPAN_PAGES 32
#define STATE_IN_USE 1
#define CHUNK_WORDS 4096
/* With crypto/tls programs of Go 1.26 have 32 MiB of them; the table of arenas stands before these. */
#define VARIABLES_MAX (256 * MIB)

/* The span of an address by a table of arenas. False: it has none there that makes sense. */
static bool span_read(const struct goheap *h, uint64_t arenas, uint64_t addr, unsigned char span[static SPAN_BYTES])
{
	struct remote *r = h->p->remote;
	uint64_t at = (addr + ARENA_BASE) >> ARENA_SHIFT, arena, where, start, pages;
	if (at >= ARENAS || remote_u64(r, arenas + at * 8, &arena) != 0 || arena == 0 || arena % 4096 ||
	    remote_u64(r, arena + h->p->at.arena_spans + (addr >> PAGE_SHIFT) % ARENA_PAGES * 8, &where) != 0 ||
	    where == 0 || where % 8 || remote_read(r, where, span, SPAN_BYTES) != 0)
		return false;
	memcpy(&start, span + SPAN_START, sizeof(start));
	memcpy(&pages, span + SPAN_PAGES, sizeof(pages));
	return start <= addr && pages < (UINT64_C(1) << 35) && addr - start < pages << PAGE_SHIFT;
}

static int arenas_find(struct goheap *h, uint64_t known)
{
	const struct goproc *p = h->p;
	unsigned char span[SPAN_BYTES];
	cleanup(freep) uint64_t *words = malloc(CHUNK_WORDS * sizeof(*words));
	if (!words)
		return -ENOMEM;
	if (p->enoptrbss - p->noptrdata > VARIABLES_MAX)
		return GO_UNKNOWN;
	for (uint64_t at = p->noptrdata & ~UINT64_C(7); at < p->enoptrbss; at += CHUNK_WORDS * 8) {
		size_t n = (size_t)MIN((p->enoptrbss - at) / 8, (uint64_t)CHUNK_WORDS);
		int r = goproc_words(h->p, at, words, n);
		if (r)
			return r;
		for (size_t i = 0; i < n; i++)
			if (words[i] && words[i] % 4096 == 0 && goproc_try(h->p) &&
			    span_read(h, words[i], known, span)) {
				h->arenas = words[i];
				return 0;
			}
	}
	return GO_UNKNOWN;
}

int goheap_open(struct goproc *p, uint64_t known, struct goheap **ret)
{
	cleanup(freep) struct goheap *h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->p = p;
	int r = arenas_find(h, known);
	if (r == 0)
		*ret = take(&h);
	return r;
}

bool goheap_object(struct goheap *h, uint64_t addr, struct goobject *ret)
{
	uint64_t page = addr >> PAGE_SHIFT;
	__typeof__(&h->cache[0]) c = &h->cache[page % GOHEAP_PAGES];
	if (page == 0 || addr >= ARENA_BASE)
		return false;
	if (c->page != page) {
		unsigned char span[SPAN_BYTES];
		memset(c, 0, sizeof(*c));
		c->page = page;
		if (span_read(h, h->arenas, addr, span)) {
			uint64_t pages;
			memcpy(&c->start, span + SPAN_START, sizeof(c->start));
			memcpy(&pages, span + SPAN_PAGES, sizeof(pages));
			memcpy(&c->elem, span + h->p->at.span_elem, sizeof(c->elem));
			c->end = c->start + (pages << PAGE_SHIFT);
			c->pointers = !(span[h->p->at.span_class] & 1);
			c->used = span[h->p->at.span_class + 1] == STATE_IN_USE && c->elem >= 8 &&
				  c->elem <= c->end - c->start;
		}
	}
	if (!c->used || addr < c->start || addr >= c->end)
		return false;
	uint64_t base = c->start + (addr - c->start) / c->elem * c->elem;
	*ret = (struct goobject){base, MIN(c->elem, c->end - base), c->pointers};
	return true;
}
