/*
 * Reads a trace in Chrome's format from a file that a person named, packed with gzip or not, part by part: the file is
 * never in memory as a whole.
 */
#pragma once

#include "base/fault.h"
#include "model/speed/tracefacts.h"

enum {
	TRACEFILE_OTHER = 1, /* it is no such trace; the fault says why */
};

/* *ret is sealed. -errno with a fault. A file that is cut off or damaged gives what stands before that. */
int must_check tracefile_read(const char *path, const volatile bool *stop, struct tracefacts *ret, struct fault *f);
