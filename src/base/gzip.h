/*
 * A gzip file written in parts to a stream (RFC 1952). The only user of zlib. The header holds no name and no time:
 * equal data gives equal files.
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
/* What a gzip file of one part holds, in memory: exactly len bytes, malloc'ed. NULL: it does not, or no memory. */
char *gunzip(const void *gz, size_t gz_len, size_t len);
