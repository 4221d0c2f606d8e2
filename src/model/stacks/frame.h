/*
 * A frame of a stack, and the table that numbers distinct frames: samples are counted by number, and texts are stored
 * and written once.
 */
#pragma once

#include "base/base.h"

enum frame_kind {
	FRAME_PYTHON,
	FRAME_NATIVE,
	FRAME_KERNEL,
	FRAME_NOTE, /* a label instead of code: "[idle: lock]", "[rank 3]", "[garbage collection]" */
	FRAME_KIND_MAX,
};

struct frame {
	enum frame_kind kind;
	const char *name; /* function; never NULL */
	const char *file; /* source file as the program names it; "": unknown */
	const char *module; /* native: "libtorch_cpu.so"; "": unknown */
	int32_t line; /* 0: unknown */
	int32_t first_line; /* where the function begins; 0: unknown; ignored when frames are compared */
};

const char *frame_kind_name(enum frame_kind k); /* "python" */

struct frametab;
struct frametab *frametab_new(void);
struct frametab *frametab_free(struct frametab *t);
static inline void frametab_freep(struct frametab **t)
{
	*t = frametab_free(*t);
}
/* The number of a frame, from 0, in order of first use. Texts are copied; equal texts share one address. -ENOMEM. */
int must_check frametab_intern(struct frametab *t, const struct frame *f, uint32_t *ret);
/* Borrowed until the table is freed. */
const struct frame *frametab_at(const struct frametab *t, uint32_t id);
/*
 * The part of a path that a person needs: below site-packages or the standard library's folder, else the last
 * component. Relative paths stay whole. Points into file.
 */
const char *frame_file_short(const char *file);
/*
 * "function (file.py:line)" for Python, "function [module]" for native code, as in the folded format: ';' becomes
 * ':', and newlines and other hidden characters become blanks.
 */
void frame_label(const struct frame *f, char *dst, size_t cap);
