/*
 * The inside of pylocks: shared by its files only.
 */
#pragma once

#include "base/buf.h"
#include "sense/python/pylocks.h"
#include "sense/python/pyrefs.h"

struct pylocks {
	struct pyobjs objs;
	struct pyslots_reader *slots;
	struct pyslots scratch; /* of the frame at hand */
};

/*
 * Modules/_threadmodule.c: a lock is a byte in its object (PyMutex) from 3.14 on and in later releases of 3.13
 * (not in 3.13.0, in 3.13.5), an RLock from 3.14 on. Before, both point to a semaphore that is a block of its own. The
 * size of the object says which.
 */
enum {
	LOCK_BYTES_POINTER = 40,
	LOCK_BYTES_INLINE = 24,
	RLOCK_BYTES_POINTER = 48,
	RLOCK_BYTES_INLINE = 40,
	SEMLOCK_COUNT_AT = 32, /* Modules/_multiprocessing/semaphore.c */
	LOCK_AT = 16, /* the same in SimpleQueue (Modules/_queuemodule.c), SemLock, _ThreadHandle */
};

static inline bool pylocks_is_inline(const struct pyobj_type *t)
{
	return t->size == (t->kind == PYOBJ_LOCK ? LOCK_BYTES_INLINE : RLOCK_BYTES_INLINE);
}

/* The address that waiters for a lock sleep on, or by which they are parked. REMOTE_FAULT: it is no lock. */
int must_check pylocks_word(struct pylocks *p, uint64_t lock, uint64_t *ret);
