/*
 * The references that a frame of a thread that stands still holds: its variables and its evaluation stack, and the
 * `with` blocks that it is in.
 *
 * How deep the evaluation stack of a frame is, is only stored where the frame has called another one in Python (3.11 to
 * 3.13) or anything (3.14 and later). Else the least depth is derived: what the exception table or the block stack
 * says, then what cannot be called, then what the calling instruction needs. Slots beyond it may be left over from
 * earlier calls.
 */
#pragma once

#include "sense/python/pyobj.h"
#include "sense/python/pystack.h"

#define PYSLOTS_MAX 2048 /* frames with more are left out */
#define PYSLOTS_WITHS 32 /* nested `with` blocks of one frame */

struct pyslots_with {
	uint64_t exit; /* the bound __exit__, or the function where self is not 0 */
	uint64_t self; /* 3.14 and later: what it is bound to */
	uint64_t instr; /* an instruction of the `with` line, as pycode_line takes it */
};

struct pyslots {
	uint64_t slot[PYSLOTS_MAX]; /* tags of 3.14 included */
	size_t n; /* variables, then as many as the code's stack can hold */
	size_t n_vars;
	size_t n_live; /* so many from the first on hold references for certain */
	bool in_enter; /* the instruction is the one that enters a `with` (up to 3.13) */
	struct pyslots_with with[PYSLOTS_WITHS]; /* innermost first */
	size_t n_with;
};

/* A code object's part, kept while the threads of a process are looked at. */
struct pyslots_code {
	uint64_t addr; /* 0: free */
	uint64_t start; /* of the bytecode */
	uint32_t n_vars, stack, bytes;
	char *code; /* the bytecode; owned */
	char *table; /* 3.11 and later: the exception table; owned */
	size_t table_bytes;
	enum { PYSLOTS_UNKNOWN, PYSLOTS_NO, PYSLOTS_YES } releases; /* it calls something named release */
};

#define PYSLOTS_CODES 256

struct pyslots_reader {
	struct pyobjs *objs;
	struct pyslots_code codes[PYSLOTS_CODES]; /* by hash of the address; replaced where two meet */
};

/* Borrows objs. NULL: no memory. */
struct pyslots_reader *pyslots_new(struct pyobjs *objs);
struct pyslots_reader *pyslots_free(struct pyslots_reader *r);
static inline void pyslots_freep(struct pyslots_reader **r)
{
	*r = pyslots_free(*r);
}
/*
 * live: n_live and in_enter are wanted as well, which cost more. REMOTE_FAULT: it cannot be read, or is no frame.
 * WORLD_GONE, WORLD_DENIED, -ENOMEM.
 */
int must_check pyslots_read(struct pyslots_reader *r, const struct pyframe *frame, bool live, struct pyslots *ret);
/* True: the frame's code calls something named release, or that cannot be told. */
bool pyslots_calls_release(struct pyslots_reader *r, const struct pyframe *frame);
/* The object that a slot refers to; 0: none. *ret_counted: the slot has a counted reference to it. */
uint64_t pyslots_object(const struct pyobjs *o, uint64_t slot, bool *ret_counted);
/*
 * The slot, or the object, of a frame's variable by its name; 0: it is not bound. Read anew each time, for few frames.
 * REMOTE_FAULT: the function has none of that name, or 64 variables and more.
 */
int must_check pyslots_slot_named(struct pyobjs *o, const struct pyframe *f, const char *name, uint64_t *ret);
int must_check pyslots_named(struct pyobjs *o, const struct pyframe *f, const char *name, uint64_t *ret);
