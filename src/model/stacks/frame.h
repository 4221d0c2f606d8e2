/*
 * One line of a stack as a person reads it, and the table that gives each
 * distinct one a number, so that samples are counted by integers and texts
 * are written once, at the end.
 */
#pragma once

#include "base/base.h"

enum frame_kind {
	FRAME_PYTHON,
	FRAME_NATIVE,
	FRAME_KERNEL,
	FRAME_NOTE, /* not code: "[idle: lock]", "[rank 3]", "[garbage collection]" */
	FRAME_KIND_MAX,
};

struct frame {
	enum frame_kind kind;
	const char *name; /* function; never NULL */
	const char *file; /* source file as the program knows it; "" unknown */
	const char *module; /* native: "libtorch_cpu.so"; "" */
	int32_t line; /* 0: unknown */
	int32_t first_line; /* where the function begins; 0: unknown. Two frames are one whatever it says */
};

const char *frame_kind_name(enum frame_kind k); /* "python" */

struct frametab;
struct frametab *frametab_new(void);
struct frametab *frametab_free(struct frametab *t);
static inline void frametab_freep(struct frametab **t)
{
	*t = frametab_free(*t);
}
/* Copies the texts; equal texts of a table are one address. *ret counts from 0. -ENOMEM. */
int must_check frametab_intern(struct frametab *t, const struct frame *f, uint32_t *ret);
/* Borrowed until the table is freed. */
const struct frame *frametab_at(const struct frametab *t, uint32_t id);
/*
 * The part of a path that tells files apart for a person: behind site-packages or the standard library's folder, else
 * the base name. Relative paths stay. Points into file.
 */
const char *frame_file_short(const char *file);
/* "function (file.py:line)" for Python, "function [module]" for native: contract's folded form, ';' and newlines made ':' and ' '. */
void frame_label(const struct frame *f, char *dst, size_t cap);
