#include "base/gzip.h"

#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* 32 KiB window; + 16 asks zlib for gzip's header */

struct gzip {
	z_stream z;
	FILE *to;
	unsigned char out[16384];
};

int gzip_open(FILE *to, struct gzip **ret)
{
	struct gzip *g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->to = to;
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(g);
		return -ENOMEM;
	}
	*ret = g;
	return 0;
}

static int deflate_some(struct gzip *g, int flush)
{
	for (bool more = true; more;) {
		g->z.next_out = g->out;
		g->z.avail_out = sizeof(g->out);
		int z = deflate(&g->z, flush);
		if (z == Z_STREAM_ERROR)
			return -EIO;
		size_t n = sizeof(g->out) - g->z.avail_out;
		errno = 0;
		if (n > 0 && fwrite(g->out, 1, n, g->to) != n)
			return errno > 0 ? -errno : -EIO;
		more = flush == Z_FINISH ? z != Z_STREAM_END : g->z.avail_out == 0;
	}
	return 0;
}

int gzip_write(struct gzip *g, const void *data, size_t len)
{
	/* zlib's pointer lacks the const, and its lengths are unsigned int */
	union {
		const void *ours;
		unsigned char *theirs;
	} in = {.ours = data};
	while (len > 0) {
		g->z.next_in = in.theirs;
		g->z.avail_in = (unsigned int)MIN(len, (size_t)GIB);
		size_t piece = g->z.avail_in;
		int r = deflate_some(g, Z_NO_FLUSH);
		if (r < 0)
			return r;
		in.theirs += piece;
		len -= piece;
	}
	return 0;
}

int gzip_finish(struct gzip *g)
{
	int r = deflate_some(g, Z_FINISH);
	if (r < 0)
		return r;
	errno = 0;
	if (fflush(g->to) != 0)
		return errno > 0 ? -errno : -EIO;
	return 0;
}

char *gzip_quick(const void *data, size_t len, size_t *ret_len)
{
	z_stream z = {.avail_out = (unsigned int)len};
	union {
		const void *ours;
		unsigned char *theirs;
	} in = {.ours = data};
	char *packed = len > 0 && len < GIB ? malloc(len) : NULL;
	if (!packed || deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(packed);
		return NULL;
	}
	z.next_in = in.theirs;
	z.avail_in = (unsigned int)len;
	z.next_out = (unsigned char *)packed;
	bool smaller = deflate(&z, Z_FINISH) == Z_STREAM_END;
	*ret_len = z.total_out;
	deflateEnd(&z);
	if (smaller)
		return packed;
	free(packed);
	return NULL;
}

struct gzip *gzip_free(struct gzip *g)
{
	if (g)
		deflateEnd(&g->z);
	free(g);
	return NULL;
}

struct gunzip {
	z_stream z;
	bool over;
	unsigned char out[65536];
};

int gunzip_open(struct gunzip **ret)
{
	struct gunzip *g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	if (inflateInit2(&g->z, GZIP_WINDOW) != Z_OK) {
		free(g);
		return -ENOMEM;
	}
	*ret = g;
	return 0;
}

/* One turn of zlib over what is there. */
static int inflate_some(struct gunzip *g, int (*to)(void *ctx, const char *data, size_t len), void *ctx)
{
	if (g->over && inflateReset(&g->z) != Z_OK)
		return GUNZIP_BROKEN;
	g->over = false;
	g->z.next_out = g->out;
	g->z.avail_out = sizeof(g->out);
	int z = inflate(&g->z, Z_NO_FLUSH);
	size_t n = sizeof(g->out) - g->z.avail_out;
	int r = n > 0 ? to(ctx, (const char *)g->out, n) : 0;
	if (r)
		return r;
	if (z == Z_MEM_ERROR)
		return -ENOMEM;
	g->over = z == Z_STREAM_END;
	return z == Z_OK || z == Z_STREAM_END || (z == Z_BUF_ERROR && n > 0) ? 0 : GUNZIP_BROKEN;
}

int gunzip_feed(struct gunzip *g, const void *data, size_t len, int (*to)(void *ctx, const char *data, size_t len),
		void *ctx)
{
	union {
		const void *ours;
		unsigned char *theirs;
	} in = {.ours = data};
	while (len > 0) {
		size_t piece = MIN(len, (size_t)GIB);
		g->z.next_in = in.theirs;
		g->z.avail_in = (unsigned int)piece;
		do {
			int r = inflate_some(g, to, ctx);
			if (r)
				return r;
		} while (g->z.avail_in > 0 || g->z.avail_out == 0);
		in.theirs += piece;
		len -= piece;
	}
	return 0;
}

struct gunzip *gunzip_free(struct gunzip *g)
{
	if (g)
		(void)inflateEnd(&g->z);
	free(g);
	return NULL;
}

char *gunzip(const void *gz, size_t gz_len, size_t len)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)gz, .avail_in = (uInt)gz_len};
	cleanup(freep) char *text = malloc(len + 1);
	if (!text || inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return NULL;
	z.next_out = (Bytef *)text;
	z.avail_out = (uInt)len;
	int r = inflate(&z, Z_FINISH);
	bool whole = r == Z_STREAM_END && z.total_out == len;
	(void)inflateEnd(&z);
	text[len] = '\0';
	return whole ? take(&text) : NULL;
}
