/*
 * Python objects as a graph, read from outside: the type of an object, its attributes, what it refers to, how often it
 * is referred to. No code of the process runs. All reads are counted against a limit, so that memory which links
 * without end costs bounded time.
 *
 * Functions that read return 0, REMOTE_FAULT (not readable, not such an object, or the limit is reached), WORLD_GONE,
 * WORLD_DENIED.
 */
#pragma once

#include "sense/python/pyrt.h"

/* Offsets that struct pyoffsets has not, by version; the files of CPython are named in pyobj.c. */
struct pyobj_layout {
	uint8_t function_name, function_code; /* of a function */
	uint8_t dict_values_at; /* values begin here in a table of values */
	bool parks; /* waiting threads may be in the parking lot */
	uint8_t push_exc_info, with_except_start, before_with; /* instructions; 0: not in this version */
	uint8_t call_lo, call_hi; /* range of the specialised calls; 0: no calls are looked at */
	uint8_t calls[40]; /* other instructions that call */
};

enum pyobj_kind {
	PYOBJ_OTHER,
	PYOBJ_LOCK, /* _thread.lock */
	PYOBJ_RLOCK, /* _thread.RLock */
	PYOBJ_SIMPLEQUEUE,
	PYOBJ_SEMLOCK, /* _multiprocessing.SemLock */
	PYOBJ_HANDLE, /* _thread._ThreadHandle, 3.13 and later */
	PYOBJ_METHOD, /* bound method of a Python function */
	PYOBJ_BUILTIN, /* bound method of a function in C */
	PYOBJ_DESCRIPTOR, /* unbound method in C */
	PYOBJ_FUNCTION,
	PYOBJ_CELL,
	PYOBJ_DEQUE,
	PYOBJ_TUPLE,
	PYOBJ_LIST,
	PYOBJ_WEAKREF,
	PYOBJ_PARTIAL, /* functools.partial */
	PYOBJ_COROUTINE, /* coroutine, generator, async generator: they begin alike */
	PYOBJ_AWAITER, /* what await looks at of a coroutine or future: leads to it */
	PYOBJ_TASK, /* _asyncio.Task */
};

struct pyobj_type {
	uint64_t addr, flags, call; /* call: tp_call; 0: objects of it cannot be called */
	int64_t weak_at; /* tp_weaklistoffset */
	uint64_t size; /* tp_basicsize */
	enum pyobj_kind kind;
	char name[64]; /* tp_name without its module; printable */
};

struct pyobjs {
	const struct pyrt *rt;
	struct remote *remote;
	const struct pyobj_layout *layout;
	uint32_t reads_left;
	struct pyobj_type types[64]; /* a cache by address */
};

/* False: nothing is known of this version's objects, or it is free-threaded. */
bool pyobjs_init(const struct pyrt *rt, struct remote *r, struct pyobjs *ret);
int must_check pyobj_get(struct pyobjs *o, uint64_t addr, void *into, size_t len);
int must_check pyobj_u64(struct pyobjs *o, uint64_t addr, uint64_t *ret);
/* *ret is valid until the next call. */
int must_check pyobj_type(struct pyobjs *o, uint64_t object, const struct pyobj_type **ret);
/* True: readable, and of this kind, and alive. */
bool pyobj_is(struct pyobjs *o, uint64_t object, enum pyobj_kind kind);
/* Number of references to it. UINT64_MAX: it is immortal, so they are not counted. */
int must_check pyobj_refs(struct pyobjs *o, uint64_t object, uint64_t *ret);
/* *ret: there may be weak references to it. */
int must_check pyobj_weak(struct pyobjs *o, uint64_t object, bool *ret);

#define PYOBJ_CHILDREN 64

struct pyobj_child {
	uint64_t name; /* address of the attribute's name; 0: it has none */
	uint64_t object;
};
/*
 * What an object refers to: attributes of an instance of a class, items of tuple, list and deque, content of a cell,
 * the object of a bound method. Nothing (*ret_n 0) of other objects, of those with more, and where another object may
 * share the references (a dict that others have).
 */
int must_check pyobj_children(struct pyobjs *o, uint64_t object, struct pyobj_child ret[static PYOBJ_CHILDREN],
			      size_t *ret_n);
/* An attribute of an instance of a class; REMOTE_FAULT: it has none of that name. */
int must_check pyobj_attr(struct pyobjs *o, uint64_t object, const char *name, uint64_t *ret);
/* True if a str has exactly this text. */
bool pyobj_str_is(struct pyobjs *o, uint64_t str, const char *text);
/* The value of an int from 0 to 2^64 - 1. */
int must_check pyobj_int(struct pyobjs *o, uint64_t object, uint64_t *ret);
/* The same, 0 included; REMOTE_FAULT: it is no int, or negative. */
int must_check pyobj_index(struct pyobjs *o, uint64_t object, uint64_t *ret);
/* Keys (as names) and values of a dict; nothing of larger ones. REMOTE_FAULT: it is none. */
int must_check pyobj_items(struct pyobjs *o, uint64_t dict, struct pyobj_child ret[static PYOBJ_CHILDREN],
			   size_t *ret_n);
/* The file's name without folders, and whether it is that of the code of a function. */
bool pyobj_function_is(struct pyobjs *o, uint64_t function, const char *name, const char *file);
/* The name of a method in C: builtin or descriptor. */
bool pyobj_method_is(struct pyobjs *o, uint64_t method, enum pyobj_kind kind, const char *name);
