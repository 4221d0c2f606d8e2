/*
 * The names that a Python program has given its threads, read from outside: threading._active, a dict of threads by
 * their number (Lib/threading.py). From 3.14 on CPython also passes them to the kernel, which keeps 15 bytes.
 */
#pragma once

#include "sense/python/pyrt.h"

#define PYNAMES_MAX 4096 /* threads */

struct pyname {
	uint64_t thread_id; /* as in struct pythread */
	char name[64]; /* UTF-8, shortened */
};

/*
 * interp: address of the main interpreter's state. *ret is malloc'ed, in no order; empty if the program has not
 * imported threading, or the layout is unknown. Entries that change while they are read are left out. -ENOMEM,
 * WORLD_GONE, WORLD_DENIED.
 */
int must_check pynames_read(const struct pyrt *rt, struct remote *r, uint64_t interp, struct pyname **ret,
			    size_t *ret_n);
/*
 * A global variable of an imported module. interp: as above. *ret 0: there is none. REMOTE_FAULT, WORLD_GONE,
 * WORLD_DENIED, -ENOMEM.
 */
int must_check pynames_global(const struct pyrt *rt, struct remote *r, uint64_t interp, const char *module,
			      const char *name, uint64_t *ret);
