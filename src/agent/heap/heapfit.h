/*
 * Decides from the file of a program, before it is started, whether libvigil_heap.so can be loaded into it with
 * LD_PRELOAD. A static program has no loader, one of another C library or word size cannot load it, and one that gets
 * more rights than its caller is given no foreign library (ld.so(8), musl's ldso).
 */
#pragma once

#include "sense/world.h"

enum heapfit {
	HEAPFIT_FINE, /* or unknown: the program is not found, or may not be read */
	HEAPFIT_STATIC,
	HEAPFIT_OTHER_LIBC, /* musl and others; would not start with the library */
	HEAPFIT_OTHER_KIND, /* of 32 bits, or of another machine */
	HEAPFIT_SECURE, /* set-user-ID, set-group-ID or file capabilities: LD_PRELOAD is ignored */
};

/*
 * argv0: as for execvp(3), searched in PATH; interpreters of scripts are followed. path: the program that was judged.
 */
enum heapfit heapfit_of(const char *argv0, char *path, size_t cap);
/* The reason and its consequence: "it is a static program, …"; "" if fine. */
const char *heapfit_words(enum heapfit fit);
