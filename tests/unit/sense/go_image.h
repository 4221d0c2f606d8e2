/*
 * A hand-made table of functions of Go: main.main at 0x0 of the code (48 bytes), into which main.inner was put, and
 * main.leaf at 0x30 (16 bytes). Numbers follow runtime.pcHeader and runtime._func.
 */
#pragma once

#include <string.h>

#include "base/base.h"

#define GO_IMAGE_BYTES 512
#define GO_IMAGE_TEXT UINT64_C(0x401000)
#define GO_IMAGE_NAMES 72
#define GO_IMAGE_CUS 128
#define GO_IMAGE_FILES 144
#define GO_IMAGE_PCS 192
#define GO_IMAGE_FUNCS 256
#define GO_IMAGE_INNER 11 /* of main.inner among the names */

static inline void go_image_put(unsigned char *at, uint64_t value, size_t width)
{
	memcpy(at, &value, width);
}

/* One function: entry, name, and the offsets of its tables of stack sizes, files and lines. */
static inline void go_image_func(unsigned char *f, uint32_t entry, uint32_t name, uint32_t sp, uint32_t line, bool tree)
{
	go_image_put(f, entry, 4);
	go_image_put(f + 4, name, 4);
	go_image_put(f + 16, sp, 4);
	go_image_put(f + 20, 1, 4); /* files */
	go_image_put(f + 24, line, 4);
	go_image_put(f + 28, tree ? 3 : 0, 4); /* pcdata */
	f[43] = tree ? 4 : 0; /* funcdata */
	if (!tree)
		return;
	go_image_put(f + 44 + 8, 20, 4); /* pcdata 2: which call was inlined */
	go_image_put(f + 44 + 12 + 12, 0x40, 4); /* funcdata 3: its tree */
}

static inline void go_image_make(unsigned char b[static GO_IMAGE_BYTES])
{
	static const uint64_t header[] = {
		2, 2, 0, GO_IMAGE_NAMES, GO_IMAGE_CUS, GO_IMAGE_FILES, GO_IMAGE_PCS, GO_IMAGE_FUNCS};
	static const unsigned char files[] = {2, 0x30, 0}; /* file 0 for 48 bytes */
	/* size 0 for 4 bytes, 24 for 44; line 10 for 8, 42 for 8, 11 for 32 */
	static const unsigned char sizes[] = {2, 4, 48, 44, 0}, lines[] = {22, 8, 64, 8, 61, 32, 0};
	static const unsigned char inlined[] = {0, 8, 2, 8, 1, 32, 0}; /* none for 8 bytes, call 0 for 8, none for 32 */
	memset(b, 0, GO_IMAGE_BYTES);
	go_image_put(b, 0xfffffff1, 4);
	b[6] = 1;
	b[7] = 8;
	memcpy(b + 8, header, sizeof(header));
	memcpy(b + GO_IMAGE_NAMES, "\0main.main\0main.inner\0main.leaf", 32);
	go_image_put(b + GO_IMAGE_CUS, 0, 4);
	go_image_put(b + GO_IMAGE_CUS + 4, UINT32_MAX, 4);
	memcpy(b + GO_IMAGE_FILES, "/src/main.go", 13);
	memcpy(b + GO_IMAGE_PCS + 1, files, sizeof(files));
	memcpy(b + GO_IMAGE_PCS + 5, sizes, sizeof(sizes));
	memcpy(b + GO_IMAGE_PCS + 12, lines, sizeof(lines));
	memcpy(b + GO_IMAGE_PCS + 20, inlined, sizeof(inlined));
	unsigned char *t = b + GO_IMAGE_FUNCS;
	go_image_put(t, 0, 4);
	go_image_put(t + 4, 32, 4);
	go_image_put(t + 8, 0x30, 4);
	go_image_put(t + 12, 112, 4);
	go_image_put(t + 16, 0x40, 4); /* the end */
	go_image_func(t + 32, 0, 1, 5, 12, true);
	go_image_func(t + 112, 0x30, 22, 5, 0, false);
}
