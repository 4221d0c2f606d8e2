/*
 * The CPython inside a process: the address of its runtime, its version, and the layout of its structures. Found from
 * outside without the process taking part: 3.8 to 3.15, with and without the GIL, in an executable or in a libpython,
 * stripped, deleted, in another mount namespace.
 *
 * 3.13 and later describe themselves (struct _Py_DebugOffsets at the start of _PyRuntime,
 * Include/internal/pycore_debug_offsets.h); 3.8 to 3.12 have the fixed tables of python/pyoffsets.c, measured from each
 * version's headers. A layout that is not known for certain is refused with the version's name, because a guess would
 * show false stacks.
 */
#pragma once

#include "base/fault.h"
#include "sense/proc/maps.h"
#include "sense/proc/remote.h"

enum {
	PYRT_NONE = 20,     /* no CPython in this process */
	PYRT_UNKNOWN = 21,  /* a CPython with an unknown layout; the fault names it */
	PYRT_NOT_YET = 22,  /* its interpreter has not started, or has ended */
};

/* The value of an offset that this version does not have. */
#define PYOFF_NONE UINT64_MAX

/* In bytes from the start of the structure named. Fields that a version lacks are PYOFF_NONE. */
struct pyoffsets {
	struct {
		uint64_t interpreters_head, gilstate_current, gil_last_holder, gil_locked;
		uint64_t gc_collecting; /* 3.8: here, not in the interpreter */
	} runtime;
	struct {
		uint64_t next, id, threads_head, modules, gc_collecting;
		uint64_t gil;        /* 3.12: pointer to the GIL's state; 3.13+: the same, by gil_runtime_* below */
		uint64_t code_generation, tlbc_generation;
	} interp;
	struct { uint64_t last_holder, locked; } gil; /* within the structure that interp.gil points to */
	struct {
		uint64_t size, prev, next, interp, thread_id, native_thread_id;
		uint64_t frame;      /* <= 3.10: PyFrameObject*; 3.13+: _PyInterpreterFrame* (current_frame) */
		uint64_t cframe;     /* 3.11, 3.12: _PyCFrame* */
		uint64_t cframe_current;
		uint64_t c_stack;    /* 3.10 to 3.12: points into the C stack of the thread that runs it */
		uint64_t base_frame; /* 3.15: the sentinel that ends every walk */
		uint64_t datastack_chunk, status, holds_gil, gil_requested;
	} thread;
	struct {
		uint64_t size, previous, code, instr, localsplus, owner, is_entry, tlbc_index, stackpointer;
	} frame;
	struct {
		uint64_t size, filename, name, qualname, linetable, firstlineno, flags, argcount, kwonlyargcount;
		uint64_t localsplusnames, localspluskinds, varnames, cellvars, freevars, nlocals;
		uint64_t bytecode;   /* co_code_adaptive (3.11+) */
		uint64_t code_bytes; /* co_code: PyBytes (<= 3.10) */
		uint64_t tlbc;       /* free-threaded: per-thread copies of the bytecode */
	} code;
	struct { uint64_t type; uint64_t refcnt; } object;
	/* cached_keys: 3.15 and later only */
	struct { uint64_t size, name, flags, basicsize, dictoffset, cached_keys; } type;
	struct { uint64_t item, size; } tuple, list;
	struct { uint64_t size, value; } bytes;
	struct { uint64_t state, length, ascii, compact, data; } str; /* ascii, compact: where the characters begin */
	struct { uint64_t keys, values; } dict;
	struct { uint64_t value; } real;
	struct { uint64_t tag, digit; } integer; /* tag: ob_size before 3.12 */
	struct { uint64_t size, used, table, mask; } set;
	struct { uint64_t name, frame, state; } gen;
};

struct pyrt {
	uint32_t version;        /* PY_VERSION_HEX: 0x030b02f0 */
	uint8_t minor;           /* 11 */
	bool free_threaded;
	bool instr_in_units;     /* 3.10: f_lasti counts 2-byte units */
	uint64_t runtime;        /* address of _PyRuntime */
	uint64_t code_type;      /* address of PyCode_Type; 0: not found */
	char version_text[32];   /* "3.11.2", "3.14.0rc2 free-threaded" */
	char file[256];          /* the file that has it, as the process names it */
	struct pyoffsets off;
};

/*
 * Finds and checks the runtime. m: the process's maps. The fault says what was tried when the result is not 0. PYRT_*,
 * WORLD_GONE, WORLD_DENIED.
 */
int must_check pyrt_find(const struct world *w, struct remote *r, const struct maps *m, struct pyrt *ret,
			 struct fault *f);

/* python/pyoffsets.c: the fixed table of 3.8 to 3.12; false: there is none. */
bool pyoffsets_of(uint8_t minor, struct pyoffsets *ret);
/*
 * Parses the self-description, from the first len bytes of _PyRuntime (3.13+). PYRT_UNKNOWN: no cookie, a version whose
 * field order is unknown, or impossible offsets. Pure.
 */
int must_check pyoffsets_parse(const void *bytes, size_t len, uint32_t *ret_version, bool *ret_free_threaded,
			       struct pyoffsets *ret, struct fault *f);
/*
 * Finds the 64-bit word of a minor version's self-description that holds a field, given by its offset in struct
 * pyoffsets; counted from 0, the cookie. False: that version does not describe it. For code that builds tables from it.
 */
bool pyoffsets_word(uint8_t minor, size_t field, uint32_t *ret);
/* The number of the last known word. From 3.14 on that word must be 512, else the order is another one. */
uint32_t pyoffsets_last_word(uint8_t minor);
/* Bytes to read for pyoffsets_parse. */
#define PYOFFSETS_BYTES 1024
