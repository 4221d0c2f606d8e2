/*
 * The first place in the program's own files in a stack that a runtime has written below an error: of Go, Node.js, the
 * JVM, Rust and the sanitizers of C compilers. The language's own files and those of installed packages are passed
 * over.
 *
 * Pure. Fed line by line, from the error's line on downwards; whatever is no frame is ignored. Where a "Caused by: "
 * follows, what stands below it counts, as the first cause has the place.
 */
#pragma once

#include "base/base.h"
#include "base/text.h"

struct stackplace {
	struct span function; /* of a frame whose place stands in the next line; empty: none */
	char frame[160];      /* "in main.load at /srv/load.go:41"; "": none so far */
};

/* The spans of *s point into the line until the next call. */
void stackplace_line(struct stackplace *s, struct span line);
