/*
 * A file that Python's pickle or PyTorch's C++ pickler wrote (protocols 2 to
 * 5; Lib/pickletools.py names the opcodes): Flight Recorder dumps, memory
 * snapshots. Plain values are read: dict, list, tuple, set, str, bytes, int,
 * float, bool, None. Nothing is ever called: a class, a function or an object
 * of one becomes an opaque value with its name, and is counted. The few
 * functions that only wrap a plain value (PyTorch's typed lists, OrderedDict)
 * are replaced by what they wrap.
 *
 * Foreign bytes: nesting is bounded, memory by the caller, and time is linear
 * in the bytes. Of a file that is cut off or damaged, all that came before is
 * given; a container that was being filled then holds what it had so far.
 *
 * Texts point into the bytes given: those must outlive the result. A value
 * that the file refers to several times is one value here, and a list can
 * even hold itself: look at values by name, or walk with a bound of your own.
 */
#pragma once

#include "base/fault.h"
#include "base/text.h"

enum pickle_kind {
	PICKLE_NONE,
	PICKLE_BOOL,
	PICKLE_INT,
	PICKLE_FLOAT,
	PICKLE_TEXT, /* UTF-8 as it stands in the file, not checked */
	PICKLE_BYTES, /* also whole numbers of more than 64 bits, as they stand in the file */
	PICKLE_LIST,
	PICKLE_TUPLE,
	PICKLE_SET,
	PICKLE_DICT,
	PICKLE_OPAQUE, /* a class or an object; pickle_class names it */
};

struct pickle_node; /* what a container holds */
struct pickle_value {
	enum pickle_kind kind;
	uint32_t len; /* bytes, of texts and bytes */
	union {
		bool truth;
		int64_t integer;
		double real;
		const char *text; /* not terminated */
		struct pickle_node *node;
	};
};

struct pickle;
struct pickle_limits {
	size_t memory_bytes; /* of the values, beside the bytes; 0: 32 times the bytes and 1 MiB */
};

/* Conditions of pickle_parse. With all but PICKLE_FOREIGN a result is given, and its root is what there was. */
enum {
	PICKLE_CUT = 1, /* the bytes end too early: the writer died, or is still writing */
	PICKLE_BROKEN, /* a byte that cannot stand there */
	PICKLE_LARGE, /* the bound of memory was reached */
	PICKLE_FOREIGN, /* not a pickle of protocol 2 to 5 at all; nothing is given */
};

/* 0, or a condition with its sentence in the fault (it names the offset); -ENOMEM. Pure. */
int must_check pickle_parse(struct span bytes, const struct pickle_limits *limits, struct pickle **ret,
			    struct fault *f);
struct pickle *pickle_free(struct pickle *p);
static inline void pickle_freep(struct pickle **p)
{
	pickle_free(*p);
}

/* Never NULL; None when nothing was read. Borrowed, as is all below it. */
const struct pickle_value *pickle_root(const struct pickle *p);

/* Elements of a list, tuple or set; pairs of a dict; 0 of anything else and of NULL. */
size_t pickle_len(const struct pickle_value *v);
/* NULL beyond the end and of anything else. Of a dict: the i-th value, with pickle_key_at its key. */
const struct pickle_value *pickle_at(const struct pickle_value *v, size_t i);
const struct pickle_value *pickle_key_at(const struct pickle_value *dict, size_t i);
/* The value under a text key, the last one if there are several; NULL if there is none. */
const struct pickle_value *pickle_get(const struct pickle_value *dict, const char *key);
/* "module.name" of an opaque value; empty for any other. */
struct span pickle_class(const struct pickle_value *v);

/* False, and *ret untouched, when v is NULL or of another kind. Bools are whole numbers, as in Python. */
bool pickle_i64(const struct pickle_value *v, int64_t *ret);
bool pickle_text(const struct pickle_value *v, struct span *ret);
