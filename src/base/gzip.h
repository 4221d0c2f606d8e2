/*
 * gzip files in parts (RFC 1952): written to a stream, and unpacked from parts to parts. The only user of zlib. The
 * header of what is written holds no name and no time: equal data gives equal files.
 */
#pragma once

#include <stdio.h>

#include "base/base.h"

struct gzip;
/* to is borrowed and stays open. -ENOMEM. */
int must_check gzip_open(FILE *to, struct gzip **ret);
/* -errno of the stream. */
int must_check gzip_write(struct gzip *g, const void *data, size_t len);
/* Writes the trailer and flushes the stream. -errno. */
int must_check gzip_finish(struct gzip *g);
struct gzip *gzip_free(struct gzip *g);
static inline void gzip_freep(struct gzip **g)
{
	*g = gzip_free(*g);
}

/* Data as one gzip file in memory, packed quickly: malloc'ed. NULL: it would be no smaller, or there is no memory. */
char *gzip_quick(const void *data, size_t len, size_t *ret_len);

struct gunzip;
enum { GUNZIP_BROKEN = 1 }; /* this is not gzip, or damaged */
/* -ENOMEM. */
int must_check gunzip_open(struct gunzip **ret);
/*
 * Unpacks a part and hands it on in parts of some KiB; a non-zero result of to ends it and is returned. Files that were
 * put one after another are one. GUNZIP_BROKEN, -ENOMEM.
 */
int must_check gunzip_feed(struct gunzip *g, const void *data, size_t len,
			   int (*to)(void *ctx, const char *data, size_t len), void *ctx);
struct gunzip *gunzip_free(struct gunzip *g);
static inline void gunzip_freep(struct gunzip **g)
{
	*g = gunzip_free(*g);
}

/* What a gzip file of one part holds, in memory: exactly len bytes, malloc'ed. NULL: it does not, or no memory. */
char *gunzip(const void *gz, size_t gz_len, size_t len);
