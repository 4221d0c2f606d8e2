/*
 * JSON that comes in parts (RFC 8259): bytes go in, tokens come out, and nothing is kept but the text of the token at
 * hand. For files that are too large to be held.
 *
 * Text is decoded to UTF-8 and cut to JSONSTREAM_TEXT - 1 bytes. Numbers come as they are written. Pure.
 */
#pragma once

#include "base/text.h"

#define JSONSTREAM_TEXT 256
#define JSONSTREAM_DEPTH 64

enum jsonstream_token {
	JSONSTREAM_OBJECT,
	JSONSTREAM_OBJECT_END,
	JSONSTREAM_ARRAY,
	JSONSTREAM_ARRAY_END,
	JSONSTREAM_KEY,
	JSONSTREAM_STRING,
	JSONSTREAM_NUMBER,
	JSONSTREAM_WORD, /* true, false, null */
};

enum {
	JSONSTREAM_BROKEN = 1, /* this is no JSON, or it is nested too deeply; the stream takes no more */
};

struct jsonstream {
	/* depth: of the object or array that the token is in; its own begin and end have that of their inside. */
	void (*token)(void *ctx, enum jsonstream_token t, size_t depth, struct span text);
	void *ctx;
	int state;
	char text[JSONSTREAM_TEXT];
	size_t len;
	bool is_key;
	uint32_t hex, hex_left, high; /* of \uXXXX; high: the first half of a pair */
	bool object[JSONSTREAM_DEPTH + 1]; /* what each depth is */
	size_t depth;
	bool broken, done; /* done: the outermost value has ended; what follows is passed over */
	uint64_t fed; /* bytes taken */
};

void jsonstream_init(struct jsonstream *s,
		     void (*token)(void *ctx, enum jsonstream_token t, size_t depth, struct span text), void *ctx);
int must_check jsonstream_feed(struct jsonstream *s, const char *data, size_t len);
