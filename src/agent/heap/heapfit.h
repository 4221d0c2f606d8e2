/*
 * Whether libvigil_heap.so can get into a program by LD_PRELOAD, told before
 * the program is started, from its file: a static one has no loader, one of
 * another C library or word size cannot take it, and one that gets more
 * rights than its caller is given no foreign library (ld.so(8), musl's ldso).
 */
#pragma once

#include "sense/world.h"

enum heapfit {
	HEAPFIT_FINE, /* or nobody can tell: it is not found, or may not be read */
	HEAPFIT_STATIC,
	HEAPFIT_OTHER_LIBC, /* musl and others; with the library it would not start */
	HEAPFIT_OTHER_KIND, /* 32 bits, or another machine's */
	HEAPFIT_SECURE, /* set-user-ID, set-group-ID or file capabilities: LD_PRELOAD is not looked at */
};

/* argv0: as execvp(3) takes it, looked for in PATH; what a script names is followed. path: the program that was judged. */
enum heapfit heapfit_of(const char *argv0, char *path, size_t cap);
/* "it is a static program: …", what follows from it; "" if fine. */
const char *heapfit_words(enum heapfit fit);
