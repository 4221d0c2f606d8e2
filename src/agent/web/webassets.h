/*
 * The files of the page, packed by gzip into the program when it is built: those that web/dist/manifest.txt lists, or
 * where it has not been built the small page of web/minimal. Made by tools/webassets.py.
 */
#pragma once

#include "base/base.h"

struct webasset {
	const char *path; /* "index.html" */
	const char *mime;
	const char *etag; /* with its quotes */
	bool hashed; /* its name changes with what it holds */
	size_t len, gz_len;
	const uint8_t *gz;
};

extern const struct webasset webassets[];
extern const size_t webassets_n;
/* True: the page that npm has built; false: the small one. */
extern const bool webassets_full;
