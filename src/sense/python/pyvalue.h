/*
 * One Python object as text, read from outside: similar to its repr(), without running code of the object. See
 * pylocals.h for what is shown and the limits.
 */
#pragma once

#include "base/buf.h"
#include "sense/python/pycode.h"

/* Objects nested deeper than this are shown as their type alone. */
#define PYVALUE_DEPTH 3
#define PYVALUE_ITEMS 16
#define PYVALUE_CHARS 80

struct pytype {
	uint64_t addr, flags;
	char name[64]; /* tp_name: "int", "numpy.ndarray", "Tensor" */
};

struct pyvalues {
	const struct pyrt *rt;
	struct remote *remote;
	unsigned reads_left; /* bounds the work on a hostile target */
	uint64_t within[PYVALUE_DEPTH + 1]; /* the containers being written */
	struct pytype types[16]; /* a cache of recent types */
	unsigned next_type;
};

void pyvalues_init(const struct pyrt *rt, struct remote *r, struct pyvalues *ret);
/*
 * Adds the text of the object at addr. Unreadable parts are marked in the text; only WORLD_GONE, WORLD_DENIED and
 * -errno are results.
 */
int must_check pyvalue_write(struct pyvalues *v, uint64_t addr, struct buf *to);
/* For the writers of single kinds: reads within the bound, REMOTE_FAULT beyond it. */
int must_check pyvalue_get(struct pyvalues *v, uint64_t addr, void *into, size_t len);
/* Offset of an object's fields, behind its reference count and type. */
uint64_t pyvalue_body(const struct pyvalues *v);
/* "<type at 0x…>" */
void pyvalue_plain(const struct pytype *t, uint64_t addr, struct buf *to);
/* python/pynumpy.c: *ret_known is false, and nothing is written, if it is no object of numpy that is known. */
int must_check pynumpy_write(struct pyvalues *v, const struct pytype *t, uint64_t addr, struct buf *to,
			     bool *ret_known);
/* The type of an object. REMOTE_FAULT, WORLD_*. */
int must_check pyvalue_type(struct pyvalues *v, uint64_t addr, struct pytype *ret);

/* python/pytext.c: repr() of characters already copied. is_bytes: each character is a byte, as in b'…'. */
void pytext_repr(const uint32_t *chars, size_t n, bool is_bytes, bool cut, struct buf *to);
/* The fewest digits that read back as the same number of that precision. */
enum pytext_precision { PYTEXT_DOUBLE, PYTEXT_SINGLE, PYTEXT_HALF };
void pytext_float(double x, enum pytext_precision p, struct buf *to);
