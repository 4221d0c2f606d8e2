/*
 * The objects of Go's heap: for any address the object that it lies in. Follows runtime.mheap.arenas, heapArena.spans
 * and mspan; the table of arenas is found among the variables, as the one that has a span for a known object.
 */
#pragma once

#include "sense/go/goproc.h"

#define GOHEAP_PAGES 4096

struct goobject {
	uint64_t base, bytes;
	bool pointers; /* it may hold some */
};

struct goheap {
	struct goproc *p; /* borrowed */
	uint64_t arenas; /* address of the table */
	struct {
		uint64_t page, start, end, elem; /* page 0: free */
		bool pointers, used;
	} cache[GOHEAP_PAGES];
};

/* known: the address of any object, as of a g. *ret is malloc'ed. GO_UNKNOWN: there is no such table. */
int must_check goheap_open(struct goproc *p, uint64_t known, struct goheap **ret);
/* False: it lies in no object, but in a stack, or outside of the heap. */
bool goheap_object(struct goheap *h, uint64_t addr, struct goobject *ret);
