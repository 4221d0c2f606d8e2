/*
 * Reads files that Python's pickle or PyTorch's C++ pickler wrote (protocols 2 to 5; Lib/pickletools.py names the
 * opcodes): Flight Recorder dumps and memory snapshots. Plain values are read: dict, list, tuple, set, str, bytes,
 * int, float, bool, None. Nothing in the file is called: a class, a function or an object becomes an opaque value
 * with its name. Calls that only wrap a plain value (PyTorch's typed lists, OrderedDict) are replaced by that value.
 *
 * The bytes are not trusted: nesting is bounded, memory is bounded by the caller, and time is linear in the bytes.
 * From a file that is cut off or damaged, all values before that point are read; a container that was being filled
 * then holds the items that it had so far.
 *
 * Texts point into the given bytes, which must outlive the result. A value that the file refers to several times is
 * one value here, and a list can contain itself: access values by name, or walk them with a bound of your own.
 */
#pragma once

#include "base/fault.h"
#include "base/text.h"

enum pickle_kind {
	PICKLE_NONE,
	PICKLE_BOOL,
	PICKLE_INT,
	PICKLE_FLOAT,
	PICKLE_TEXT, /* UTF-8 as in the file, not checked */
	PICKLE_BYTES, /* also integers of more than 8 bytes, as in the file */
	PICKLE_LIST,
	PICKLE_TUPLE,
	PICKLE_SET,
	PICKLE_DICT,
	PICKLE_OPAQUE, /* a class or an object; pickle_class names it */
};

struct pickle_node; /* the items of a container */
struct pickle_value {
	enum pickle_kind kind;
	uint32_t len; /* bytes; for texts and bytes */
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
	size_t memory_bytes; /* for the values, without the input; 0: 32 times the input plus 1 MiB */
};

/* Conditions of pickle_parse. All but PICKLE_FOREIGN give a result with the values read so far. */
enum {
	PICKLE_CUT = 1, /* the bytes end too early: the writer died, or is still writing */
	PICKLE_BROKEN, /* a byte is not valid at its place */
	PICKLE_LARGE, /* the memory bound was reached */
	PICKLE_FOREIGN, /* not a pickle of protocol 2 to 5; no result */
};

/* 0, or a condition with a sentence that names the offset in the fault; -ENOMEM. Pure. */
int must_check pickle_parse(struct span bytes, const struct pickle_limits *limits, struct pickle **ret,
			    struct fault *f);
struct pickle *pickle_free(struct pickle *p);
static inline void pickle_freep(struct pickle **p)
{
	pickle_free(*p);
}

/* The outermost value. Never NULL; None when nothing was read. Borrowed, like all values in it. */
const struct pickle_value *pickle_root(const struct pickle *p);

/* Elements of a list, tuple or set; pairs of a dict; 0 for anything else and for NULL. */
size_t pickle_len(const struct pickle_value *v);
/* Element i; NULL beyond the end and for anything else. For a dict it is value i, whose key is pickle_key_at. */
const struct pickle_value *pickle_at(const struct pickle_value *v, size_t i);
const struct pickle_value *pickle_key_at(const struct pickle_value *dict, size_t i);
/* The value under a text key, the last one if there are several; NULL if there is none. */
const struct pickle_value *pickle_get(const struct pickle_value *dict, const char *key);
/* "module.name" of an opaque value; empty for any other. */
struct span pickle_class(const struct pickle_value *v);

/* False, and *ret unchanged, if v is NULL or of another kind. A bool is an integer too, as in Python. */
bool pickle_i64(const struct pickle_value *v, int64_t *ret);
bool pickle_text(const struct pickle_value *v, struct span *ret);
